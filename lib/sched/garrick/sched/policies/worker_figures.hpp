// The events of one worker, counted by itself, read by any thread, and reported to a probe.
//
// Sleeping and stealing are rare and cost a system call or a foreign cache line anyway. So a park
// may read the clock twice, and both events are reported to the probe, if there is one.
//
// Thread safety: any thread may call `read`, `runs` and `parks`, only the worker itself the rest.
#pragma once

#include <garrick/base/concurrency/probe.hpp>
#include <garrick/sched/policies/policy.hpp>

#include <atomic>
#include <cstdint>

namespace garrick::sched {

/// The counts of one worker.
template <class Traits>
class worker_figures {
 public:
  /// Makes the figures of worker `index`. `probe` may be null, and outlives this object.
  worker_figures(std::uint32_t index, base::probe* probe) noexcept : index_(index), probe_(probe) {}

  /// Counts a call of `runnable::run`.
  void ran() noexcept { runs_.add(); }

  /// Counts a theft from worker `victim`.
  void stole(std::uint32_t victim) noexcept {
    steals_.add();
    if (probe_ != nullptr) [[unlikely]]
      probe_->on_stolen(index_, victim);
  }

  /// The times when a worker fell asleep and when it was awake again.
  struct nap {
    std::uint64_t begin_ns;  ///< by the clock of the traits
    std::uint64_t end_ns;    ///< by the same clock
  };

  /// Counts the beginning of a sleep. Returns the time.
  std::uint64_t falls_asleep() noexcept {
    parks_.add();
    if (probe_ != nullptr) [[unlikely]]
      probe_->on_worker_parked(index_);
    const std::uint64_t begin = Traits::clock::now_ns();
    parked_since_.store(begin, std::memory_order_relaxed);  // order: relaxed; a statistic
    return begin;
  }

  /// Counts a sleep that began at `begin` and has ended.
  nap awakes(std::uint64_t begin) noexcept {
    parked_since_.store(0, std::memory_order_relaxed);  // order: relaxed; a statistic
    const std::uint64_t end = Traits::clock::now_ns();
    parked_ns_.add(end - begin);
    if (probe_ != nullptr) [[unlikely]]
      probe_->on_worker_woke(index_);
    return {begin, end};
  }

  /// Counts a sleep: calls `sleep()`, which returns when the worker is awake. Returns both times.
  template <class Sleep>
  nap park(Sleep sleep) noexcept {
    const std::uint64_t begin = falls_asleep();
    sleep();
    return awakes(begin);
  }

  /// Returns the number of runs that it has begun. Any thread.
  [[nodiscard]] std::uint64_t runs() const noexcept { return runs_.get(); }

  /// Returns how often it went to sleep. Any thread.
  [[nodiscard]] std::uint64_t parks() const noexcept { return parks_.get(); }

  /// Returns the counts of this class. Any thread.
  [[nodiscard]] worker_stats read() const noexcept {
    worker_stats now;
    now.runs = runs_.get();
    now.steals = steals_.get();
    now.parks = parks_.get();
    now.parked_ns = parked_ns_.get();
    // order: relaxed; a statistic
    const std::uint64_t since = parked_since_.load(std::memory_order_relaxed);
    now.is_parked = since != 0;
    if (now.is_parked) {
      const std::uint64_t time = Traits::clock::now_ns();
      now.parked_ns += time > since ? time - since : 0;
    }
    return now;
  }

 private:
  using counter = own_counter<typename Traits::atomics>;
  std::uint32_t index_;  // constant, both
  base::probe* probe_;
  counter runs_, steals_, parks_, parked_ns_;
  typename Traits::atomics::template atomic<std::uint64_t> parked_since_{0};  ///< 0: it is awake
};

}  // namespace garrick::sched
