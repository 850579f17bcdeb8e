// What a stage's function takes and gives: read from its signature.
//
// Private: installed because templates need it.
//
// Thread safety: compile time only.
#pragma once

#include <garrick/patterns/emit.hpp>
#include <garrick/patterns/generator.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace garrick::patterns::detail {

template <class... Ts>
struct list {};

/// The arguments and the result of a function, a lambda or a member function; `known` is false for
/// generic and overloaded ones.
template <class F>
struct signature_of {
  static constexpr bool known = false;
};
template <class R, class... Args>
struct signature_of<R(Args...)> {
  static constexpr bool known = true;
  using result = R;
  using arguments = list<Args...>;
};
template <class R, class... Args>
struct signature_of<R (*)(Args...)> : signature_of<R(Args...)> {};
template <class R, class... Args>
struct signature_of<R (*)(Args...) noexcept> : signature_of<R(Args...)> {};
template <class R, class C, class... Args>
struct signature_of<R (C::*)(Args...)> : signature_of<R(Args...)> {};
template <class R, class C, class... Args>
struct signature_of<R (C::*)(Args...) const> : signature_of<R(Args...)> {};
template <class R, class C, class... Args>
struct signature_of<R (C::*)(Args...) noexcept> : signature_of<R(Args...)> {};
template <class R, class C, class... Args>
struct signature_of<R (C::*)(Args...) const noexcept> : signature_of<R(Args...)> {};
template <class F>
  requires requires { &F::operator(); }
struct signature_of<F> : signature_of<decltype(&F::operator())> {};

template <class T>
struct emitted {
  static constexpr bool is = false;
};
template <class T>
struct emitted<emit<T>> {
  static constexpr bool is = true;
  using type = T;
};

/// The types of a stage: In and Out, void if there is none; `emits`: it takes an emit<Out>.
template <class R, class Arguments>
struct stage_types {
  static constexpr bool fits = false;
};
template <class R>
struct stage_types<R, list<>> {
  static constexpr bool fits = !std::is_void_v<R>;
  static constexpr bool emits = false;
  using input = void;
  using output = std::decay_t<R>;
};
template <class R, class A>
struct stage_types<R, list<A>> {
  static constexpr bool fits = true;
  static constexpr bool emits = false;
  using input = std::decay_t<A>;
  using output = std::decay_t<R>;
};
template <class R, class E>
  requires emitted<std::decay_t<E>>::is
struct stage_types<R, list<E>> {
  static constexpr bool fits = std::is_same_v<R, bool>;
  static constexpr bool emits = true;
  using input = void;
  using output = typename emitted<std::decay_t<E>>::type;
};
template <class R, class A, class E>
  requires emitted<std::decay_t<E>>::is
struct stage_types<R, list<A, E>> {
  static constexpr bool fits = std::is_void_v<R>;
  static constexpr bool emits = true;
  using input = std::decay_t<A>;
  using output = typename emitted<std::decay_t<E>>::type;
};

template <class R>
struct generated {
  static constexpr bool is = false;
};
template <class T>
struct generated<generator<T>> {
  static constexpr bool is = true;
  using type = T;
};

/// The function behind one that was lent.
template <class F>
struct called_of {
  using type = F;
};
template <class T>
struct called_of<lent<T>> {
  using type = std::remove_cvref_t<T>;
};
template <class F>
[[nodiscard]] auto& called(F& f) noexcept {
  if constexpr (std::is_same_v<typename called_of<F>::type, F>)
    return f;
  else
    return f.get();
}

/// No argument is a reference.
template <class Arguments>
inline constexpr bool takes_values = false;
template <class... Args>
inline constexpr bool takes_values<list<Args...>> = (!std::is_reference_v<Args> && ...);

template <class Arguments>
struct second_of;
template <class A, class B>
struct second_of<list<A, B>> {
  using type = std::decay_t<B>;
};

/// The types of the stage that a function makes.
template <class F>
using types_of = stage_types<typename signature_of<F>::result, typename signature_of<F>::arguments>;

/// emit<Out>, or something that no function takes.
struct no_emit {};
template <class Out>
using emit_of = std::conditional_t<std::is_void_v<Out>, no_emit, emit<Out>>;

/// A function as a stage's running part.
template <class F, class In, class Out, bool Emits>
class function_stage {
 public:
  explicit function_stage(F f) : f_(std::move(f)) {}
  void start() noexcept {}
  template <class To>
  void stop(To& /*out*/) noexcept {}

  template <class Tuple, class To>
  void consume(Tuple&& in, To& out) {
    if constexpr (Emits)
      called(f_)(std::move(in), emit<Out>(out));
    else if constexpr (std::is_void_v<Out>)
      called(f_)(std::move(in));
    else
      out.put(called(f_)(std::move(in)));
  }
  template <class To>
  bool produce(To& out) {
    if constexpr (Emits) {
      return called(f_)(emit<Out>(out));
    } else {
      auto next = called(f_)();
      if (!next) return false;
      out.put(*std::move(next));
      return true;
    }
  }

 private:
  [[no_unique_address]] F f_;
};

/// A function that returns a generator as a stage's running part.
template <class F, class In, class Out>
class generator_stage {
 public:
  explicit generator_stage(F f) : f_(std::move(f)) {}
  /// Each copy begins anew.
  generator_stage(const generator_stage& o) : f_(o.f_) {}
  generator_stage(generator_stage&& o) noexcept(std::is_nothrow_move_constructible_v<F>)
      : f_(std::move(o.f_)) {}
  generator_stage& operator=(const generator_stage&) = delete;
  ~generator_stage() = default;

  void start() noexcept {}
  template <class To>
  void stop(To& /*out*/) noexcept {}

  template <class Tuple, class To>
  void consume(Tuple&& in, To& out) {
    results_ = called(f_)(std::move(in));
    under_way_ = true;
    go_on(out);
  }
  [[nodiscard]] bool under_way() const noexcept
    requires(!std::is_void_v<In>)
  {
    return under_way_;
  }
  [[nodiscard]] std::size_t held() const noexcept
    requires(!std::is_void_v<In>)
  {
    return under_way_ ? 1 : 0;
  }
  template <class To>
  void go_on(To& out) {
    // if the generator throws, or `put` does, it is over
    const bool was = std::exchange(under_way_, false);
    while (results_.next()) {
      out.put(std::move(results_.value()));
      if (out.is_blocked()) {
        under_way_ = was;
        return;
      }
    }
    results_ = {};
  }
  void give_up() noexcept {
    results_ = {};
    under_way_ = false;
  }

  template <class To>
  bool produce(To& out) {
    if (!std::exchange(under_way_, true)) results_ = called(f_)();
    if (!results_.next()) return false;
    out.put(std::move(results_.value()));
    return true;
  }

 private:
  [[no_unique_address]] F f_;  // before the coroutine, which may refer to it
  generator<Out> results_;
  bool under_way_ = false;
};

/// A user's class as a stage's running part.
template <class N, class In, class Out, bool Emits>
class class_stage {
 public:
  explicit class_stage(N n) : n_(std::move(n)) {}

  void start() {
    if constexpr (requires { n_.on_start(); }) n_.on_start();
  }
  void restart()
    requires requires(N& n) { n.on_restart(); }
  {
    n_.on_restart();
  }
  template <class To>
  void stop(To& out) {
    if constexpr (requires(emit_of<Out> e) { n_.on_stop(e); })
      n_.on_stop(emit<Out>(out));
    else if constexpr (requires { n_.on_stop(); })
      n_.on_stop();
  }
  [[nodiscard]] instant deadline() const
    requires requires(const N& n) { n.deadline(); }
  {
    return n_.deadline();
  }
  void time_is(instant now)
    requires requires(N& n) { n.time_is(now); }
  {
    n_.time_is(now);
  }
  template <class To>
  void on_time(instant now, To& out)
    requires requires(const N& n) { n.deadline(); }
  {
    if constexpr (requires(emit_of<Out> e) { n_.on_time(now, e); })
      n_.on_time(now, emit<Out>(out));
    else
      n_.on_time(now);
  }
  template <class Tuple, class To>
  void consume(Tuple&& in, To& out) {
    if constexpr (Emits)
      n_.consume(std::move(in), emit<Out>(out));
    else if constexpr (std::is_void_v<Out>)
      n_.consume(std::move(in));
    else
      out.put(n_.consume(std::move(in)));
  }

 private:
  N n_;
};

}  // namespace garrick::patterns::detail
