// An actor that has just been sent a message should run next, on the same worker: the message is in the cache, and no other worker need
// be woken for something that the owner takes within a microsecond. So each worker has one slot in front of its deque.
//
// Thread safety: `put`, `take`, `claim` and `occupied_for_owner` belong to the owner; `steal` and `look` to everybody.
//
// Invariants
//  N1 Only the owner puts something in; everybody else only changes it to null, with an exchange that yields what was there. So if the
//     owner sees null, it stays null until the owner's next put, which may be a plain store.
//  N2 The count of puts grows with every put: slot and count unchanged between two looks mean that the owner has not come by.
#pragma once

#include <garrick/base/atomics_policy.hpp>
#include <garrick/base/runnable.hpp>

#include <atomic>
#include <cstdint>

namespace garrick::sched {

/// Numbers of the memory orders below, for the model checker.
enum class slot_order : int { put_empty = 400, put_over, steal };

template <class Atomics, class T = base::runnable>
class next_slot {
 public:
  /// Owner: puts `item` in and returns what it displaced, or null.
  T* put(T& item) noexcept {
    // order: relaxed both; only the owner writes it
    puts_.store(puts_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (item_.load(std::memory_order_relaxed) == nullptr) {  // order: relaxed; null stays null (N1)
      // order: release, pairs with steal: the thief sees the item's content
      item_.store(&item, order<slot_order::put_empty>(std::memory_order_release));
      return nullptr;
    }
    // order: release, pairs with steal; what comes back was put in by this same thread
    return item_.exchange(&item, order<slot_order::put_over>(std::memory_order_release));
  }

  /// Owner: takes what is there, or null.
  [[nodiscard]] T* take() noexcept {
    if (item_.load(std::memory_order_relaxed) == nullptr) return nullptr;  // order: relaxed; null stays null (N1)
    return item_.exchange(nullptr, std::memory_order_relaxed);             // order: relaxed; this thread put it in
  }

  /// Owner: takes `item` if that is what is there.
  [[nodiscard]] bool claim(T& item) noexcept {
    T* expected = &item;
    // order: relaxed all three; this thread put it in
    return item_.load(std::memory_order_relaxed) == expected &&
           item_.compare_exchange_strong(expected, nullptr, std::memory_order_relaxed, std::memory_order_relaxed);
  }

  [[nodiscard]] bool occupied_for_owner() const noexcept {
    return item_.load(std::memory_order_relaxed) != nullptr;  // order: relaxed; a hint
  }

  /// Anybody: takes what is there, or null.
  [[nodiscard]] T* steal() noexcept {
    // order: acquire, pairs with put_empty and put_over
    return item_.exchange(nullptr, order<slot_order::steal>(std::memory_order_acquire));
  }

  /// What an onlooker sees; two equal pictures with an item mean that the owner has been busy between them.
  struct picture {
    const T* item = nullptr;
    std::uint32_t puts = 0;
    bool operator==(const picture&) const = default;
  };

  /// Anybody.
  [[nodiscard]] picture look() const noexcept {
    // order: relaxed both; after the onlooker's fence (slot_ticker.hpp, K1 and K2), and only compared
    return {item_.load(std::memory_order_relaxed), puts_.load(std::memory_order_relaxed)};
  }

 private:
  template <slot_order N>
  static constexpr std::memory_order order(std::memory_order as_written) noexcept {
    return Atomics::template order<static_cast<int>(N)>(as_written);
  }

  typename Atomics::template atomic<T*> item_{nullptr};
  typename Atomics::template atomic<std::uint32_t> puts_{0};
};

}  // namespace garrick::sched
