// A lock for a handful of instructions: locking costs one locked operation, unlocking a store.
//
// It guards the lists of living actors, the mail of actors that keep their newest messages, the
// latest dead letters, and the items that senders leave for a busy link to another node. The
// longest critical sections look at 256 actors, to count a reference each, or at the messages of
// one actor's mail, to list them. No thread allocates, frees or blocks under it. If the holder
// loses its core in between, the other threads sleep for moments, so the holder gets the core back
// whatever the priorities are.
//
// Thread safety: any thread; not recursive.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/concurrency/brief_wait.hpp>

#include <atomic>

namespace garrick::base {

/// A lock for a handful of instructions that cannot block. Meets the standard's BasicLockable, so
/// `std::lock_guard` takes it.
class spin_lock {
 public:
  /// Takes the lock. Spins, and after a while sleeps for moments, as long as another thread has it.
  void lock() noexcept {
    brief_wait<real_atomics> wait;
    while (taken_.exchange(true, std::memory_order_acquire))  // order: pairs with unlock
      wait.once();
  }
  /// Gives the lock back. Requires that this thread holds it.
  void unlock() noexcept {
    taken_.store(false, std::memory_order_release);  // order: pairs with lock
  }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace garrick::base
