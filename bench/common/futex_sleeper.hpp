// The yardstick of waking: a thread that sleeps on a futex, and is woken with a time stamp.
//
// Thread safety: `wake` and the destructor belong to one thread.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace bench {

// Calls `arrived(stamp)` on its own thread for each `wake(stamp)`. A stamp is not 0. Ends when all
// is done that was woken for.
template <class Arrived>
class futex_sleeper {
 public:
  explicit futex_sleeper(Arrived arrived) : arrived_(arrived), thread_([this] { sleep(); }) {}
  ~futex_sleeper() {
    wake(0);
    thread_.join();
  }

  void wake(std::int64_t stamp) {
    sent_.store(stamp, std::memory_order_relaxed);  // order: published by `word_`
    word_.fetch_add(1, std::memory_order_release);  // order: pairs with the sleeper's acquire load
    futex(FUTEX_WAKE_PRIVATE, 1);
  }

 private:
  long futex(int operation, std::uint32_t value) {
    return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word_), operation, value, nullptr,
                   nullptr, 0);
  }

  void sleep() {
    for (std::uint32_t seen = 0;; ++seen) {
      // order: pairs with the release increment of the waker, which publishes `sent_`
      while (word_.load(std::memory_order_acquire) == seen) futex(FUTEX_WAIT_PRIVATE, seen);
      // order: published by `word_`
      const std::int64_t stamp = sent_.load(std::memory_order_relaxed);
      if (stamp == 0) return;
      arrived_(stamp);
    }
  }

  Arrived arrived_;
  std::atomic<std::uint32_t> word_{0};
  std::atomic<std::int64_t> sent_{0};
  std::thread thread_;
};

}  // namespace bench
