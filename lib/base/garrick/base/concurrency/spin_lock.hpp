// A lock for a handful of instructions: one locked operation to take, a store to give.
//
// Where: the lists of living actors, taken once when an actor is spawned and once when it ends, for
// linking a list node. A holder that loses its core in there makes others yield, so the wait is
// bounded by the scheduler's time slice; nothing that can block is ever done under it.
//
// Thread safety: any thread; not recursive.
#pragma once

#include <garrick/base/platform/platform.hpp>

#include <atomic>
#include <thread>

namespace garrick::system {

class spin_lock {
 public:
  void lock() noexcept {
    // order: pairs with unlock
    for (unsigned tries = 0; taken_.exchange(true, std::memory_order_acquire); ++tries) {
      if (tries < 64)
        base::platform::pause();
      else
        std::this_thread::yield();
    }
  }
  // order: pairs with lock
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace garrick::system
