// A lock for a handful of instructions: one locked operation to take, a store to give.
//
// It guards the lists of living actors, which are locked once when an actor is spawned and once
// when it ends, to link a list node; and by who looks at all actors, for at most 256 of them at
// a time, to count a reference each. Nobody allocates or blocks under it. If the holder loses its
// core in between, the others yield, so the wait is bounded by the time slice of the system's
// scheduler.
//
// Thread safety: any thread; not recursive.
#pragma once

#include <garrick/base/platform/platform.hpp>

#include <atomic>
#include <thread>

namespace garrick::base {

/// A lock for a handful of instructions that cannot block. Meets the standard's BasicLockable, so
/// `std::lock_guard` takes it.
class spin_lock {
 public:
  /// Takes the lock. Spins, and after a while yields, as long as another thread has it.
  void lock() noexcept {
    // order: pairs with unlock
    for (unsigned tries = 0; taken_.exchange(true, std::memory_order_acquire); ++tries) {
      if (tries < 64)
        platform::pause();
      else
        std::this_thread::yield();
    }
  }
  /// Gives the lock back. Requires that this thread has it.
  void unlock() noexcept {
    taken_.store(false, std::memory_order_release);  // order: pairs with lock
  }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace garrick::base
