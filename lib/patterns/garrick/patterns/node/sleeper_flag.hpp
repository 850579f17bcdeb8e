// A flag that says that one side sleeps until the other side has changed something.
//
// Problem: a side that changes something often must not pay a locked operation each time for the
// rare case that the other side sleeps.
//
// Private: installed because templates need it.
//
// Thread safety: `set` belongs to the side that sleeps; `take` is for any thread.
//
// Invariants
// F1 The sleeper calls `set`, looks, and sleeps only if it finds nothing. The other side changes
//    something, and then calls `take`. Each side has a full fence between its write and its read,
//    so at least one of them sees the other's write: the sleeper misses no change that it waits
//    for.
// F2 For each `set` only one call of `take` returns true. So one change wakes the sleeper once.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>

#include <atomic>
#include <cstdint>

namespace garrick::patterns::detail {

/// The fences of a sleeper's flag, which the model checker leaves out, one at a time.
enum class sleeper_order : std::uint8_t {
  set_fence,   ///< the sleeper has set its flag, and looks
  take_fence,  ///< the other side has changed something, and looks for a sleeper
};

/// The flag of a side: it sleeps, or is about to.
template <class Atomics>
class basic_sleeper_flag {
 public:
  /// Sets the flag of a side that is about to sleep. The caller must look again right after this
  /// call.
  void set() noexcept {
    waits_.store(true, std::memory_order_relaxed);  // order: relaxed; the fence orders it
    Atomics::template fence_at<sleeper_order::set_fence>();
  }
  /// Called after the other side has changed something. Returns true if the caller must wake the
  /// sleeper now.
  [[nodiscard]] bool take() noexcept {
    Atomics::template fence_at<sleeper_order::take_fence>();
    // order: relaxed; the fence orders it
    if (!waits_.load(std::memory_order_relaxed)) return false;
    // order: relaxed; waking goes through the run right, which orders everything
    return waits_.exchange(false, std::memory_order_relaxed);
  }

 private:
  typename Atomics::template atomic<bool> waits_{false};
};

/// The product's flag.
using sleeper_flag = basic_sleeper_flag<base::real_atomics>;

}  // namespace garrick::patterns::detail
