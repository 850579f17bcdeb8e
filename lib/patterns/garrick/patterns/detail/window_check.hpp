// Compile-time errors for windows and joins whose parts do not fit.
//
// Private: installed because templates need it.
//
// Thread safety: compile time only.
#pragma once

#include <garrick/patterns/detail/callable.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/event_time.hpp>

#include <cstddef>
#include <span>
#include <type_traits>

namespace garrick::patterns::detail {

template <class F, class Tuple, bool Fits = false>
struct no_key_for_windows : failed_check {
  static_assert(Fits,
                "garrick: by(key) takes a pointer to a member of the tuple, or a function of it, "
                "and std::hash knows the type of the key");
};
template <class F, class Tuple, bool Fits = false>
struct no_event_time : failed_check {
  static_assert(Fits,
                "garrick: event_time takes a pointer to a member of the tuple, or a function of "
                "it, that gives a std::chrono time point or duration, an instant, or a whole "
                "number");
};
template <class Length, class Time, bool Same = false>
struct units_differ : failed_check {
  static_assert(Same,
                "garrick: the tuples' times, the length of windows and the disorder are all "
                "durations, or all whole numbers");
};
template <class Window, bool ByEventTime = false>
struct clock_has_no_ticks : failed_check {
  static_assert(ByEventTime,
                "garrick: a window whose length is a number goes by numbers in the tuples: say "
                "event_time(f), or give a duration");
};
template <class Window, bool HasTimes = false>
struct windows_have_no_times : failed_check {
  static_assert(HasTimes, "garrick: windows of so many tuples have no times: leave out event_time");
};
template <class Window, bool ByEventTime = false>
struct no_tuple_is_late : failed_check {
  static_assert(ByEventTime,
                "garrick: late_to(handle) is for windows with event_time(f): in others no tuple is "
                "late");
};
template <class Kind, bool Is = false>
struct no_kind_of_window : failed_check {
  static_assert(Is,
                "garrick: window(kind) takes tumbling(10s), sliding(10s, 1s), sessions(5min) or "
                "tuples(100)");
};
template <class Call, bool Right = false>
struct no_length_of_window : failed_check {
  static_assert(Right,
                "garrick: times of windows and joins are std::chrono durations, or whole numbers "
                "of one type: tumbling(10s), sliding(10s, 1s), sessions(5min), within(0s, 15s); "
                "and tuples(100) takes a number");
};
template <class Window, bool ByEventTime = false>
struct no_producer_is_idle : failed_check {
  static_assert(ByEventTime,
                "garrick: idle_after(time) is for windows with event_time(f), which is said before "
                "it: no others wait for a producer");
};
template <class F, class State, bool Fits = false>
struct window_fold_does_not_fit : failed_check {
  static_assert(Fits,
                "garrick: fold(first, step) of a window takes a function `State step(State, "
                "Tuple)` that names its types: no auto, no overloads; State is the type of first, "
                "and a number keeps its value on the way into step and out of it");
};
template <class Merge, class State, bool Fits = false>
struct window_is_put_together : failed_check {
  static_assert(Fits,
                "garrick: sliding windows and sessions are put together from pieces, so they take "
                "fold(first, step, merge) with a function `State merge(State, State)` that names "
                "its types, and in which a number keeps its value");
};
template <class F, bool Fits = false>
struct window_function_does_not_fit : failed_check {
  static_assert(Fits,
                "garrick: all(f) of a window takes a function `Value f(std::span<const Tuple>)` "
                "that names its types: no auto, no overloads");
};
template <class Tuple, bool Copies = false>
struct window_copies_tuples : failed_check {
  static_assert(Copies,
                "garrick: a tuple is in several of these windows, and all(f) copies it there, "
                "which this one does not allow: fold them");
};
template <class Spec, bool ByKey = false>
struct replicas_need_a_key : failed_check {
  static_assert(ByKey,
                "garrick: replicas of windows share the keys: say by(key) before replicas(n)");
};
template <class F, class Left, class Right, bool Fits = false>
struct pairs_do_not_fit : failed_check {
  static_assert(Fits,
                "garrick: with(f) of a join takes a function `Out f(const Left&, const Right&)` "
                "that names its types: no auto, no overloads; Right is the source's tuple");
};
template <class Left, class Right, bool Same = false>
struct keys_of_join_differ : failed_check {
  static_assert(Same, "garrick: both keys of a join have one type");
};

/// The result of F, a pointer to a member or a function that may be lent, for a T; void: nothing.
template <class F, class T>
struct given_of {
  using type = void;
};
template <class F, class T>
  requires std::is_member_pointer_v<F> && std::is_invocable_v<F, const T&>
struct given_of<F, T> {
  using type = std::decay_t<std::invoke_result_t<F, const T&>>;
};
template <class F, class T>
  requires(!std::is_member_pointer_v<F> && std::is_invocable_v<callee<F>, const T&>)
struct given_of<F, T> {
  using type = std::decay_t<std::invoke_result_t<callee<F>, const T&>>;
};
template <class F, class T>
using given = typename given_of<F, T>::type;

template <class Key>
inline constexpr bool is_key = std::is_same_v<Key, no_key> || requires(const Key& key) {
  static_cast<std::size_t>(std::hash<Key>()(key));
  static_cast<bool>(key == key);
};

/// The check of a function that is kept. A pointer to a member shares nothing.
template <class F>
using kept_check = std::conditional_t<std::is_member_pointer_v<F>, passed_check, part_check<F>>;

template <class F, class T>
using window_key_check =
    first_failure<unless<is_key<given<F, T>>, no_key_for_windows<F, T>>, kept_check<F>>;
template <class F, class T, class Length, class Disorder, class Unit = unit_of<given<F, T>>>
using event_time_check =
    first_failure<unless<!std::is_void_v<Unit>, no_event_time<F, T>>,
                  unless<std::is_same_v<Unit, Length>, units_differ<Length, Unit>>,
                  unless<std::is_void_v<Disorder> || std::is_same_v<Disorder, Unit>,
                         units_differ<Disorder, Unit>>,
                  kept_check<F>>;

/// T of a std::span<const T>.
template <class Span>
struct tuple_of_span {
  static constexpr bool is = false;
};
template <class T>
struct tuple_of_span<std::span<const T>> {
  static constexpr bool is = true;
  using type = T;
};

}  // namespace garrick::patterns::detail
