// How one thread is told what to do next: run a cell, or end.
//
// Private: not installed; detached_pool.cpp includes it.
//
// Thread safety: `next` and `wait` belong to the thread that is told, the others to any thread.
//
// Invariants
// S1 At most one runnable is in the slot: who has its run right puts it there, and the thread takes
//    it out before it runs it.
// S2 Whoever tells something writes first and unparks then. The thread looks for everything after
//    each park. So nothing is overlooked.
#pragma once

#include <garrick/base/concurrency/parker.hpp>

#include <atomic>
#include <cstdint>

namespace garrick::system {

/// The memory orders below that the model checker weakens, one at a time.
enum class slot_order : std::uint8_t { give, take, tell_quit, see_quit };

/// What a thread is told.
template <class Runnable, class Atomics = base::real_atomics>
class thread_slot {
 public:
  /// Run `r`. For whoever has its run right.
  void give(Runnable& r) noexcept {
    // order: release, pairs with take: what its last runner and its waker did
    next_.store(&r, base::order<Atomics, slot_order::give>(std::memory_order_release));
    parker_.unpark();
  }
  /// End, when nothing else is left to do.
  void tell_quit() noexcept {
    // order: release, pairs with next
    quit_.store(true, base::order<Atomics, slot_order::tell_quit>(std::memory_order_release));
    parker_.unpark();
  }

  /// Waits for what is to be run next. Null: the thread is to end, and nothing is to be run.
  [[nodiscard]] Runnable* next() noexcept {
    for (;;) {
      if (Runnable* const r = take()) return r;
      // order: acquire, pairs with tell_quit
      if (quit_.load(base::order<Atomics, slot_order::see_quit>(std::memory_order_acquire)))
        return nullptr;
      parker_.park();
    }
  }

  /// Waits until something is to be run, for at most `limit_ns`; for ever if that is negative.
  /// False: the time is over. For a cell that waits inside its run: it is itself what is given.
  [[nodiscard]] bool wait(std::int64_t limit_ns) noexcept {
    // order: relaxed: `take` acquires
    const auto empty = [this] { return next_.load(std::memory_order_relaxed) == nullptr; };
    if (limit_ns < 0)
      while (empty()) parker_.park();
    else if (empty())
      parker_.park_for(static_cast<std::uint64_t>(limit_ns));
    return take() != nullptr;
  }

 private:
  Runnable* take() noexcept {
    // order: acquire, pairs with give
    return next_.exchange(nullptr,
                          base::order<Atomics, slot_order::take>(std::memory_order_acquire));
  }

  typename Atomics::template atomic<Runnable*> next_{nullptr};
  typename Atomics::template atomic<bool> quit_{false};
  base::basic_parker<Atomics> parker_;
};

}  // namespace garrick::system
