// The token of an item in a queue: with it a thread may claim the item, to run it at once.
//
// Problem: a sender whose receiver is over its limit wants to run it at once, but cannot take it
// out of the middle of a queue. So the queue entry stays behind, *stale*, and the thread that takes
// the entry out drops it. Meanwhile the runnable may be offered again, or its owner may give it up.
//
// Thread safety: `offer` and `has_stale_entry` belong to the holder of the run right, `take` to the
// thread that took the entry out of its queue, `retire` to the owner at the end; `claim` may be
// called by any thread that keeps the runnable alive.
//
// Invariants (T1–T3 of runnable.hpp)
// T1 The holder of the run right calls `offer` before it puts the runnable into a queue that other
//    threads can reach; if `offer` returns false the old entry has become valid again, and nothing
//    is queued. A runnable that was never offered (in a private next slot) cannot be claimed.
// T2 Of one `take` and one `claim` of an offered runnable exactly one succeeds, and gets the run
//    right.
// T3 A runnable with a stale entry is not freed by its owner but by the thread that takes the entry
//    out.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>

#include <atomic>
#include <cstdint>

namespace garrick::base {

/// The memory orders below that the model checker weakens, one at a time.
enum class token_order : std::uint8_t {
  looks,         ///< tests if an old entry uses the queue's link
  offer_looks,   ///< tests if an old entry is left
  offer_again,   ///< the old entry becomes valid
  offer_lost,    ///< the old entry was dropped just now
  offer,         ///< a new entry is queued
  take,          ///< an entry came out of a queue
  claim,         ///< the run right goes to a claimer
  retire_looks,  ///< tests if an old entry is left
  retire,        ///< the old entry's taker frees the runnable
  retire_lost,   ///< the old entry was dropped just now
};

/// The meaning of an entry that came out of a queue.
enum class take_outcome : std::uint8_t {
  taken,   ///< with the run right
  stale,   ///< the run right is elsewhere: forget it
  orphan,  ///< its owner has gone: free it
};

/// Records where a runnable's run right is while a queue holds an entry of the runnable. One byte.
template <class Atomics = real_atomics>
class run_token {
 public:
  /// Prepares the runnable for a queue. Returns true if it must be queued; false if its stale entry
  /// in a queue is valid again. For the holder of the run right (T1).
  [[nodiscard, gnu::hot]] bool offer() noexcept {
    // order: acquire, pairs with take: the thread that dropped a stale entry has read the queue's
    // link before it is written again
    std::uint8_t seen =
        token_.load(order<Atomics, token_order::offer_looks>(std::memory_order_acquire));
    if (seen == stale) {
      // order: release, pairs with take and claim: the next one reads this holder's writes; relaxed
      // on failure, see below
      if (token_.compare_exchange_strong(
              seen, queued, order<Atomics, token_order::offer_again>(std::memory_order_release),
              std::memory_order_relaxed))
        return false;
      // order: acquire, pairs with take: the entry was dropped just now; a load, since the checker
      // knows no failed swap that acquires more than a successful one
      static_cast<void>(
          token_.load(order<Atomics, token_order::offer_lost>(std::memory_order_acquire)));
    }
    // order: release, pairs with take and claim
    token_.store(queued, order<Atomics, token_order::offer>(std::memory_order_release));
    return true;
  }

  /// Returns the meaning of an entry, to the thread that took it out of its queue. Returns `taken`
  /// also for a runnable that was never offered (T2).
  [[nodiscard]] take_outcome take() noexcept {
    // order: relaxed; a private slot's occupant, written by this thread
    if (token_.load(std::memory_order_relaxed) == none) return take_outcome::taken;
    return take_offered();
  }

  /// Returns true if the runnable waited in a queue; the caller then holds its run right. Any
  /// thread that keeps the runnable alive (T2).
  [[nodiscard]] bool claim() noexcept {
    std::uint8_t seen = queued;
    // order: acquire, pairs with offer: the last holder's writes
    return token_.compare_exchange_strong(
        seen, stale, order<Atomics, token_order::claim>(std::memory_order_acquire),
        std::memory_order_relaxed);
  }

  /// Returns true if an entry in a queue stands for the run right. Any thread; an estimate.
  [[nodiscard]] bool is_queued() const noexcept {
    return token_.load(std::memory_order_relaxed) == queued;  // order: relaxed; an estimate
  }

  /// Returns true if an old entry is left in a queue: the runnable then needs an `offer` to be
  /// queued. If false, the queue's link is free, and the runnable may go into a private slot
  /// without an `offer`. For the holder of the run right.
  [[nodiscard]] bool has_stale_entry() const noexcept {
    // order: acquire, pairs with take: the thread that dropped an old entry has read the queue's
    // link before this holder writes it
    return token_.load(order<Atomics, token_order::looks>(std::memory_order_acquire)) == stale;
  }

  /// Gives the runnable up. For the owner, at the end. Returns true if the caller must free it;
  /// false if a stale entry is left, and the thread that takes that entry out frees the runnable
  /// (T3).
  [[nodiscard]] bool retire() noexcept {
    std::uint8_t seen = stale;
    // order: acquire, pairs with take: a thread that dropped a stale entry touches the runnable no
    // more
    if (token_.load(order<Atomics, token_order::retire_looks>(std::memory_order_acquire)) != stale)
      return true;
    // order: release, pairs with take: the owner is done with the runnable before it is freed
    // there; relaxed on failure, see below
    if (token_.compare_exchange_strong(
            seen, orphan, order<Atomics, token_order::retire>(std::memory_order_release),
            std::memory_order_relaxed))
      return false;
    // order: acquire, pairs with take: the entry was dropped just now
    static_cast<void>(
        token_.load(order<Atomics, token_order::retire_lost>(std::memory_order_acquire)));
    return true;
  }

 private:
  [[nodiscard]] take_outcome take_offered() noexcept {
    // order: acq_rel: acquires the writes of the last holder or the owner; releases the removal to
    // a later `offer` or `retire`
    const std::uint8_t was =
        token_.exchange(none, order<Atomics, token_order::take>(std::memory_order_acq_rel));
    return was == queued   ? take_outcome::taken
           : was == orphan ? take_outcome::orphan
                           : take_outcome::stale;
  }

  static constexpr std::uint8_t none = 0;    ///< in no queue, or in a private slot
  static constexpr std::uint8_t queued = 1;  ///< an entry in a queue stands for the run right
  static constexpr std::uint8_t stale = 2;   ///< an entry in a queue has no effect
  static constexpr std::uint8_t orphan = 3;  ///< as stale, and its owner has gone
  typename Atomics::template atomic<std::uint8_t> token_{none};
};

}  // namespace garrick::base
