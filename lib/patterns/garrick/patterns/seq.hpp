// A sequential stage: a function, or a class with state.
//
//   seq([](line l) { return l.size(); })                             one result for each tuple
//   seq([](line l, emit<word> out) { … out(w); … })                  any number
//   seq([](word w) { … })                                            none: a sink
//   seq([](line l) -> generator<word> { … co_yield w; … })           any number, as there is room
//   seq(patterns::bind([](int& n, line l) { … }, 0))                 with a state: bind.hpp
//   seq([]() -> std::optional<line> { … })                           a source, until it has nothing
//   seq([]() -> generator<line> { … })                               the same
//   seq(numbers{1, 10})                                              bool operator()(emit<int>): a
//                                                                    source, until it returns false
//   seq<count_words>(args...)                                        a class
//
// A class has a public `consume`, a function of one of these forms other than the generators, and
// optionally `on_start()`, `on_stop()` or `on_stop(emit<Out>)`, and `on_restart()`. `on_start` is
// called before the first tuple, `on_stop` after the last one, unless the stream fails or is
// cancelled. An exception of one of these three ends the stream with an error that names the stage,
// whatever its policy.
//
// A class may depend on the clock. If it has `instant deadline() const`, then
// `on_time(instant now)` or `on_time(instant now, emit<Out>)` is called when that time has come,
// even if no tuple comes. If it has `time_is(instant now)`, this is called before each batch.
// `deadline` returns `instant::never()` while the class waits for no time, and must return another
// time after `on_time`.
//
// A stage is a value: each replica and each spawn gets a copy. A replica is run by one thread at a
// time, but not always by the same one. So stages, and the tuples between them, own everything that
// they refer to, as actors and messages do: pointers, views and functions with captures are
// refused. Where a stage is made, `lent(x)` lets such an x through.
//
// Thread safety: stages are plain values.
#pragma once

#include <garrick/patterns/detail/callable.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/inlet.hpp>
#include <garrick/patterns/detail/ordered.hpp>
#include <garrick/patterns/detail/stage_check.hpp>
#include <garrick/patterns/failure_policy.hpp>
#include <garrick/patterns/plan.hpp>

#include <string>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

/// A part of a pattern: it has an `input` and an `output` type, void if there is none.
template <class P>
concept stage = requires { typename P::garrick_stage; };
/// A stage that takes containers and can be spawned alone, as an actor that answers requests:
/// `map`, for example.
template <class P>
concept data_parallel = stage<P> && requires { typename P::garrick_data; };

namespace detail {

/// The type that a stream's handle yields at its end, if there is one.
template <class Value>
struct yields {
  using value = Value;
};
template <>
struct yields<void> {};
/// The base of a pattern whose last part is P: it has P's `value`, if P has one.
template <class P>
struct yields_as {};
template <class P>
  requires requires { typename P::value; }
struct yields_as<P> {
  using value = typename P::value;
};

}  // namespace detail

/// A stage that handles one tuple after the other: the smallest pattern.
template <class Running, class In, class Out, class Value = void>
class seq_stage : public detail::yields<Value> {
  static_assert(detail::first_failure<detail::tuple_check<In>, detail::tuple_check<Out>,
                                      detail::value_check<Value>>::reported);

 public:
  using input = In;         ///< the type of its tuples; void: it is a source
  using output = Out;       ///< the type of its results; void: it is a sink
  using running = Running;  ///< For the framework: each replica has a copy of this.
  using garrick_stage = void;
  /// Copies share their parts, which do not change. So a stage may be copied on several threads at
  /// a time, as the standard library's `const` functions may be called.
  using garrick_sendable = void;
  using garrick_seq = void;
  static constexpr bool garrick_keeps_order =
      !std::is_void_v<In> && !std::is_void_v<Out> && !detail::timed<Running> &&
      !detail::paced<Running> && !detail::ends_early<Running> && !detail::flushing<Running>;

  /// For the framework: makes a stage of the running part, which is copied for each replica.
  seq_stage(const Running& prototype, std::string name)
      : seq_(detail::stage_type_of<Running, In, Out>, &prototype, takes(), std::move(name)) {}

  /// Returns a copy with another name: for errors, figures and `print`. A name that begins with a
  /// number and a dot, such as `1.parse`, is taken for a replica's by `stream_report::by_stage`,
  /// which then calls the stage `parse`.
  [[nodiscard]] seq_stage named(std::string name) const {
    seq_stage s = *this;
    s.seq_.name = std::move(name);
    return s;
  }
  /// This overload refuses a name that is not text.
  template <detail::no_name T>
  [[nodiscard]] seq_stage named(const T& /*name*/) const {
    static_assert(detail::name_is_no_text<T>::reported);
    return *this;
  }
  /// Returns a copy on a thread of its own, for code that blocks.
  [[nodiscard]] seq_stage own_thread() const {
    seq_stage s = *this;
    s.seq_.own_thread = true;
    return s;
  }
  /// Returns a copy that declares that a tuple takes little time: it may become one node with a
  /// neighbour.
  [[nodiscard]] seq_stage cheap(bool is = true) const {
    seq_stage s = *this;
    s.seq_.cheap = is;
    return s;
  }
  /// Returns a copy with another answer to exceptions.
  [[nodiscard]] seq_stage on(on_failure policy) const {
    seq_stage s = *this;
    s.seq_.policy = policy;
    return s;
  }

  /// Returns the stage's structure.
  [[nodiscard]] plan describe() const { return seq_.describe(); }

  /// For the framework: returns the stage as a member of a row.
  [[nodiscard]] const detail::any_seq& as_any_seq() const noexcept { return seq_; }
  /// For the framework: adds the node of the stage in an ordered farm.
  auto build_framed(const detail::builder& b,
                    const detail::inlet_ptr<detail::framed<Out>>& next) const
    requires garrick_keeps_order
  {
    using stage = detail::framed_stage<Running, In, Out>;
    const stage framed(*static_cast<const Running*>(seq_.prototype()));
    return detail::add_stage_before(
        b, b.node(seq_.name, seq_.own_thread), seq_.policy,
        detail::stage_type_of<stage, detail::framed<In>, detail::framed<Out>>, &framed,
        detail::tuple_type_of<detail::framed<In>>, next);
  }
  /// For the framework: makes the node, which puts out to `next`.
  detail::inlet_ptr<In> build(const detail::builder& b, const detail::inlet_ptr<Out>& next) const {
    return seq_.build(b, next);
  }

 private:
  static constexpr const detail::tuple_type* takes() noexcept {
    if constexpr (std::is_void_v<In>)
      return nullptr;
    else
      return &detail::tuple_type_of<In>;
  }

  detail::any_seq seq_;
};

namespace detail {

template <class F>
[[nodiscard]] auto function_as_stage(F f) {
  using signature = signature_of_stage<F>;
  using result = typename signature::result;
  using types = stage_types<result, typename signature::arguments>;
  using In = typename types::input;
  using Out = typename types::output;
  using running = std::conditional_t<generated<result>::is, generator_stage<F, In, Out>,
                                     function_stage<F, In, Out, types::emits>>;
  return seq_stage<running, In, Out>(running(std::move(f)), std::is_void_v<In>    ? "source"
                                                            : std::is_void_v<Out> ? "sink"
                                                                                  : "stage");
}
template <class N>
[[nodiscard]] auto object_as_stage(N n) {
  using signature = signature_of<decltype(&N::consume)>;
  using types = stage_types<typename signature::result, typename signature::arguments>;
  using In = typename types::input;
  using Out = typename types::output;
  using running = class_stage<N, In, Out, types::emits>;
  return seq_stage<running, In, Out>(running(std::move(n)), std::string(base::type_name<N>));
}

/// True if the argument is the object itself.
template <class N, class... Args>
inline constexpr bool is_object = false;
template <class N, class Arg>
inline constexpr bool is_object<N, Arg> = std::is_same_v<N, std::remove_cvref_t<Arg>>;

}  // namespace detail

/// Returns a stage of a function, or of an object of a class; the forms are at the top of this
/// file. Returns a pattern unchanged.
template <class F = detail::several_functions>
[[nodiscard]] auto seq(F f) {
  using check = detail::stage_check<F>;
  static_assert(check::reported);
  if constexpr (!detail::passes<check>)
    return detail::refused_pattern();
  else if constexpr (stage<F>)
    return f;
  else if constexpr (detail::has_consume<F>)
    return detail::object_as_stage(std::move(f));
  else
    return detail::function_as_stage(std::move(f));
}

/// Returns a stage with an object of the class N, made of these arguments here and copied for each
/// replica. The arguments are checked, and passed, as those of a spawn: moved arguments are moved,
/// all others are copied, and `lent(x)` gives the constructor an X&. Throws the constructor's
/// exceptions.
template <class N, class... Args>
  requires(!detail::is_object<N, Args...>)
[[nodiscard]] auto seq(Args&&... args) {
  using check =
      detail::first_failure<detail::class_check<N>, detail::arguments_check<false, Args...>,
                            detail::making_check<N, Args...>>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>)
    return detail::object_as_stage(N(core::detail::given<Args>(args)...));
  else
    return detail::refused_pattern();
}

}  // namespace garrick::patterns
