// Stages driven by a clock: the system's, or the testkit's virtual time.
//
//   batch<word>(100, 10ms)     a std::vector<word> after 100 words or 10 ms
//   throttle<word>(5000)       at most 5000 words a second
//   ticks(1s)                  a source: one tick every second
//
// Each stage is a node of its own, which its carrier runs.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/detail/running.hpp>
#include <garrick/patterns/seq.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace garrick::patterns {

namespace detail {

template <class T>
class batch_stage : public stage_defaults {
 public:
  static constexpr bool has_counts = true;

  batch_stage(std::size_t n, duration within) : n_(n), within_(within) {}
  /// Copies the settings only: the copy has no tuples, so tuples need not be copyable.
  batch_stage(const batch_stage& o) : n_(o.n_), within_(o.within_) {}
  batch_stage(batch_stage&&) noexcept = default;
  batch_stage& operator=(const batch_stage&) = delete;
  ~batch_stage() = default;
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
  void flush(To& out) {
    put(out);
  }
  template <class To>
  void consume(T&& in, To& out) {
    if (some_.empty()) {
      some_.reserve(std::min<std::size_t>(n_, 1024));
      due_ = now_ + within_;
    }
    some_.push_back(std::move(in));
    if (some_.size() == n_) put(out, 1);
  }
  [[nodiscard]] std::size_t held() const noexcept { return some_.size(); }
  [[nodiscard]] std::size_t take_lost() noexcept { return std::exchange(lost_, 0); }

 private:
  /// Puts out the batch. If a key function of the next stage throws, the batch's tuples are lost.
  /// `told` is the number of these tuples that the node itself counts as failed.
  template <class To>
  void put(To& out, std::size_t told = 0) {
    due_ = instant::never();
    if (some_.empty()) return;
    const std::size_t others = some_.size() - told;
    lost_ += others;
    out.put(std::exchange(some_, {}));
    lost_ -= others;
  }

  std::size_t n_;
  duration within_;
  std::vector<T> some_;
  std::size_t lost_ = 0;
  instant now_{};
  instant due_ = instant::never();
};

/// A bucket of permits, into which permits fall evenly.
class permits : public stage_defaults {
 public:
  permits(double per_second, std::size_t at_once) noexcept;
  void time_is(instant now) noexcept;
  /// Returns the time when the next tuple may pass or, at a high rate, the tuples of a millisecond.
  /// Returns `instant::never()` if a tuple may pass now.
  [[nodiscard]] instant deadline() const noexcept;
  [[nodiscard]] std::size_t room() const noexcept { return static_cast<std::size_t>(left_); }

 protected:
  void use() noexcept { left_ -= 1; }

 private:
  double each_ns_;
  double most_;
  double left_;
  instant last_ = instant::never();
};
/// Lets tuples pass as the permits allow.
template <class T>
class throttle_stage : public permits {
 public:
  using permits::permits;
  template <class To>
  void consume(T&& in, To& out) {
    use();
    out.put(std::move(in));
  }
};
/// Returns how many tuples may pass together. Throws std::invalid_argument for a bad rate.
[[nodiscard]] std::size_t checked_throttle(double per_second, std::size_t at_once);
void check_batch(std::size_t n, duration within);
void check_ticks(duration period);

}  // namespace detail

/// The results of `ticks`.
struct tick {
  std::uint64_t number = 0;  ///< 1 after the first period
  instant due{};             ///< when its period was over

  [[nodiscard]] friend bool operator==(const tick&, const tick&) = default;
};

namespace detail {

class ticks_stage : public stage_defaults {
 public:
  ticks_stage(duration period, std::uint64_t last) : period_(period), last_(last) {}
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

/// Returns a stage that gathers tuples: it puts out a std::vector<T> as soon as it has `n`. When
/// `within` has passed since the first of them, or the stream ends, it puts out the tuples so far,
/// at least one. Throws std::invalid_argument for an `n` of zero, and for a time of zero or less.
template <class T = void>
[[nodiscard]] auto batch(std::size_t n, duration within) {
  using check = detail::told_type_check<T>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>) {
    detail::check_batch(n, within);
    using running = detail::batch_stage<T>;
    return seq_stage<running, T, std::vector<T>>(running(n, within), "batch");
  } else {
    return detail::refused_pattern();
  }
}
/// This overload refuses a batch without a number or with a time that is not a duration.
template <class T = void>
[[nodiscard]] detail::refused_pattern batch(detail::anything /*n*/,
                                            detail::anything /*within*/ = {}) {
  static_assert(detail::is_right_call<T>,
                "garrick: batch<T>(n, time) takes a number of tuples and a std::chrono duration, "
                "as in batch<int>(100, 10ms)");
  return {};
}

/// Returns a stage that hands on at most `per_second` tuples a second, spread evenly; the others
/// wait in the channel, and eventually hold up the stages before it. After a pause at most
/// `at_once` tuples pass together; 0 stands for the tuples of a hundredth of a second, at least
/// one. In a farm, each replica has this rate. Throws std::invalid_argument for a rate that is not
/// above 0 and at most 1e9.
template <class T = void>
[[nodiscard]] auto throttle(double per_second, std::size_t at_once = 0) {
  using check = detail::told_type_check<T>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>) {
    using running = detail::throttle_stage<T>;
    return seq_stage<running, T, T>(
        running(per_second, detail::checked_throttle(per_second, at_once)), "throttle");
  } else {
    return detail::refused_pattern();
  }
}
/// This overload refuses a rate that is not a number.
template <class T = void>
[[nodiscard]] detail::refused_pattern throttle(detail::anything /*per_second*/,
                                               detail::anything /*at_once*/ = {}) {
  static_assert(detail::is_right_call<T>,
                "garrick: throttle<T>(rate) takes a number of tuples a second, as in "
                "throttle<int>(5000)");
  return {};
}

/// Returns a source that puts out a tick after each period, up to number `last`. Ticks for which
/// there was no time, or no room in the channel to the next stage, are left out; the numbers of the
/// remaining ticks show the gap. Throws std::invalid_argument for a period of zero or less.
///
///     pipeline(ticks(1s), seq([](tick t) { … }))
[[nodiscard]] inline auto ticks(duration period,
                                std::uint64_t last = std::numeric_limits<std::uint64_t>::max()) {
  detail::check_ticks(period);
  return seq_stage<detail::ticks_stage, void, tick>(detail::ticks_stage(period, last), "ticks");
}

/// This overload refuses a period that is not a time.
template <class Call = void>
[[nodiscard]] detail::refused_pattern ticks(detail::anything /*period*/,
                                            detail::anything /*last*/ = {}) {
  static_assert(detail::is_right_call<Call>,
                "garrick: ticks(period) takes a std::chrono duration, as in ticks(1s)");
  return {};
}

}  // namespace garrick::patterns
