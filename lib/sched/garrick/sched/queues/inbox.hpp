// Work for a worker comes from other workers, from outside threads, and from the worker itself when
// a runnable has used up its quantum. The inbox takes it with one compare-and-swap, and hands all
// of it at once to the thread that comes first: the owner or a thief.
//
// Thread safety: any function from any thread.
//
// Invariants
// B1 A runnable is in at most one queue (docs/internals/mailbox.md, I1), so its link belongs to the
//    inbox that holds it.
// B2 The list is only ever taken whole, so a push that compares the head cannot be fooled by a head
//    that went away and came back.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/concurrency/runnable.hpp>

#include <atomic>
#include <cstdint>

namespace garrick::sched {

/// The memory orders below that the model checker weakens, one at a time.
enum class inbox_order : std::uint8_t {
  push_head,  ///< the swap that adds
  take_head,  ///< the exchange that takes everything
  look_head,  ///< the look before sleeping
};

/// A queue that everybody may fill and that is emptied all at once. `T` has a `queue_link`.
template <class Atomics, class T = base::runnable>
class work_inbox {
 public:
  /// Adds `item` at the back. True: the inbox was empty. Costs one locked operation.
  bool push(T& item) noexcept {
    // order: relaxed; the compare-and-swap confirms it
    T* head = head_.load(std::memory_order_relaxed);
    do {
      item.queue_link = head;
      // order: seq_cst: release pairs with take_head (the item's content); the single order puts it
      // before the state that announce reads (sleepers.hpp, S4); relaxed on failure, it is tried
      // again
    } while (!head_.compare_exchange_weak(
        head, &item, base::order<Atomics, inbox_order::push_head>(std::memory_order_seq_cst),
        std::memory_order_relaxed));
    return head == nullptr;
  }

  /// Takes everything. Returns the newest, which is linked through `queue_link` to the older ones;
  /// null if there is nothing.
  [[nodiscard]] T* take_all() noexcept {
    // order: relaxed; a miss is noticed before sleeping
    if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    // order: acquire, pairs with push_head of every item in the list: they all continue one release
    // sequence
    return head_.exchange(nullptr,
                          base::order<Atomics, inbox_order::take_head>(std::memory_order_acquire));
  }

  /// Takes the oldest. The others go back in their order, behind what has come meanwhile. Null if
  /// there is nothing.
  [[nodiscard]] T* take_oldest() noexcept {
    T* oldest = take_all();
    if (oldest == nullptr) return nullptr;
    T* newer = nullptr;  // the list turned round
    while (T* const older = oldest->queue_link) {
      oldest->queue_link = newer;
      newer = oldest;
      oldest = older;
    }
    while (newer != nullptr) {
      T* const next = newer->queue_link;
      push(*newer);
      newer = next;
    }
    return oldest;
  }

  /// Whether there was nothing at some moment of the call. Part of the sleeping protocol
  /// (sleepers.hpp, S4).
  [[nodiscard]] bool looks_empty() const noexcept {
    // order: seq_cst, pairs with push_head: after the sleeper's change of state
    return head_.load(base::order<Atomics, inbox_order::look_head>(std::memory_order_seq_cst)) ==
           nullptr;
  }

 private:
  typename Atomics::template atomic<T*> head_{nullptr};
};

}  // namespace garrick::sched
