// Durations, points in time, and the interfaces through which time enters. The testkit implements
// them to run a whole system in virtual time.
//
// `duration` and `instant` are signed nanoseconds in 64 bits (292 years). They convert from any
// std::chrono duration, and from any time point of a steady clock. The conversions recognise these
// types by their shape, so this header does not include <chrono>, which costs half a second of
// compile time. Arithmetic saturates: `instant::never()` stays never.
//
// Thread safety: `duration`, `instant`, `timer_task` and `timer_id` are plain values; every
// function of the interfaces may be called on any thread.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "garrick/base/types/first_failure.hpp"

namespace garrick::base {

/// A type shaped like std::chrono::duration: `std::chrono::seconds` is one.
template <class D>
concept chrono_duration = requires(const D& d) {
  { D::period::num } -> std::convertible_to<std::intmax_t>;
  { D::period::den } -> std::convertible_to<std::intmax_t>;
  typename D::rep;
  d.count();
};

namespace detail {

[[nodiscard]] constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

[[nodiscard]] constexpr std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) != (b < 0) ? std::numeric_limits<std::int64_t>::min()
                            : std::numeric_limits<std::int64_t>::max();
}

template <class D>
[[nodiscard]] constexpr std::int64_t to_nanoseconds(const D& d) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  constexpr std::int64_t num = D::period::num;
  constexpr std::int64_t den = D::period::den;
  if constexpr (std::floating_point<typename D::rep>) {
    const double ns = static_cast<double>(d.count()) * static_cast<double>(num) *
                      static_cast<double>(second) / static_cast<double>(den);
    if (ns >= 9.2e18) return std::numeric_limits<std::int64_t>::max();
    if (ns <= -9.2e18) return std::numeric_limits<std::int64_t>::min();
    if (ns != ns) return 0;  // not a number
    return static_cast<std::int64_t>(ns);
  } else if constexpr (den <= second && second % den == 0) {
    return saturating_multiply(static_cast<std::int64_t>(d.count()),
                               saturating_multiply(num, second / den));
  } else {
    const auto count = static_cast<std::int64_t>(d.count());
    return saturating_add(
        saturating_multiply(count / den, num * second),
        static_cast<std::int64_t>(static_cast<double>(count % den) * static_cast<double>(num) *
                                  static_cast<double>(second) / static_cast<double>(den)));
  }
}

}  // namespace detail

/// A length of time in nanoseconds, which may be negative or infinite.
///
///     duration limit = std::chrono::milliseconds(1500);      // or 1500ms
///     limit = duration::seconds(2) - limit;                  // limit.to_string() == "500ms"
class duration {
 public:
  using garrick_sendable = void;  ///< may be sent

  /// Makes a duration of zero.
  constexpr duration() noexcept = default;
  // copies are declared, so that clang lists one constructor less when a call passes a number
  constexpr duration(const duration&) noexcept = default;
  constexpr duration& operator=(const duration&) noexcept = default;
  /// Converts from std::chrono; fractions of a nanosecond are cut off, and too long times become
  /// infinite.
  // no `requires`: clang would show why a number does not satisfy it, in six lines
  template <class D, std::enable_if_t<chrono_duration<D>, int> = 0>
  constexpr duration(const D& d) noexcept : ns_(detail::to_nanoseconds(d)) {}

  /// Returns `n` nanoseconds.
  [[nodiscard]] static constexpr duration nanoseconds(std::int64_t n) noexcept { return of(n); }
  /// Returns `n` microseconds.
  [[nodiscard]] static constexpr duration microseconds(std::int64_t n) noexcept {
    return of(detail::saturating_multiply(n, 1000));
  }
  /// Returns `n` milliseconds.
  [[nodiscard]] static constexpr duration milliseconds(std::int64_t n) noexcept {
    return of(detail::saturating_multiply(n, 1'000'000));
  }
  /// Returns `n` seconds.
  [[nodiscard]] static constexpr duration seconds(std::int64_t n) noexcept {
    return of(detail::saturating_multiply(n, 1'000'000'000));
  }
  /// Returns a duration longer than any other: no limit.
  [[nodiscard]] static constexpr duration infinite() noexcept {
    return of(std::numeric_limits<std::int64_t>::max());
  }

  /// Returns the number of nanoseconds.
  [[nodiscard]] constexpr std::int64_t count() const noexcept { return ns_; }
  /// Returns true for `infinite()`, and for a time that was too long to be counted.
  [[nodiscard]] constexpr bool is_infinite() const noexcept {
    return ns_ == std::numeric_limits<std::int64_t>::max();
  }

  /// Returns the length as a std::chrono duration that counts nanoseconds in integers.
  template <chrono_duration D>
    requires(D::period::num == 1 && D::period::den == 1'000'000'000)
  [[nodiscard]] constexpr operator D() const noexcept {
    return D(static_cast<typename D::rep>(ns_));
  }

  [[nodiscard]] friend constexpr auto operator<=>(duration, duration) noexcept = default;
  [[nodiscard]] friend constexpr duration operator+(duration a, duration b) noexcept {
    return of(detail::saturating_add(a.ns_, b.ns_));
  }
  [[nodiscard]] friend constexpr duration operator-(duration a, duration b) noexcept {
    return a + -b;
  }
  [[nodiscard]] friend constexpr duration operator*(duration a, std::int64_t k) noexcept {
    return of(detail::saturating_multiply(a.ns_, k));
  }
  [[nodiscard]] friend constexpr duration operator/(duration a, std::int64_t k) noexcept {
    return of(a.ns_ / k);
  }
  [[nodiscard]] constexpr duration operator-() const noexcept {
    return of(detail::saturating_multiply(ns_, -1));
  }

  /// Returns the time in the largest unit of s, ms, us and ns that needs no fraction: "1500ms"; or
  /// "infinite".
  [[nodiscard]] std::string to_string() const;

 private:
  [[nodiscard]] static constexpr duration of(std::int64_t ns) noexcept {
    duration d;
    d.ns_ = ns;
    return d;
  }
  std::int64_t ns_ = 0;
};

namespace detail {

/// True for a number, which is not a time: it has no unit.
template <class N>
concept plain_number = std::is_arithmetic_v<N>;
template <class N, bool Has = false>
struct number_is_no_time : failed_check {
  static_assert(Has,
                "garrick: a time has a unit: say 5s or 100ms, with `using namespace "
                "std::chrono_literals`, or duration::seconds(5)");
};
/// The parameter type of overloads that refuse a number in the place of a time. A function template
/// with this parameter is a worse match than any function that takes numbers, such as one of a
/// derived class.
struct refused_number {
  template <plain_number N>
  refused_number(N /*n*/) noexcept {
    static_assert(number_is_no_time<N>::reported);
  }
};

}  // namespace detail

/// A point in time: nanoseconds since the steady clock's own beginning.
///
/// Instants of different machines, or of a real and a virtual clock, cannot be compared.
class instant {
 public:
  using garrick_sendable = void;  ///< may be sent

  /// Makes the clock's beginning.
  constexpr instant() noexcept = default;
  /// Converts from a time point of a steady std::chrono clock.
  template <class T>
    requires requires(const T& t) {
      { t.time_since_epoch() } -> chrono_duration;
    } && (T::clock::is_steady)
  constexpr instant(const T& t) noexcept : since_(t.time_since_epoch()) {}

  /// Returns the instant that lies `since_beginning` after the clock's beginning.
  [[nodiscard]] static constexpr instant at(duration since_beginning) noexcept {
    return instant(since_beginning);
  }
  /// Returns an instant later than any other: no deadline.
  [[nodiscard]] static constexpr instant never() noexcept { return instant(duration::infinite()); }

  /// Returns the time from the clock's beginning to this instant.
  [[nodiscard]] constexpr duration since_beginning() const noexcept { return since_; }
  /// Returns true for `never()`.
  [[nodiscard]] constexpr bool is_never() const noexcept { return since_.is_infinite(); }

  [[nodiscard]] friend constexpr auto operator<=>(instant, instant) noexcept = default;
  [[nodiscard]] friend constexpr instant operator+(instant t, duration d) noexcept {
    return t.is_never() ? never() : instant(t.since_ + d);
  }
  [[nodiscard]] friend constexpr instant operator-(instant t, duration d) noexcept {
    return t + -d;
  }
  [[nodiscard]] friend constexpr duration operator-(instant a, instant b) noexcept {
    return a.since_ - b.since_;
  }

  /// Returns the time since the clock's beginning, or "never".
  [[nodiscard]] std::string to_string() const;

 private:
  constexpr explicit instant(duration since) noexcept : since_(since) {}
  duration since_;
};

/// Tells the time.
class clock {
 public:
  /// Returns the present time. Any thread; never blocks. Does not go back.
  [[nodiscard]] virtual instant now() const noexcept = 0;

 protected:
  constexpr clock() noexcept = default;
  ~clock() = default;
  clock(const clock&) = delete;
  clock& operator=(const clock&) = delete;
};

/// Returns the machine's steady clock. Any thread; a call of its `now` costs some 25 nanoseconds.
[[nodiscard]] const clock& real_clock() noexcept;

/// The action of a timer.
///
/// The clock service owns it from `arm` until exactly one of three things happens: it calls `fire`;
/// `cancel` returns true, and the caller has the task back; or the service ends, and calls `drop`.
struct timer_task {
  /// Called at the deadline. Must not throw, and must not block for long: all timers wait.
  void (*fire)(void* context, std::uint64_t argument) = nullptr;
  void* context = nullptr;     ///< given to `fire` and `drop`
  std::uint64_t argument = 0;  ///< given to `fire` and `drop`
  /// Releases the context of a task that will never fire; null if there is nothing to release.
  void (*drop)(void* context, std::uint64_t argument) = nullptr;
};

/// Names an armed timer of one clock service. Using it after the timer has gone does no harm.
struct timer_id {
  std::uint32_t index = 0;       ///< its place in the service's table
  std::uint32_t generation = 0;  ///< counts the users of that place; zero: no timer
  /// Returns true if it names a timer, which may have gone meanwhile.
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return generation != 0; }
  [[nodiscard]] friend constexpr bool operator==(timer_id, timer_id) noexcept = default;
};

/// A clock that can call back: `timer_service` in real time, `virtual_clock` in tests.
///
/// A timer never fires before its deadline. Timers fire in the order of their deadlines and, among
/// equal ones, in the order in which they were armed.
class clock_service : public clock {
 public:
  /// Arms a timer. Any thread, also from within a task; constant time.
  ///
  /// A deadline in the past fires as soon as possible, but never inside this call. A deadline of
  /// `never()` arms nothing: the id returned names no timer, and the task stays the caller's.
  /// Requires `task.fire`. Throws std::bad_alloc, and then the task stays the caller's. After the
  /// service was stopped, the task is dropped within this call.
  virtual timer_id arm(instant deadline, const timer_task& task) = 0;
  /// Takes a timer back. Any thread, also from within a task; constant time; waits for no task.
  ///
  /// Returns true if the timer will not fire; its task belongs to the caller again. Returns false
  /// if the timer has fired, is about to fire, or never was armed.
  virtual bool cancel(timer_id id) noexcept = 0;

 protected:
  ~clock_service() = default;
};

}  // namespace garrick::base
