// The number of tuples that are on their way round a feedback loop. The gate at the loop's entrance
// lets further tuples in only while there are credits, so the loop's channels never fill up with
// tuples that came from outside. The loop has ended when nothing comes from outside and nothing is
// on its way.
//
// Some stages hold tuples until others join them, as a batch does. If the source has ended and all
// tuples in the loop are held, no other will join them: the gate begins a flush round, in which
// these stages give up their tuples. The results leave the loop or go back, so there may be another
// round.
//
// Private: installed because templates need it.
//
// Thread safety: any thread.
//
// Invariants
// L1 A tuple is counted from before it is in a channel of the loop until the node that took it has
//    counted its results. So the count is zero only if nothing is on its way. Results that leave
//    the loop are no longer counted, even while they find no room in the stage behind it: in a loop
//    around this one, that room may come only when this loop's gate opens.
// L2 A tuple that a stage holds is counted in the other half of the same word. So the gate, which
//    reads both halves at once, never takes a tuple that is on its way for one that is held.
// L3 The thread that brings the count to half of the credits or less wakes the gate if the gate
//    sleeps (F1).
// L4 A flush is announced before the holders are woken, and each holder looks for it in each step.
#pragma once

#include <garrick/patterns/node/sleeper_flag.hpp>
#include <garrick/patterns/node/wakeable.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace garrick::patterns::detail {

/// The count and the credits of one loop.
class loop {
 public:
  explicit loop(std::size_t credits) noexcept : credits_(credits) {}

  /// Sets the gate, which `remove` wakes. Called while the graph is built.
  void gated_by(wakeable& gate) noexcept { gate_ = &gate; }
  /// Adds a node whose stage holds tuples and can give them up. Called while the graph is built.
  void has_holder(wakeable& w) { holders_.push_back(&w); }
  /// Counts `n` tuples that come into the loop's channels.
  void add(std::size_t n) noexcept {
    // order: seq_cst, as the fence of the gate's flag
    count_.fetch_add(n, std::memory_order_seq_cst);
  }
  /// Counts `n` tuples that were dealt with, or have left.
  void remove(std::size_t n) noexcept { settle(n, 0); }
  /// Counts `n` tuples that were dealt with by a stage that now holds `more` tuples than before. A
  /// negative `more`, modulo 2^64, means fewer.
  void settle(std::size_t n, std::size_t more) noexcept;

  /// Returns the number of tuples that may come in from outside. Tuples that a stage holds need no
  /// room in a channel.
  [[nodiscard]] std::size_t credits() const noexcept {
    // order: acquire; the effects of tuples that have left the loop
    const std::size_t n = moving(count_.load(std::memory_order_acquire));
    return n < credits_ ? credits_ - n : 0;
  }
  /// Returns true if no tuple is on its way, and none is held.
  [[nodiscard]] bool is_empty() const noexcept {
    return count_.load(std::memory_order_acquire) == 0;  // order: as above
  }
  /// Returns true if all tuples of the loop are held, or if there is none.
  [[nodiscard]] bool stands_still() const noexcept {
    return moving(count_.load(std::memory_order_acquire)) == 0;  // order: as above
  }
  /// Lets all stages give up the tuples that they hold. Called by the gate.
  void flush() noexcept;
  /// Returns the number of calls of `flush`. A holder that has not seen the last one gives up its
  /// tuples.
  [[nodiscard]] std::uint64_t flushes() const noexcept {
    return flushes_.load(std::memory_order_acquire);  // order: pairs with flush
  }
  /// Called before the gate sleeps until `remove` has brought the count down.
  void gate_sleeps() noexcept { sleeps_.set(); }
  [[nodiscard]] bool has_enough_credits() const noexcept { return credits() >= (credits_ + 1) / 2; }

  /// Ends the loop. Called by the gate.
  void end() noexcept {
    over_.store(true, std::memory_order_release);  // order: pairs with is_over
  }
  [[nodiscard]] bool is_over() const noexcept {
    return over_.load(std::memory_order_acquire);  // order: pairs with end
  }

 private:
  static constexpr int held_shift = 32;
  [[nodiscard]] static std::size_t moving(std::uint64_t count) noexcept {
    return count & 0xffff'ffffU;
  }

  const std::size_t credits_;
  wakeable* gate_ = nullptr;
  std::vector<wakeable*> holders_;
  std::atomic<std::uint64_t> count_{0};  ///< on their way; above `held_shift`: held
  std::atomic<std::uint64_t> flushes_{0};
  std::atomic<bool> over_{false};
  sleeper_flag sleeps_;
};

}  // namespace garrick::patterns::detail
