// A mutex that one thread, the host, takes again and again, and that visitors get in between.
//
// Problem: a mutex goes to the first thread that asks. A host with more work asks again at once,
// and a visitor that sleeps takes tens of microseconds to wake: it would wait until the host has no
// work left. So visitors that find the mutex taken are counted, and the host lets them in.
//
// Thread safety: `host` and `let_visitors_in` are for the host, the rest for any other thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include "garrick/base/platform/platform.hpp"

namespace garrick::base {

/// The mutex. For visitors it meets the standard's BasicLockable.
class visited_mutex {
 public:
  /// Takes the mutex for a visitor. The host holds it for microseconds, and a sleep with its
  /// wake-up takes tens of them, so this function tries for a while before it sleeps. A visitor
  /// that finds the mutex free is not counted, so that its visit costs nothing more.
  void lock() {
    if (!mutex_.try_lock()) queue_up();
  }
  void unlock() { mutex_.unlock(); }

  /// Returns the mutex for the host, which is not counted and may wait on a condition.
  [[nodiscard]] std::mutex& host() noexcept { return mutex_; }

  /// Returns the number of visitors that found the mutex taken, and have not had it since.
  [[nodiscard]] std::uint32_t waiting() const noexcept {
    return came_.load(std::memory_order_relaxed) -   // order: a visitor that is overlooked is seen
           served_.load(std::memory_order_relaxed);  // by the next look
  }
  /// Waits until all visitors that are waiting now have had the mutex, but yields at most
  /// `most_yields` times, in case a visitor does not get a core. Requires that the host does not
  /// hold the mutex.
  void let_visitors_in(unsigned most_yields) const noexcept {
    const std::uint32_t here = came_.load(std::memory_order_relaxed);  // order: as waiting
    for (unsigned i = 0; i < most_yields; ++i) {
      // order: as waiting
      const std::uint32_t left = here - served_.load(std::memory_order_relaxed);
      if (static_cast<std::int32_t>(left) <= 0) return;
      std::this_thread::yield();
    }
  }

 private:
  void queue_up() {
    constexpr int most_tries = 100;
    came_.fetch_add(1, std::memory_order_relaxed);  // order: a hint, see let_visitors_in
    bool taken = false;
    for (int i = 0; i < most_tries && !taken; ++i) {
      platform::pause();
      taken = mutex_.try_lock();
    }
    if (!taken) mutex_.lock();
    served_.fetch_add(1, std::memory_order_relaxed);  // order: as above
  }

  std::mutex mutex_;
  std::atomic<std::uint32_t> came_{0};
  std::atomic<std::uint32_t> served_{0};
};

}  // namespace garrick::base
