// The parameter and result types of a stage's function, read from its signature.
//
// Private: installed because templates need it.
//
// Thread safety: compile time only.
#pragma once

#include <garrick/patterns/channel/called.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/running.hpp>
#include <garrick/patterns/emit.hpp>
#include <garrick/patterns/generator.hpp>

#include <cstddef>
#include <limits>
#include <optional>
#include <tuple>
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
  static constexpr std::size_t arity = ~std::size_t{0};
};
template <class R, class... Args>
struct signature_of<R(Args...)> {
  static constexpr bool known = true;
  static constexpr std::size_t arity = sizeof...(Args);
  using type = R(Args...);
  using result = R;
  using arguments = list<Args...>;
  using values = std::tuple<std::decay_t<Args>...>;
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

template <class R>
struct generated {
  static constexpr bool is = false;
  using type = R;
};
template <class T>
struct generated<generator<T>> {
  static constexpr bool is = true;
  using type = T;
};
template <class R>
struct optional_of {
  static constexpr bool is = false;
  using type = R;
};
template <class T>
struct optional_of<std::optional<T>> {
  static constexpr bool is = true;
  using type = T;
};

/// True if a function with parameter A takes a moved tuple.
template <class A>
inline constexpr bool takes_moved =
    !std::is_lvalue_reference_v<A> || std::is_const_v<std::remove_reference_t<A>>;

/// The types of a stage, if the function `fits`: In and Out, void if there is none, and `emits`,
/// true if the function takes an emit<Out>.
template <class R, class Arguments>
struct stage_types {
  static constexpr bool fits = false;
};
template <class R>
struct stage_types<R, list<>> {
  static constexpr bool fits = optional_of<R>::is || generated<R>::is;
  static constexpr bool emits = false;
  using input = void;
  using output = typename generated<typename optional_of<R>::type>::type;
};
template <class R, class A>
struct stage_types<R, list<A>> {
  static constexpr bool fits = takes_moved<A>;
  static constexpr bool emits = false;
  using input = std::decay_t<A>;
  using output = typename generated<std::decay_t<R>>::type;
};
template <class R, class E>
  requires emitted<std::decay_t<E>>::is
struct stage_types<R, list<E>> {
  static constexpr bool fits = std::is_same_v<R, bool> && takes_moved<E>;
  static constexpr bool emits = true;
  using input = void;
  using output = typename emitted<std::decay_t<E>>::type;
};
template <class R, class A, class E>
  requires(emitted<std::decay_t<E>>::is && !emitted<std::decay_t<A>>::is)
struct stage_types<R, list<A, E>> {
  static constexpr bool fits = std::is_void_v<R> && takes_moved<A> && takes_moved<E>;
  static constexpr bool emits = true;
  using input = std::decay_t<A>;
  using output = typename emitted<std::decay_t<E>>::type;
};

/// True if no argument is a reference.
template <class Arguments>
inline constexpr bool takes_values = false;
template <class... Args>
inline constexpr bool takes_values<list<Args...>> = (!std::is_reference_v<Args> && ...);

/// The signature of a stage's F, lent or not.
template <class F>
using signature_of_stage = signature_of<typename called_of<F>::type>;

/// The type of F's argument number I as a value; void: there is none, or it is unknown.
template <std::size_t I, class F>
struct argument {
  using type = void;
};
template <std::size_t I, class F>
  requires(signature_of_stage<F>::known && I < signature_of_stage<F>::arity)
struct argument<I, F> : std::tuple_element<I, typename signature_of_stage<F>::values> {};
template <std::size_t I, class F>
using argument_of = typename argument<I, F>::type;

/// True if F names its types, can be called with Args, and gives an R.
template <class F, class R, class... Args>
inline constexpr bool is_function = [] {
  if constexpr (signature_of_stage<F>::arity == sizeof...(Args))
    return std::is_invocable_r_v<R, callee<F>, Args...>;
  else
    return false;
}();

/// Returns true if every number of type From has the same value as a To, or if one of the types is
/// not a number: such types define their conversions themselves.
template <class From, class To>
consteval bool keeps_values() {
  using from = std::decay_t<From>;
  using to = std::decay_t<To>;
  if constexpr (!std::is_arithmetic_v<from> || !std::is_arithmetic_v<to>) {
    return true;
  } else {
    using f = std::numeric_limits<from>;
    using t = std::numeric_limits<to>;
    return (t::is_signed || !f::is_signed) && (f::is_integer || !t::is_integer) &&
           f::digits <= t::digits && f::max_exponent <= t::max_exponent;
  }
}

/// Returns true if a function's Result keeps its value as a Value. An int may become a bool, since
/// `a | b` of two bools is an int.
template <class Result, class Value>
consteval bool gives_value() {
  constexpr bool is_truth =
      std::is_same_v<Value, bool> && std::is_same_v<std::decay_t<Result>, int>;
  return is_truth || keeps_values<Result, Value>();
}

/// True if F is a function `Value f(Value, Args...)` and a number keeps its value on the way into F
/// and out of it. Without the second condition, `fold(0L, f)` with an `int f(int, int)` would
/// compute in int.
template <class F, class Value, class... Args>
inline constexpr bool accumulates = [] {
  if constexpr (is_function<F, Value, Value, Args...>)
    return keeps_values<Value, argument_of<0, F>>() &&
           gives_value<typename signature_of_stage<F>::result, Value>();
  else
    return false;
}();
/// True if F is a function `Value f(Value, Value)` and a number keeps its value on the way into F
/// and out of it.
template <class F, class Value>
inline constexpr bool combines = [] {
  if constexpr (accumulates<F, Value, Value>)
    return keeps_values<Value, argument_of<1, F>>();
  else
    return false;
}();

/// emit<Out>, or for a sink a type that no function takes.
struct no_emit {};
template <class Out>
using emit_of = std::conditional_t<std::is_void_v<Out>, no_emit, emit<Out>>;

/// A function as a stage's running part.
template <class F, class In, class Out, bool Emits>
class function_stage : public stage_defaults {
 public:
  static constexpr bool may_be_copied_for_a_step = true;

  explicit function_stage(F f) : f_(std::move(f)) {}

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
class generator_stage : public stage_defaults {
 public:
  static constexpr bool has_counts = !std::is_void_v<In>;

  explicit generator_stage(F f) : f_(std::move(f)) {}
  /// Copies the function only: the copy begins with no generator.
  generator_stage(const generator_stage& o) : f_(o.f_) {}
  generator_stage(generator_stage&& o) noexcept(std::is_nothrow_move_constructible_v<F>)
      : f_(std::move(o.f_)) {}
  generator_stage& operator=(const generator_stage&) = delete;
  ~generator_stage() = default;

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
  [[nodiscard]] std::size_t held() const noexcept { return under_way_ ? 1 : 0; }
  template <class To>
  void go_on(To& out) {
    // a generator that throws, or for which `put` throws, is over
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
class class_stage : public stage_defaults {
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
  void stop([[maybe_unused]] To& out) {
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
  void time_is([[maybe_unused]] instant now) {
    if constexpr (requires { n_.time_is(now); }) n_.time_is(now);
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
  template <class To>
  bool produce(To& out)
    requires std::is_void_v<In>
  {
    if constexpr (Emits) {
      return n_.consume(emit<Out>(out));
    } else {
      auto next = n_.consume();
      if (!next) return false;
      out.put(*std::move(next));
      return true;
    }
  }

 private:
  N n_;
};

}  // namespace garrick::patterns::detail
