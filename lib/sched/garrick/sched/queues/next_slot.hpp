// An actor that has just been sent a message should run next, on the same worker: the message is in
// the cache, and no other worker need be woken for an actor that the owner takes within a
// microsecond. So each worker has one slot in front of its deque.
//
// The owner uses the slot for nearly every message. Other threads, the *helpers*, take from it
// rarely or never: the thread that exposes forgotten work (slot_ticker.hpp), and a worker that
// finds the owner standing still (W4 of work_stealing.hpp). So the owner pays no locked operation.
// It marks that it is at work on the slot, and uses an exchange only if a helper has announced
// itself. The helper pays for both: it announces itself, makes every thread see that, and then
// looks if the owner was in the middle of an access.
//
// Thread safety: `put`, `take`, `claim`, `occupied_for_owner` and `wait_for_helper` are for the
// owner, `steal` and `look` for any thread.
//
// Invariants
// N1 Only the owner puts something in; a helper only changes it to null. So if the owner sees null,
//    the slot stays null until the owner's next put, which may be a plain store.
// N2 The owner removes or replaces an item either with an exchange, or with plain accesses while
//    owner_busy_ is set and after it has seen helper_busy_ unset. The helper removes an item only
//    with an exchange, while helper_busy_ is set and after it has seen owner_busy_ unset. Each sets
//    its flag, fences, and reads the other's flag: at least one of them sees the other. If the
//    helper sees the owner, it gives up. If the owner sees the helper, both use exchanges. There is
//    one helper at a time: a thread that finds helper_busy_ set gives up at once.
// N3 The count of puts grows with every put: slot and count unchanged between two looks mean that
//    the owner has not used the slot.
// N4 `steal(give)` hands its item on before it unsets helper_busy_. So an owner that finds its item
//    gone, fences and sees no helper finds the item where the helper has put it.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/concurrency/brief_wait.hpp>
#include <garrick/base/concurrency/runnable.hpp>

#include <atomic>
#include <cstdint>

namespace garrick::sched {

/// The memory orders below that the model checker weakens, one at a time.
enum class slot_order : std::uint8_t {
  put_empty,     ///< the owner fills an empty slot
  put_over,      ///< the owner replaces an item while a helper is busy
  owner_done,    ///< the owner is no longer at work on the slot
  steal,         ///< a helper takes the item
  helper_looks,  ///< tests if the owner is at work on the slot
  helper_done,   ///< the helper is no longer busy
  owner_looks,   ///< tests if a helper is busy
  owner_waits,   ///< the owner waits until no helper is busy
};

/// A worker's slot for the runnable that runs next.
template <class Atomics, class T = base::runnable>
class next_slot {
 public:
  /// For the owner: puts `item` in and returns the displaced item, or null. No locked operation
  /// unless a helper is busy.
  T* put(T& item) noexcept {
    // order: relaxed both; only the owner writes it
    puts_.store(puts_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (item_.load(std::memory_order_relaxed) == nullptr) {  // order: relaxed; null stays null (N1)
      // order: release, pairs with steal: the helper sees the item's content
      item_.store(&item, base::order<Atomics, slot_order::put_empty>(std::memory_order_release));
      return nullptr;
    }
    return replace(&item);
  }

  /// For the owner: takes the item. Returns null if there is none.
  [[nodiscard]] T* take() noexcept {
    // order: relaxed; null stays null (N1)
    if (item_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    return replace(nullptr);
  }

  /// For the owner: takes `item`. Returns false if it is not in the slot. `item` is compared, not
  /// touched.
  [[nodiscard]] bool claim(const T* item) noexcept {
    // order: relaxed; only the owner puts something in
    if (item_.load(std::memory_order_relaxed) != item) return false;
    return replace(nullptr) == item;
  }

  /// For the owner: returns true if an item is there. It may be gone a moment later, if a helper
  /// takes it.
  [[nodiscard]] bool occupied_for_owner() const noexcept {
    return item_.load(std::memory_order_relaxed) != nullptr;  // order: relaxed; a hint
  }

  /// For the owner: if a helper is busy, waits until it has handed its item on (N4). The helper
  /// may make two system calls until then: the heavy fence, and the one that wakes a worker.
  void wait_for_helper() const noexcept {
    Atomics::light_fence();
    base::brief_wait<Atomics> wait;
    // order: acquire, pairs with helper_done: the helper's new place of the item
    while (helper_busy_.load(
               base::order<Atomics, slot_order::owner_waits>(std::memory_order_acquire)) != 0)
      wait.once();
  }

  /// For a helper: takes the item. Returns null if there is none, or the owner or another helper is
  /// at work on it. Costs a heavy fence.
  [[nodiscard]] T* steal() noexcept {
    T* stolen = nullptr;
    steal([&stolen](T& item) { stolen = &item; });
    return stolen;
  }

  /// Like `steal()`, but hands the item to `give(item)`, which makes it available to others (N4).
  /// Returns true if there was one.
  template <class Give>
  bool steal(const Give& give) noexcept {
    // order: relaxed, before the fence (N2), which also acquires the former helper's writes
    if (helper_busy_.exchange(1, std::memory_order_relaxed) != 0) return false;
    Atomics::heavy_fence();
    T* item = nullptr;
    // order: acquire, pairs with owner_done: the owner's plain accesses are done, and the item's
    // content is seen
    if (owner_busy_.load(
            base::order<Atomics, slot_order::helper_looks>(std::memory_order_acquire)) == 0) {
      // order: acquire, pairs with put_empty and put_over
      item = item_.exchange(nullptr,
                            base::order<Atomics, slot_order::steal>(std::memory_order_acquire));
    }
    if (item != nullptr) give(*item);
    // order: release, pairs with owner_looks and owner_waits: an owner that sees the helper gone
    // sees its writes
    helper_busy_.store(0, base::order<Atomics, slot_order::helper_done>(std::memory_order_release));
    return item != nullptr;
  }

  /// The slot as an onlooker sees it; two equal pictures with an item mean that the owner has been
  /// busy between them.
  struct picture {
    const T* item = nullptr;  ///< the item; only to be compared
    std::uint32_t puts = 0;   ///< the number of puts
    bool operator==(const picture&) const = default;
  };

  /// Returns the slot as it is now. Any thread.
  [[nodiscard]] picture look() const noexcept {
    // order: relaxed both; the caller's fence came before (slot_ticker.hpp, K1 and K2), and the
    // values are only compared
    return {item_.load(std::memory_order_relaxed), puts_.load(std::memory_order_relaxed)};
  }

 private:
  /// For the owner: replaces the item, in one of the two ways of N2. Returns the item before.
  T* replace(T* with) noexcept {
    owner_busy_.store(1, std::memory_order_relaxed);  // order: relaxed, before the fence (N2)
    Atomics::light_fence();
    T* before = nullptr;
    // order: acquire, pairs with helper_done: the null that the helper left
    if (helper_busy_.load(base::order<Atomics, slot_order::owner_looks>(
            std::memory_order_acquire)) == 0) [[likely]] {
      // order: relaxed; the owner's own, or the helper's null seen by owner_looks
      before = item_.load(std::memory_order_relaxed);
      item_.store(with, std::memory_order_relaxed);  // order: relaxed; published by owner_done
    } else {
      // order: release, pairs with steal: the helper sees the item's content; the returned item was
      // put in by this same thread
      before = item_.exchange(
          with, base::order<Atomics, slot_order::put_over>(std::memory_order_release));
    }
    // order: release, pairs with helper_looks
    owner_busy_.store(0, base::order<Atomics, slot_order::owner_done>(std::memory_order_release));
    return before;
  }

  typename Atomics::template atomic<T*> item_{nullptr};
  typename Atomics::template atomic<std::uint32_t> puts_{0};
  typename Atomics::template atomic<std::uint32_t> owner_busy_{0};
  typename Atomics::template atomic<std::uint32_t> helper_busy_{0};
};

}  // namespace garrick::sched
