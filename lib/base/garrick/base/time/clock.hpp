// Time enters through interfaces, so that the testkit can run a whole system in virtual time.
//
// `duration` and `instant` are signed nanoseconds in 64 bits (292 years). They convert from any
// std::chrono duration or time point of the steady clock by shape, without including <chrono>,
// which would cost every user half a second of compile time. Arithmetic saturates:
// `instant::never()` stays never.
//
// Thread safety: values; the interfaces say so per function.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>

namespace garrick::base {

/// Anything shaped like std::chrono::duration.
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

/// A length of time in nanoseconds.
class duration {
 public:
  using garrick_sendable = void;

  constexpr duration() noexcept = default;
  template <chrono_duration D>
  constexpr duration(const D& d) noexcept : ns_(detail::to_nanoseconds(d)) {}

  [[nodiscard]] static constexpr duration nanoseconds(std::int64_t n) noexcept {
    return duration(n);
  }
  [[nodiscard]] static constexpr duration microseconds(std::int64_t n) noexcept {
    return duration(detail::saturating_multiply(n, 1000));
  }
  [[nodiscard]] static constexpr duration milliseconds(std::int64_t n) noexcept {
    return duration(detail::saturating_multiply(n, 1'000'000));
  }
  [[nodiscard]] static constexpr duration seconds(std::int64_t n) noexcept {
    return duration(detail::saturating_multiply(n, 1'000'000'000));
  }
  /// Longer than any other.
  [[nodiscard]] static constexpr duration infinite() noexcept {
    return duration(std::numeric_limits<std::int64_t>::max());
  }

  /// Nanoseconds.
  [[nodiscard]] constexpr std::int64_t count() const noexcept { return ns_; }
  [[nodiscard]] constexpr bool is_infinite() const noexcept {
    return ns_ == std::numeric_limits<std::int64_t>::max();
  }

  /// As a std::chrono duration that counts nanoseconds in integers.
  template <chrono_duration D>
    requires(D::period::num == 1 && D::period::den == 1'000'000'000)
  [[nodiscard]] constexpr operator D() const noexcept {
    return D(static_cast<typename D::rep>(ns_));
  }

  [[nodiscard]] friend constexpr auto operator<=>(duration, duration) noexcept = default;
  [[nodiscard]] friend constexpr duration operator+(duration a, duration b) noexcept {
    return duration(detail::saturating_add(a.ns_, b.ns_));
  }
  [[nodiscard]] friend constexpr duration operator-(duration a, duration b) noexcept {
    return a + -b;
  }
  [[nodiscard]] friend constexpr duration operator*(duration a, std::int64_t k) noexcept {
    return duration(detail::saturating_multiply(a.ns_, k));
  }
  [[nodiscard]] friend constexpr duration operator/(duration a, std::int64_t k) noexcept {
    return duration(a.ns_ / k);
  }
  [[nodiscard]] constexpr duration operator-() const noexcept {
    return duration(detail::saturating_multiply(ns_, -1));
  }

  /// In the largest unit that needs no fraction: "1500ms".
  [[nodiscard]] std::string to_string() const;

 private:
  constexpr explicit duration(std::int64_t ns) noexcept : ns_(ns) {}
  std::int64_t ns_ = 0;
};

/// A point in time: nanoseconds since the steady clock's own beginning. Instants of different
/// machines, or of a real and a virtual clock, do not compare.
class instant {
 public:
  using garrick_sendable = void;

  constexpr instant() noexcept = default;
  template <class T>
    requires requires(const T& t) {
      { t.time_since_epoch() } -> chrono_duration;
    } && (T::clock::is_steady)
  constexpr instant(const T& t) noexcept : since_(t.time_since_epoch()) {}

  [[nodiscard]] static constexpr instant at(duration since_beginning) noexcept {
    return instant(since_beginning);
  }
  [[nodiscard]] static constexpr instant never() noexcept { return instant(duration::infinite()); }

  [[nodiscard]] constexpr duration since_beginning() const noexcept { return since_; }
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

  [[nodiscard]] std::string to_string() const;

 private:
  constexpr explicit instant(duration since) noexcept : since_(since) {}
  duration since_;
};

/// Tells the time. Any thread.
class clock {
 public:
  [[nodiscard]] virtual instant now() const noexcept = 0;

 protected:
  constexpr clock() noexcept = default;
  ~clock() = default;
  clock(const clock&) = delete;
  clock& operator=(const clock&) = delete;
};

/// The machine's steady clock.
[[nodiscard]] const clock& real_clock() noexcept;

/// What a timer does. Owned by the clock service from `arm` until one of three things happens,
/// exactly once: `fire` is called; `cancel` returns true, and the caller has it back; the service
/// ends, and `drop` is called.
struct timer_task {
  /// must not throw, must not block for long
  void (*fire)(void* context, std::uint64_t argument) = nullptr;
  void* context = nullptr;
  std::uint64_t argument = 0;
  /// may be null: nothing to release
  void (*drop)(void* context, std::uint64_t argument) = nullptr;
};

/// Names an armed timer; stays harmless after the timer has gone.
struct timer_id {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  ///< zero: no timer
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return generation != 0; }
  [[nodiscard]] friend constexpr bool operator==(timer_id, timer_id) noexcept = default;
};

/// A clock that can call back. Timers fire in the order of (deadline, order of arming), never
/// before their deadline.
class clock_service : public clock {
 public:
  /// Any thread. A deadline in the past fires as soon as possible, but never inside this call.
  /// `never()` is refused: no timer.
  virtual timer_id arm(instant deadline, const timer_task& task) = 0;
  /// Any thread. True: the timer will not fire and its task belongs to the caller again. False: it
  /// has fired, is about to, or never was.
  virtual bool cancel(timer_id id) noexcept = 0;

 protected:
  ~clock_service() = default;
};

}  // namespace garrick::base
