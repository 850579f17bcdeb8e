// Stages that go by the clock: the system's, or the testkit's virtual time.
//
//   batch<word>(100, 10ms)     std::vector<word>: 100 together, or what has come in 10 ms
//   throttle<word>(5000)       at most 5000 words a second
//   ticks(1s)                  a source: one tick every second
//
// Each is a node of its own, which its carrier runs.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/seq.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace garrick::patterns {

namespace detail {

template <class T>
class batch_stage {
 public:
  batch_stage(std::size_t n, duration within) : n_(n), within_(within) {}
  /// Each copy begins anew: so the tuples need not be copied.
  batch_stage(const batch_stage& o) : n_(o.n_), within_(o.within_) {}
  batch_stage(batch_stage&&) noexcept = default;
  batch_stage& operator=(const batch_stage&) = delete;
  ~batch_stage() = default;
  void start() noexcept {}
  template <class To>
  void stop(To& out) {
    put(out);
  }
  void time_is(instant now) noexcept { now_ = now; }
  [[nodiscard]] instant deadline() const noexcept { return due_; }
  template <class To>
  void on_time(instant /*now*/, To& out) {
    put(out);
  }
  template <class To>
  void consume(T&& in, To& out) {
    if (some_.empty()) {
      some_.reserve(std::min<std::size_t>(n_, 1024));
      due_ = now_ + within_;
    }
    some_.push_back(std::move(in));
    if (some_.size() == n_) put(out);
  }
  [[nodiscard]] std::size_t held() const noexcept { return some_.size(); }

 private:
  template <class To>
  void put(To& out) {
    due_ = instant::never();
    if (!some_.empty()) out.put(std::exchange(some_, {}));
  }

  std::size_t n_;
  duration within_;
  std::vector<T> some_;
  instant now_{};
  instant due_ = instant::never();
};

/// Lets tuples pass as a bucket of permits allows, into which permits fall evenly.
template <class T>
class throttle_stage {
 public:
  throttle_stage(double per_second, std::size_t at_once)
      : each_ns_(1e9 / per_second), most_(static_cast<double>(at_once)), permits_(most_) {}
  void start() noexcept {}
  template <class To>
  void stop(To& /*out*/) noexcept {}
  void time_is(instant now) noexcept {
    if (!last_.is_never())
      permits_ = std::min(most_, permits_ + static_cast<double>((now - last_).count()) / each_ns_);
    last_ = now;
  }
  /// When there is one permit, or as many as one looks for at a time.
  [[nodiscard]] instant deadline() const noexcept {
    if (permits_ >= 1) return instant::never();
    const double wanted = std::clamp(1e6 / each_ns_, 1.0, most_);
    const double ns = std::ceil((wanted - permits_) * each_ns_);
    constexpr double years = 1e17;  // then it looks again: more would not fit in a time
    return last_ + duration::nanoseconds(static_cast<std::int64_t>(std::clamp(ns, 1.0, years)));
  }
  [[nodiscard]] std::size_t room() const noexcept { return static_cast<std::size_t>(permits_); }
  template <class To>
  void consume(T&& in, To& out) {
    permits_ -= 1;
    out.put(std::move(in));
  }

 private:
  double each_ns_;
  double most_;
  double permits_;
  instant last_ = instant::never();
};

}  // namespace detail

/// What `ticks` puts out.
struct tick {
  std::uint64_t number = 0;  ///< 1 after the first period
  instant due{};             ///< when its period was over

  [[nodiscard]] friend bool operator==(const tick&, const tick&) = default;
};

namespace detail {

class ticks_stage {
 public:
  ticks_stage(duration period, std::uint64_t last) : period_(period), last_(last) {}
  void start() noexcept {}
  template <class To>
  void stop(To& /*out*/) noexcept {}
  void time_is(instant now) noexcept {
    if (due_.is_never()) due_ = now + period_;
    now_ = now;
  }
  [[nodiscard]] instant deadline() const noexcept { return due_; }
  template <class To>
  bool produce(To& out) {
    const auto late = static_cast<std::uint64_t>((now_ - due_).count() / period_.count());
    number_ += 1 + late;
    due_ = due_ + duration::nanoseconds(static_cast<std::int64_t>(late) * period_.count());
    if (number_ <= last_) out.put(tick{number_, due_});
    due_ = due_ + period_;
    return number_ < last_;
  }

 private:
  duration period_;
  std::uint64_t last_;
  std::uint64_t number_ = 0;
  instant now_{};
  instant due_ = instant::never();
};

}  // namespace detail

/// Gathers tuples: puts out a std::vector<T> as soon as it has `n`, and what it has, at least one,
/// when `within` has passed since the first of them or the stream ends. Throws
/// std::invalid_argument for an `n` of zero, and for a time of zero or less.
template <class T>
[[nodiscard]] auto batch(std::size_t n, duration within) {
  if (n == 0) throw std::invalid_argument("garrick: batch(n, within): n is 0; at least 1");
  if (within.count() <= 0)
    throw std::invalid_argument("garrick: batch(n, within): within is " + within.to_string() +
                                "; it must be above zero");
  using running = detail::batch_stage<T>;
  return seq_stage<running, T, std::vector<T>>(running(n, within), "batch");
}

/// Hands on at most `per_second` tuples a second, spread evenly; the others wait in the channel,
/// and eventually hold up those before it. After a pause at most `at_once` pass together: if it is
/// 0, as many as come in a hundredth of a second, at least one. In a farm, each replica by itself.
/// Throws std::invalid_argument for a rate that is not above 0 and at most 1e9.
template <class T>
[[nodiscard]] auto throttle(double per_second, std::size_t at_once = 0) {
  if (!(per_second > 0) || per_second > 1e9)
    throw std::invalid_argument("garrick: throttle(per_second): the rate is " +
                                std::to_string(per_second) + "; above 0 and at most 1e9 a second");
  if (at_once == 0) at_once = static_cast<std::size_t>(std::max(per_second / 100, 1.0));
  using running = detail::throttle_stage<T>;
  return seq_stage<running, T, T>(running(per_second, at_once), "throttle");
}

/// A source: a tick after each period, up to number `last`. Ticks for which there was no time, or
/// no room behind, are left out: the numbers tell. Throws std::invalid_argument for a period of
/// zero or less.
///
///     pipeline(ticks(1s), seq([](tick t) { … }))
[[nodiscard]] inline auto ticks(duration period,
                                std::uint64_t last = std::numeric_limits<std::uint64_t>::max()) {
  if (period.count() <= 0)
    throw std::invalid_argument("garrick: ticks(period): the period is " + period.to_string() +
                                "; it must be above zero");
  return seq_stage<detail::ticks_stage, void, tick>(detail::ticks_stage(period, last), "ticks");
}

}  // namespace garrick::patterns
