// Compile-time errors for a function, or a class, that is not a stage.
//
// Private: installed because templates need it.
//
// Thread safety: compile time only.
#pragma once

#include <garrick/patterns/detail/callable.hpp>
#include <garrick/patterns/detail/checks.hpp>

#include <concepts>
#include <type_traits>

namespace garrick::patterns::detail {

template <class F, bool Known = false>
struct no_stage : failed_check {
  static_assert(Known,
                "garrick: a stage is a function whose signature names its types (no auto, no "
                "overloads), or an object of a class with one public consume that does so");
};
template <class P, bool Whole = false>
struct not_all_is_said : failed_check {
  static_assert(Whole,
                "garrick: windows become a stage by their function, .fold(first, step) or .all(f), "
                "and a join by .with(f)");
};
template <class Signature, bool Fits = false>
struct signature_of_no_stage : failed_check {
  static_assert(Fits,
                "garrick: a stage is Out(In), void(In), void(In, emit<Out>) or generator<Out>(In); "
                "a source is bool(emit<Out>), std::optional<Out>() or generator<Out>(). It takes "
                "values, no reference that can be changed");
};
template <class Signature, bool Values = false>
struct generator_takes_a_reference : failed_check {
  static_assert(Values,
                "garrick: a stage that is a generator takes its tuple by value: it needs it after "
                "its first co_yield, too");
};
template <class Class, bool Plain = false>
struct class_gives_a_generator : failed_check {
  static_assert(Plain,
                "garrick: the consume of a class is no generator: give seq a function that is one");
};

// --- functions of a class beside consume ---

// Never instantiated.
GARRICK_NO_VIRTUAL_DESTRUCTORS_BEGIN
struct hook_names {
  void on_start();
  void on_stop();
  void on_restart();
  void on_time();
  void deadline();
  void time_is();
};
/// In this class a hook's name is ambiguous if N has a member of that name, even a private one.
template <class N>
struct with_hook_names : N, hook_names {};
GARRICK_NO_VIRTUAL_DESTRUCTORS_END

/// Finds hooks of N, a stage from In to Out, that would not be called.
template <class N, class In, class Out, class Names = with_hook_names<N>>
struct hooks_of {
  static constexpr bool starts = requires(N& n) { n.on_start(); } || requires { &Names::on_start; };
  static constexpr bool stops = requires(N& n) { n.on_stop(); } || requires(N& n, emit_of<Out> e) {
    n.on_stop(e);
  } || requires { &Names::on_stop; };
  static constexpr bool restarts =
      requires(N& n) { n.on_restart(); } || requires { &Names::on_restart; };
  static constexpr bool is_timed = requires(const N& n) {
    { n.deadline() } -> std::convertible_to<instant>;
  };
  static constexpr bool acts_on_time = requires(N& n, instant now) {
    n.on_time(now);
  } || requires(N& n, instant now, emit_of<Out> e) { n.on_time(now, e); };
  static constexpr bool keeps_time = is_timed ? acts_on_time || std::is_void_v<In> : requires {
    &Names::deadline;
  } && requires { &Names::on_time; };
  static constexpr bool hears_time =
      requires(N& n, instant now) { n.time_is(now); } || requires { &Names::time_is; };
  static constexpr bool fit = starts && stops && restarts && keeps_time && hears_time;
};
/// True if a hook of N, a stage that puts out an Out, is a coroutine.
template <class N, class Out>
inline constexpr bool has_hook_that_waits = requires(N& n) {
  { n.on_start() } -> core::detail::coroutine;
} || requires(N& n) {
  { n.on_stop() } -> core::detail::coroutine;
} || requires(N& n, emit_of<Out> e) {
  { n.on_stop(e) } -> core::detail::coroutine;
} || requires(N& n) {
  { n.on_restart() } -> core::detail::coroutine;
} || requires(N& n, instant now) {
  { n.on_time(now) } -> core::detail::coroutine;
} || requires(N& n, instant now, emit_of<Out> e) {
  { n.on_time(now, e) } -> core::detail::coroutine;
} || requires(N& n, instant now) {
  { n.time_is(now) } -> core::detail::coroutine;
};
template <class Stage, bool AtOnce = false>
struct hook_is_a_coroutine : failed_check {
  static_assert(
      AtOnce,
      "garrick: a stage's hooks, such as on_start, on_stop or on_time, are no coroutines: "
      "they would never run. A stage that waits is a stage_actor, whose on_start may "
      "return a task");
};
template <class Stage, class Hooks>
struct wrong_hook : failed_check {
  static_assert(Hooks::starts,
                "garrick: a stage's on_start() is public and takes nothing, or it would never run");
  static_assert(Hooks::stops,
                "garrick: a stage's on_stop() is public and takes nothing or an emit<Out> of "
                "consume's output, or it would never run");
  static_assert(Hooks::restarts,
                "garrick: a stage's on_restart() is public and takes nothing, or it would never "
                "run");
  static_assert(Hooks::keeps_time,
                "garrick: a stage that goes by the clock has a public `instant deadline() const`, "
                "and on_time(instant) or on_time(instant, emit<Out>)");
  static_assert(Hooks::hears_time,
                "garrick: a stage's time_is(instant) is public, or it would never be called");
};
template <class Class, bool None = false>
struct function_with_hooks : failed_check {
  static_assert(None,
                "garrick: a class with hooks, such as on_start or on_time, names its function "
                "consume, not operator()");
};

template <class N, class In, class Out>
consteval auto check_hooks() {
  if constexpr (has_hook_that_waits<N, Out>)
    return verdict<hook_is_a_coroutine<N>>;
  else if constexpr (std::is_final_v<N>)
    return verdict<passed_check>;
  else if constexpr (hooks_of<N, In, Out>::fit)
    return verdict<passed_check>;
  else
    return verdict<wrong_hook<N, hooks_of<N, In, Out>>>;
}
/// Returns true if F has hooks, which would never be called.
template <class F>
consteval bool has_hooks() {
  if constexpr (std::is_class_v<F> && !std::is_final_v<F>)
    return !requires { &with_hook_names<F>::on_start; } ||
           !requires { &with_hook_names<F>::on_stop; } ||
           !requires { &with_hook_names<F>::on_restart; } ||
           !requires { &with_hook_names<F>::on_time; } ||
           !requires { &with_hook_names<F>::deadline; } ||
           !requires { &with_hook_names<F>::time_is; };
  else
    return false;
}

// --- the checks ---

/// A class with one public consume that names its types.
template <class N>
concept has_consume = requires { &N::consume; };

/// The check of the tuple and result types of a function R(Arguments...).
template <class R, class Arguments>
using tuples_check = first_failure<tuple_check<typename stage_types<R, Arguments>::input>,
                                   tuple_check<typename stage_types<R, Arguments>::output>>;

template <class F>
consteval auto check_function() {
  using function = typename called_of<F>::type;
  using signature = signature_of<function>;
  if constexpr (!signature::known || std::is_member_pointer_v<function>) {
    return verdict<no_stage<function>>;
  } else {
    using R = typename signature::result;
    if constexpr (!stage_types<R, typename signature::arguments>::fits)
      return verdict<signature_of_no_stage<typename signature::type>>;
    else if constexpr (generated<R>::is && !takes_values<typename signature::arguments>)
      return verdict<generator_takes_a_reference<typename signature::type>>;
    else if constexpr (has_hooks<function>())
      return verdict<function_with_hooks<function>>;
    else
      return verdict<first_failure<tuples_check<R, typename signature::arguments>, part_check<F>>>;
  }
}
template <class N>
consteval auto check_class() {
  if constexpr (!has_consume<N>) {
    return verdict<no_stage<N>>;
  } else {
    using signature = signature_of<decltype(&N::consume)>;
    if constexpr (!signature::known) {
      return verdict<no_stage<N>>;
    } else {
      using R = typename signature::result;
      using types = stage_types<R, typename signature::arguments>;
      if constexpr (!types::fits)
        return verdict<signature_of_no_stage<typename signature::type>>;
      else if constexpr (generated<R>::is)
        return verdict<class_gives_a_generator<N>>;
      else if constexpr (!base::copyable_message<N>)
        return verdict<stage_cannot_be_copied<N>>;
      else
        return verdict<first_failure<
            tuples_check<R, typename signature::arguments>,
            check_of<decltype(check_hooks<N, typename types::input, typename types::output>())>>>;
    }
  }
}

/// The check of a class as a stage.
template <class N>
using class_check = check_of<decltype(check_class<N>())>;

template <class P>
consteval auto check_stage() {
  if constexpr (requires { typename P::garrick_stage; })
    return verdict<passed_check>;
  else if constexpr (requires { typename P::garrick_unfinished; })
    return verdict<not_all_is_said<P>>;
  else if constexpr (has_consume<P>)
    return verdict<first_failure<class_check<P>, part_check<P>>>;
  else
    return check_function<P>();
}
/// The check of an argument for a stage: a pattern, a function, or an object of a class.
template <class P>
using stage_check = check_of<decltype(check_stage<P>()), P>;

}  // namespace garrick::patterns::detail
