// The right to run a node. A node is run by one thread at a time, and a thread that has work for
// the node asks for a run without waiting.
//
// Private: installed because templates need it.
//
// Thread safety: `ask` is for any thread; the others are for the holder of the run right.
//
// Invariants (N1–N3)
// N1 At most one thread holds the run right. `ask` creates it if no thread holds it, and then the
//    caller is the holder; `release` ends it.
// N2 If a thread has asked since the holder's last `look`, `release` fails. So actions before an
//    `ask` are seen by a holder that looks after it.
// N3 The writes of a holder are seen by the next one.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>

#include <atomic>
#include <cstdint>

namespace garrick::patterns::detail {

/// The memory orders of the run right that the model checker weakens, one at a time.
enum class run_right_order : std::uint8_t {
  ask,      ///< a thread has work for the node
  look,     ///< the holder is about to look
  release,  ///< the holder is done
};

/// The run right as a word of two bits: it is held; a thread has asked since the last look.
template <class Atomics = base::real_atomics>
class basic_run_right {
 public:
  /// Asks for a run. Returns true if the caller holds the run right now; otherwise the holder will
  /// look again.
  [[nodiscard]] bool ask() noexcept {
    // order: acq_rel: the asker's actions, to the holder's look or release; the former holder's
    // writes, to the asker
    const std::uint32_t was = word_.fetch_or(
        held | asked, base::order<Atomics, run_right_order::ask>(std::memory_order_acq_rel));
    return (was & held) == 0;
  }

  /// Called before the holder looks for the work of all threads that have asked until now.
  void look() noexcept {
    // order: relaxed; an ask that this load does not see makes `release` fail. A load costs less
    // than a write, and mostly no thread has asked since the last step
    if ((word_.load(std::memory_order_relaxed) & asked) == 0) return;
    // order: acquire, pairs with ask: the askers' actions
    word_.fetch_and(~asked, base::order<Atomics, run_right_order::look>(std::memory_order_acquire));
  }

  /// Gives the run right up. Returns false, and keeps it, if a thread has asked since the last
  /// look.
  [[nodiscard]] bool release() noexcept {
    std::uint32_t seen = held;
    // order: release: this holder's writes, to the next one
    return word_.compare_exchange_strong(
        seen, 0, base::order<Atomics, run_right_order::release>(std::memory_order_release),
        std::memory_order_relaxed);  // order: relaxed; the look that follows acquires
  }

  /// Returns true if a thread holds the run right. A hint.
  [[nodiscard]] bool is_held() const noexcept {
    return (word_.load(std::memory_order_relaxed) & held) != 0;  // order: relaxed; a hint
  }

 private:
  static constexpr std::uint32_t held = 1;
  static constexpr std::uint32_t asked = 2;
  typename Atomics::template atomic<std::uint32_t> word_{0};
};

/// The product's run right.
using run_right = basic_run_right<base::real_atomics>;

}  // namespace garrick::patterns::detail
