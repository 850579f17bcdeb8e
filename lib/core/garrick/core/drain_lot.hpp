// Where senders wait for a full receiver: a fixed number of futex words, chosen by the receiver's id, so that no actor carries one.
//
// Thread safety: any thread. A wake may reach senders that wait for another receiver of the same word: they look again.
//
// Invariant: a sender reads the epoch, then sets the `waiting` tag, then waits for that epoch to pass; the runner clears the tag, then advances the epoch,
// then wakes. So a wake cannot fall between; and every wait has a time limit besides.
#pragma once

#include <garrick/base/platform.hpp>

#include <array>
#include <atomic>
#include <cstdint>

namespace garrick::core {

class drain_lot {
 public:
  [[nodiscard]] std::uint32_t epoch(std::uint64_t id) const noexcept {
    return at(id).word.load(std::memory_order_acquire);  // order: before the tag is set; pairs with wake
  }
  void wait(std::uint64_t id, std::uint32_t epoch, std::int64_t limit_ns) noexcept { base::platform::futex_wait_for(at(id).word, epoch, static_cast<std::uint64_t>(limit_ns)); }
  void wake(std::uint64_t id) noexcept {
    at(id).word.fetch_add(1, std::memory_order_acq_rel);  // order: after the tag was cleared; pairs with epoch
    base::platform::futex_wake_all(at(id).word);
  }

 private:
  static constexpr std::size_t slots = 64;
  struct alignas(64) slot {
    std::atomic<std::uint32_t> word{0};
  };
  [[nodiscard]] slot& at(std::uint64_t id) noexcept { return slots_[id % slots]; }
  [[nodiscard]] const slot& at(std::uint64_t id) const noexcept { return slots_[id % slots]; }
  std::array<slot, slots> slots_;
};

}  // namespace garrick::core
