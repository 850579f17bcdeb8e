// Returns memory to the operating system after a burst: memory that no size class of the block pool
// needs, in small slices, on the clock's thread.
//
// No timer is armed while the idle memory is less than the amount to keep, so an idle system does
// not wake for it.
//
// Private: installed because system_core.hpp needs it.
//
// Thread safety: any thread. Invariant: while there is too much idle memory, a slice is armed or
// running, so all of the excess is returned.
#pragma once

#include <garrick/base/memory/block_pool.hpp>
#include <garrick/base/time/clock.hpp>

#include <atomic>
#include <cstdint>

namespace garrick::system {

/// A system's caretaker of the process's block pool.
class memory_keeper final : public base::block_pool::caretaker {
 public:
  /// Begins to watch the block pool. `keep` is in MiB; with the largest number no memory is
  /// returned. After `leave`, the clock must end before this object does, since a slice may still
  /// be armed.
  void start(base::clock_service& clock, std::uint32_t keep) noexcept;

 private:
  void wake() noexcept override;
  void slice() noexcept;

  base::clock_service* clock_ = nullptr;
  std::atomic<bool> armed_{false};
};

}  // namespace garrick::system
