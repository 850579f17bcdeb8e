// The yardstick of wake-ups: a thread that sleeps on a futex, and is woken with a time stamp.
// Stamps wait in a ring until the thread takes them, so it gets each stamp, in order.
//
// Thread safety: `wake` and the destructor belong to one thread.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace bench {

// Calls `arrived(stamp)` on its own thread for each `wake(stamp)`. A stamp must not be 0. The
// destructor waits until all stamps have been handled.
template <class Arrived>
class futex_sleeper {
 public:
  explicit futex_sleeper(Arrived arrived) : arrived_(arrived), thread_([this] { sleep(); }) {}
  ~futex_sleeper() {
    wake(0);
    thread_.join();
  }

  void wake(std::int64_t stamp) {
    // order: only this thread writes it
    const std::uint32_t next = word_.load(std::memory_order_relaxed);
    // order: pairs with the sleeper's release store: it has read the stamp of that place
    while (next - taken_.load(std::memory_order_acquire) >= places) sched_yield();
    stamps_[next % places] = stamp;
    word_.store(next + 1, std::memory_order_release);  // order: pairs with the sleeper's acquire
    futex(FUTEX_WAKE_PRIVATE, 1);
  }

 private:
  static constexpr std::uint32_t places = 1U << 16U;

  long futex(int operation, std::uint32_t value) {
    return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word_), operation, value, nullptr,
                   nullptr, 0);
  }

  void sleep() {
    for (std::uint32_t seen = 0;; ++seen) {
      // order: pairs with the release store of the waker, which publishes the stamp
      while (word_.load(std::memory_order_acquire) == seen) futex(FUTEX_WAIT_PRIVATE, seen);
      const std::int64_t stamp = stamps_[seen % places];
      taken_.store(seen + 1, std::memory_order_release);  // order: pairs with the waker's acquire
      if (stamp == 0) return;
      arrived_(stamp);
    }
  }

  Arrived arrived_;
  alignas(64) std::atomic<std::uint32_t> word_{0};
  alignas(64) std::atomic<std::uint32_t> taken_{0};
  std::vector<std::int64_t> stamps_ = std::vector<std::int64_t>(places);
  std::thread thread_;
};

}  // namespace bench
