// The times of events, as the tuples have them: for windows and joins.
//
//   .event_time(&reading::at, out_of_order(2s))      a member, or a function of the tuple
//
// Times are durations since any beginning (std::chrono durations and time points, `duration`,
// `instant`), or whole numbers: ticks of the user's own. Lengths are given in the same unit. Times
// and lengths are below 2^61, and above -2^61, in nanoseconds or ticks. This limit is 73 years: the
// system's clock, which counts from 1970 on, is out of range from 2043 on. Count from a later day.
//
// A watermark is the time up to which all tuples have come: the latest time seen, less the allowed
// disorder. A stage that reads several producers takes the lowest of their watermarks. A tuple
// behind the watermark is late. A watermark never goes back. All actors that send to a stream's
// handle count as one producer, since their tuples come through one channel: the allowed disorder
// must cover how far these actors are behind each other.
//
// Thread safety: plain values.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/patterns/channel/called.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

/// The key of windows that have none.
struct no_key {
  [[nodiscard]] friend constexpr bool operator==(no_key, no_key) noexcept { return true; }
};

}  // namespace garrick::patterns

namespace garrick::patterns::detail {

/// Numbers without a unit.
using ticks_unit = std::int64_t;

template <class T>
inline constexpr bool is_ticks = std::integral<T> && !std::is_same_v<T, bool>;
template <class T>
inline constexpr bool is_point = requires(const T& t) {
  { t.time_since_epoch() } -> base::chrono_duration;
};
/// The unit of a time of type T: `duration`, or `ticks_unit`; void: T is not a time.
template <class T>
using unit_of = std::conditional_t<
    is_ticks<T>, ticks_unit,
    std::conditional_t<std::is_same_v<T, duration> || std::is_same_v<T, instant> ||
                           base::chrono_duration<T> || is_point<T>,
                       duration, void>>;

/// Times and lengths are below this limit, so a sum of a few of them does not overflow.
inline constexpr std::int64_t most_time = std::int64_t{1} << 61;
/// Later than any time.
inline constexpr std::int64_t no_time = std::numeric_limits<std::int64_t>::max();
/// The watermark at the end: after every window.
inline constexpr std::int64_t end_of_time = no_time - 1;

template <class T>
[[nodiscard]] constexpr std::int64_t number_of(const T& t) noexcept {
  if constexpr (is_ticks<T>) {
    if (std::in_range<std::int64_t>(t)) return static_cast<std::int64_t>(t);
    return no_time;
  } else if constexpr (std::is_same_v<T, instant>) {
    return t.since_beginning().count();
  } else if constexpr (is_point<T>) {
    return duration(t.time_since_epoch()).count();
  } else {
    return duration(t).count();
  }
}
template <class Unit>
[[nodiscard]] constexpr Unit in_unit(std::int64_t n) noexcept {
  if constexpr (std::is_same_v<Unit, duration>)
    return duration::nanoseconds(n);
  else
    return n;
}
/// Returns a length as a text for errors.
template <class Unit>
[[nodiscard]] std::string text_of(std::int64_t n);
template <>
[[nodiscard]] std::string text_of<duration>(std::int64_t n);
template <>
[[nodiscard]] std::string text_of<ticks_unit>(std::int64_t n);
[[nodiscard]] constexpr std::int64_t floor_to(std::int64_t n, std::int64_t unit) noexcept {
  const std::int64_t rest = n % unit;
  return n - (rest < 0 ? rest + unit : rest);
}

/// Returns the part of a tuple that a member pointer or a function, which may be lent, gives.
template <class F, class T>
[[nodiscard]] decltype(auto) part_of(F& f, const T& of) {
  if constexpr (std::is_member_object_pointer_v<std::remove_const_t<F>>)
    return (of.*f);
  else if constexpr (std::is_member_function_pointer_v<std::remove_const_t<F>>)
    return (of.*f)();
  else
    return called(f)(of);
}
[[noreturn]] void time_is_out_of_range(std::int64_t t);
/// Returns the time that `f` gives of a tuple. Throws std::out_of_range, and the exceptions of `f`.
template <class F, class T>
[[nodiscard]] std::int64_t time_by(F& f, const T& of) {
  const std::int64_t t = number_of<std::decay_t<decltype(part_of(f, of))>>(part_of(f, of));
  if (t > -most_time && t < most_time) [[likely]]
    return t;
  time_is_out_of_range(t);
}
/// The base of a stage that asks a tuple for its time and its key before it touches its own state.
/// Hashing, comparing and copying the key count as asking. If one of these throws, only the tuple
/// has failed, so a stage that restarts then keeps its state.
class asks_tuples {
 public:
  /// Returns the result of `f()`, a question about a tuple.
  template <class F>
  decltype(auto) asked(const F& f) {
    try {
      return f();
    } catch (...) {
      only_asked_ = true;
      throw;
    }
  }
  /// For `restart`: returns true if `asked` has thrown.
  [[nodiscard]] bool has_only_asked() noexcept { return std::exchange(only_asked_, false); }

 private:
  bool only_asked_ = false;
};
[[noreturn]] void length_is_bad(const std::string& what, const std::string& is, bool may_be_zero);
/// Returns a length that a user gives. Throws std::invalid_argument if it is below `least`, or is
/// not below `most_time`.
template <class Unit>
[[nodiscard]] std::int64_t checked_length(std::int64_t n, std::int64_t least, const char* what) {
  if (n >= least && n < most_time) return n;
  length_is_bad(what, text_of<Unit>(n), least == 0);
}

/// The largest disorder of tuples.
template <class Unit>
struct disorder {
  std::int64_t most = 0;
};
/// No disorder, in any unit.
template <>
struct disorder<void> {
  std::int64_t most = 0;
};

}  // namespace garrick::patterns::detail

namespace garrick::patterns {

/// Returns a limit of disorder: a tuple is in time if it is at most `most` behind the latest tuple
/// of the same producer. Throws std::invalid_argument if `most` is negative or out of range.
[[nodiscard]] inline auto out_of_order(duration most) {
  return detail::disorder<duration>{
      detail::checked_length<duration>(most.count(), 0, "out_of_order(disorder): the disorder")};
}
/// Returns a disorder in ticks.
template <std::integral Number>
[[nodiscard]] auto out_of_order(Number most) {
  return detail::disorder<detail::ticks_unit>{detail::checked_length<detail::ticks_unit>(
      detail::number_of(most), 0, "out_of_order(disorder): the disorder")};
}

}  // namespace garrick::patterns
