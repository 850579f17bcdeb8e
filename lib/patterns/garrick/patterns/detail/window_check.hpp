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

// Each of these is instantiated only to fail.
template <class F, class Tuple, bool Fits>
struct no_key_for_windows {
  static constexpr bool reported = true;
  static_assert(Fits,
                "garrick: by(key) takes a pointer to a member of the tuple, or a function of it, "
                "and std::hash knows the type of the key");
};
template <class F, class Tuple, bool Fits>
struct no_event_time {
  static constexpr bool reported = true;
  static_assert(Fits,
                "garrick: event_time takes a pointer to a member of the tuple, or a function of "
                "it, that gives a std::chrono time point or duration, an instant, or a whole "
                "number");
};
template <class Length, class Time, bool Same>
struct units_differ {
  static constexpr bool reported = true;
  static_assert(Same,
                "garrick: the tuples' times, the length of windows and the disorder are all "
                "durations, or all whole numbers");
};
template <class Window, bool ByEventTime>
struct clock_has_no_ticks {
  static constexpr bool reported = true;
  static_assert(ByEventTime,
                "garrick: a window whose length is a number goes by numbers in the tuples: say "
                "event_time(f), or give a duration");
};
template <class Window, bool HasTimes>
struct windows_have_no_times {
  static constexpr bool reported = true;
  static_assert(HasTimes, "garrick: windows of so many tuples have no times: leave out event_time");
};
template <class Window, bool ByEventTime>
struct no_tuple_is_late {
  static constexpr bool reported = true;
  static_assert(ByEventTime,
                "garrick: late_to(handle) is for windows with event_time(f): in others no tuple is "
                "late");
};
template <class Kind, bool Is>
struct no_kind_of_window {
  static constexpr bool reported = true;
  static_assert(Is,
                "garrick: window(kind) takes tumbling(10s), sliding(10s, 1s), sessions(5min) or "
                "tuples(100)");
};
template <class Call, bool Right = false>
struct no_length_of_window {
  static constexpr bool reported = true;
  static_assert(Right,
                "garrick: times of windows and joins are std::chrono durations, or whole numbers "
                "of one type: tumbling(10s), sliding(10s, 1s), sessions(5min), within(0s, 15s); "
                "and tuples(100) takes a number");
};
template <class Window, bool ByEventTime>
struct no_producer_is_idle {
  static constexpr bool reported = true;
  static_assert(ByEventTime,
                "garrick: idle_after(time) is for windows with event_time(f), which is said before "
                "it: no others wait for a producer");
};
template <class F, class State, bool Fits>
struct window_fold_does_not_fit {
  static constexpr bool reported = true;
  static_assert(Fits,
                "garrick: fold(first, step) of a window takes a function `State step(State, "
                "Tuple)` that names its types: no auto, no overloads; State is the type of first, "
                "and a number keeps its value on the way into step and out of it");
};
template <class Merge, class State, bool Fits>
struct window_is_put_together {
  static constexpr bool reported = true;
  static_assert(Fits,
                "garrick: sliding windows and sessions are put together from pieces, so they take "
                "fold(first, step, merge) with a function `State merge(State, State)` that names "
                "its types, and in which a number keeps its value");
};
template <class F, bool Fits>
struct window_function_does_not_fit {
  static constexpr bool reported = true;
  static_assert(Fits,
                "garrick: all(f) of a window takes a function `Value f(std::span<const Tuple>)` "
                "that names its types: no auto, no overloads");
};
template <class Tuple, bool Copies>
struct window_copies_tuples {
  static constexpr bool reported = true;
  static_assert(Copies,
                "garrick: a tuple is in several of these windows, and all(f) copies it there, "
                "which this one does not allow: fold them");
};
template <class Spec, bool ByKey>
struct replicas_need_a_key {
  static constexpr bool reported = true;
  static_assert(ByKey,
                "garrick: replicas of windows share the keys: say by(key) before replicas(n)");
};
template <class F, class Left, class Right, bool Fits>
struct pairs_do_not_fit {
  static constexpr bool reported = true;
  static_assert(Fits,
                "garrick: with(f) of a join takes a function `Out f(const Left&, const Right&)` "
                "that names its types: no auto, no overloads; Right is what the source puts out");
};
template <class Left, class Right, bool Same>
struct keys_of_join_differ {
  static constexpr bool reported = true;
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
consteval auto check_window_key() {
  if constexpr (!is_key<given<F, T>>)
    return static_cast<no_key_for_windows<F, T, false>*>(nullptr);
  else
    return static_cast<kept_check<F>*>(nullptr);
}
template <class F, class T, class Length, class Disorder>
consteval auto check_event_time() {
  using unit = unit_of<given<F, T>>;
  if constexpr (std::is_void_v<unit>)
    return static_cast<no_event_time<F, T, false>*>(nullptr);
  else if constexpr (!std::is_same_v<unit, Length>)
    return static_cast<units_differ<Length, unit, false>*>(nullptr);
  else if constexpr (!std::is_void_v<Disorder> && !std::is_same_v<Disorder, unit>)
    return static_cast<units_differ<Disorder, unit, false>*>(nullptr);
  else
    return static_cast<kept_check<F>*>(nullptr);
}

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
