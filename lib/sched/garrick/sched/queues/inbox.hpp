// The queue of a worker for work from other workers and from outside threads. A push costs one
// compare-and-swap. The owner or a thief, whichever is first, takes out all items or the oldest.
//
// Arrivals are pushed onto a stack. A thread that takes the oldest item reverses the stack and
// leaves the newer items as a line, oldest first. So an item is reversed once, or twice if all
// items are taken.
//
// Thread safety: any function from any thread.
//
// Invariants
// B1 A runnable is in at most one queue (docs/internals/mailbox.md, I1), so its link belongs to the
//    inbox that holds it.
// B2 The stack and the line are only ever taken whole, so a push that compares the stack's head
//    cannot be fooled by a head that went away and came back. A line is only put where there is
//    none.
// B3 Items in the line came before items in the stack, unless two threads take at the same time.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/concurrency/runnable.hpp>

#include <atomic>
#include <cstdint>

namespace garrick::sched {

/// The memory orders below that the model checker weakens, one at a time.
enum class inbox_order : std::uint8_t {
  push_head,  ///< the swap that adds
  take_head,  ///< the exchange that takes the stack
  put_line,   ///< the swap that leaves a line
  take_line,  ///< the exchange that takes the line
  look_head,  ///< the looks before sleeping
};

/// A queue that any thread may fill and empty. `T` has a `queue_link`.
template <class Atomics, class T = base::runnable>
class work_inbox {
 public:
  /// Adds `item` at the back. Costs one locked operation.
  [[gnu::hot]] void push(T& item) noexcept {
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
  }

  /// Takes everything. Hands all but the oldest to `keep(item)`, the newest first, and returns the
  /// oldest; null if there is nothing.
  template <class Keep>
  [[nodiscard]] T* take_all(const Keep& keep) noexcept {
    T* oldest = nullptr;
    const auto walk = [&](T* chain) {
      while (chain != nullptr) {
        T* const older = chain->queue_link;
        if (oldest != nullptr) keep(*oldest);
        oldest = chain;
        chain = older;
      }
    };
    walk(take_stack());
    walk(turned_over(take_line()));
    return oldest;
  }

  /// Takes the oldest item. Returns null if there is nothing. Other threads may not find the
  /// remaining items during the call, but find them when it has returned. So a caller that is not
  /// about to look for work itself must announce them (sleepers.hpp, S4).
  [[nodiscard]] T* take_oldest() noexcept {
    T* oldest = take_line();
    if (oldest == nullptr) oldest = turned_over(take_stack());
    if (oldest == nullptr) return nullptr;
    if (T* const rest = oldest->queue_link) leave_line(rest);
    return oldest;
  }

  /// Returns true if there was nothing at some moment of the call, unless another thread takes the
  /// oldest at the same time. Part of the sleeping protocol (sleepers.hpp, S4).
  [[nodiscard, gnu::hot]] bool looks_empty() const noexcept {
    // order: seq_cst both, pair with push_head and put_line: after the sleeper's change of state
    const auto look = base::order<Atomics, inbox_order::look_head>(std::memory_order_seq_cst);
    return head_.load(look) == nullptr && line_.load(look) == nullptr;
  }

  /// Returns the same as `looks_empty`, but as a hint that costs the owner next to nothing.
  [[nodiscard]] bool seems_empty() const noexcept {
    // order: relaxed both; a hint
    return head_.load(std::memory_order_relaxed) == nullptr &&
           line_.load(std::memory_order_relaxed) == nullptr;
  }

 private:
  using link = typename Atomics::template atomic<T*>;

  /// Returns all that has been pushed since it was taken last, newest first.
  T* take_stack() noexcept {
    // order: relaxed; a miss is noticed before sleeping
    if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    // order: acquire, pairs with push_head of every item in the list: they all continue one release
    // sequence
    return head_.exchange(nullptr,
                          base::order<Atomics, inbox_order::take_head>(std::memory_order_acquire));
  }

  /// Returns the line, oldest first.
  T* take_line() noexcept {
    // order: relaxed; a miss is noticed before sleeping
    if (line_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    // order: acquire, pairs with put_line
    return line_.exchange(nullptr,
                          base::order<Atomics, inbox_order::take_line>(std::memory_order_acquire));
  }

  /// Puts taken items back. If another thread has left a line meanwhile, that line is newer and is
  /// put behind the items.
  void leave_line(T* first) noexcept {
    T* none = nullptr;
    // order: seq_cst: release pairs with take_line (the items' contents and links); the single
    // order as in push; relaxed on failure, it is tried again
    while (!line_.compare_exchange_strong(
        none, first, base::order<Atomics, inbox_order::put_line>(std::memory_order_seq_cst),
        std::memory_order_relaxed)) {
      if (T* const newer = take_line()) {
        T* last = first;
        while (T* const next = last->queue_link) last = next;
        last->queue_link = newer;
      }
      none = nullptr;
    }
  }

  [[nodiscard]] static T* turned_over(T* chain) noexcept {
    T* turned = nullptr;
    while (chain != nullptr) {
      T* const next = chain->queue_link;
      chain->queue_link = turned;
      turned = chain;
      chain = next;
    }
    return turned;
  }

  link head_{nullptr};  ///< the stack: newest first
  link line_{nullptr};  ///< the line: oldest first
};

}  // namespace garrick::sched
