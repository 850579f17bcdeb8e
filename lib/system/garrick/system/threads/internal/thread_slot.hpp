// The orders to one thread: run a cell, or end.
//
// Private: not installed; detached_pool.cpp includes it.
//
// Thread safety: only the thread that takes the orders calls `next` and `wait`; any thread may call
// the other functions.
//
// Invariants
// S1 At most one runnable is in the slot: the holder of its run right puts it there, and the thread
//    takes it out before it runs it.
// S2 A thread that gives an order first writes it and then unparks the receiving thread, which
//    looks for both kinds of orders after each park. So no order is overlooked.
#pragma once

#include <garrick/base/concurrency/parker.hpp>

#include <atomic>
#include <cstdint>

namespace garrick::system {

/// The memory orders below that the model checker weakens, one at a time.
enum class slot_order : std::uint8_t { give, take, tell_quit, see_quit };

/// The orders to a thread.
template <class Runnable, class Atomics = base::real_atomics>
class thread_slot {
 public:
  /// Orders the thread to run `r`. For the holder of its run right.
  void give(Runnable& r) noexcept {
    // order: release, pairs with take: the writes of its last runner and its waker
    next_.store(&r, base::order<Atomics, slot_order::give>(std::memory_order_release));
    parker_.unpark();
  }
  /// Orders the thread to end once it has no runnable left.
  void tell_quit() noexcept {
    // order: release, pairs with next
    quit_.store(true, base::order<Atomics, slot_order::tell_quit>(std::memory_order_release));
    parker_.unpark();
  }

  /// Waits for the next runnable. Returns null if the thread must end and has nothing to run.
  [[nodiscard]] Runnable* next() noexcept {
    for (;;) {
      if (Runnable* const r = take()) return r;
      // order: acquire, pairs with tell_quit
      if (quit_.load(base::order<Atomics, slot_order::see_quit>(std::memory_order_acquire)))
        return nullptr;
      parker_.park();
    }
  }

  /// Waits until a runnable is given, for at most `limit_ns`, or for ever if that is negative.
  /// Returns false if the time has passed. For a cell that waits inside its run: the runnable is
  /// the cell itself.
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
