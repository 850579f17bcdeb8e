// The exchange of full lists of free blocks as a whole: through a few atomic slots.
//
// Thread safety: any thread. Invariant: a slot holds null or a list that no thread can reach
// otherwise. It is only ever filled from null and emptied by exchange, so there is no ABA problem.
// (The model checker runs this: batch_slots.model.cpp.)
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "garrick/base/concurrency/atomics_policy.hpp"

namespace garrick::base::block_pool::detail {

/// The memory orders below that the model checker weakens, one at a time.
enum class slots_order : std::uint8_t { put, take };

/// Room for `Slots` lists, each known by its first block.
template <class Block, std::size_t Slots, class Atomics = real_atomics>
class batch_slots {
 public:
  /// Puts a full list into an empty slot. Returns false if there is none.
  [[nodiscard]] bool put(Block* batch) noexcept {
    for (auto& slot : slots_) {
      Block* expected = nullptr;
      // order: relaxed; only a hint whether the exchange below is worth it.
      if (slot.load(std::memory_order_relaxed) != nullptr) continue;
      // order: release; pairs with the exchange in take: the blocks' links, and the earlier uses of
      // the blocks, are visible there.
      if (slot.compare_exchange_strong(expected, batch,
                                       order<Atomics, slots_order::put>(std::memory_order_release),
                                       std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  /// Takes a list out of a slot. Returns null if there is none, or if other threads took those that
  /// were seen.
  [[nodiscard]] Block* take() noexcept {
    for (auto& slot : slots_) {
      // order: relaxed; only a hint whether the exchange below is worth it.
      if (slot.load(std::memory_order_relaxed) == nullptr) continue;
      // order: acquire; pairs with the compare-exchange in put.
      if (Block* const batch =
              slot.exchange(nullptr, order<Atomics, slots_order::take>(std::memory_order_acquire)))
        return batch;
    }
    return nullptr;
  }

  /// Returns the number of lists. Requires that no thread puts or takes meanwhile.
  [[nodiscard]] std::size_t count() const noexcept {
    std::size_t n = 0;
    // order: relaxed; callers are quiet while they count.
    for (const auto& slot : slots_) n += slot.load(std::memory_order_relaxed) != nullptr;
    return n;
  }

 private:
  typename Atomics::template atomic<Block*> slots_[Slots]{};
};

}  // namespace garrick::base::block_pool::detail
