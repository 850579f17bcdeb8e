// Lends the run right of a node to an actor that may end at any time.
//
// Problem: if the `go` stood for the run right, an actor that ends would lose the right with its
// mail, and no thread could ever run the node again. So the right has a token of its own. The actor
// takes the token when the `go` arrives. If the actor has ended, the thread that finds that out
// takes the token.
//
// Private: installed because templates need it.
//
// Thread safety: `lend` belongs to the holder of the run right; `take` and `end` to the actor.
//
// Invariants
// B1 The run right that is lent is taken once: by the actor or, if the actor has ended, by `end` or
//    by `lend`, whichever comes last.
// B2 The thread that takes the right sees the lender's writes; a thread that finds the actor ended
//    sees the actor's writes.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>

#include <atomic>
#include <cstdint>

namespace garrick::patterns::detail {

/// The memory orders of lent turns that the model checker weakens, one at a time.
enum class borrowed_order : std::uint8_t {
  lend,   ///< the holder gives the run right away
  take,   ///< the actor, or a thread that finds the actor ended, takes the run right
  ended,  ///< the actor says that it has ended
  looks,  ///< the holder looks whether the actor has ended
};

/// The turns of an actor at a node.
template <class Atomics = base::real_atomics>
class basic_borrowed_turns {
 public:
  /// Lends the run right to the actor; `tell()` sends the `go`. Returns false if the actor has
  /// ended; the caller then has the right.
  template <class Tell>
  [[nodiscard]] bool lend(Tell&& tell) {
    if (has_ended()) return false;
    // order: acq_rel: the lender's writes, to the thread that takes the right. And of this exchange
    // and the one in `end`, the later sees the writes before the earlier
    lent_.exchange(true, base::order<Atomics, borrowed_order::lend>(std::memory_order_acq_rel));
    tell();
    return !has_ended() || !take();
  }
  /// Called when a `go` has come. Returns true if the run right was lent with it; then the caller
  /// has the right.
  [[nodiscard]] bool take() noexcept {
    // order: acq_rel, as in lend
    return lent_.exchange(false,
                          base::order<Atomics, borrowed_order::take>(std::memory_order_acq_rel));
  }
  /// Called when the actor has ended and touches the node no more. Returns true if the run right
  /// was lent to the actor; the caller then has it.
  [[nodiscard]] bool end() noexcept {
    // order: release: the actor's writes, to the lender
    ended_.store(true, base::order<Atomics, borrowed_order::ended>(std::memory_order_release));
    return take();
  }

 private:
  [[nodiscard]] bool has_ended() const noexcept {
    // order: acquire, pairs with end
    return ended_.load(base::order<Atomics, borrowed_order::looks>(std::memory_order_acquire));
  }

  typename Atomics::template atomic<bool> lent_{false};
  typename Atomics::template atomic<bool> ended_{false};
};

/// The product's turns.
using borrowed_turns = basic_borrowed_turns<base::real_atomics>;

}  // namespace garrick::patterns::detail
