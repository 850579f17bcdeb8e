// Workload `wakeup`: how long a sleeping receiver takes to run after an outside thread woke it. The
// waker takes a time stamp, wakes, waits until the receiver has written its own stamp, and leaves
// it alone for a while so that it falls asleep again.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "common/measure.hpp"

namespace bench {

class wakeup_samples {
 public:
  explicit wakeup_samples(std::uint64_t gap_us)
      : gap_ns_(static_cast<std::int64_t>(gap_us) * 1000) {}

  // `wake(now)` must make the receiver call `arrived(now)`.
  template <class Wake>
  void measure(std::uint64_t rounds, Wake wake) {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      const timespec gap{0, static_cast<long>(gap_ns_)};
      nanosleep(&gap, nullptr);
      // order: the receiver sleeps; `wake` hands it over
      sample_.store(0, std::memory_order_relaxed);
      wake(now_ns());
      std::int64_t found = 0;
      // order: pairs with the release store in `arrived`
      while ((found = sample_.load(std::memory_order_acquire)) == 0) {
        const timespec pause{0, 1000};
        nanosleep(&pause, nullptr);
      }
      samples_.push_back(found);
    }
  }

  void arrived(std::int64_t sent_ns) {
    const std::int64_t taken = now_ns() - sent_ns;
    // order: pairs with the acquire load in `measure`
    sample_.store(taken > 0 ? taken : 1, std::memory_order_release);
  }

  const std::vector<std::int64_t>& all() const { return samples_; }

 private:
  const std::int64_t gap_ns_;
  std::vector<std::int64_t> samples_;  // the waker's
  std::atomic<std::int64_t> sample_{0};
};

}  // namespace bench
