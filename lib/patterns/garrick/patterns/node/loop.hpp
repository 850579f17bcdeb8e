// How many tuples are on their way round a feedback loop. The gate at its entrance lets others in
// only while there are credits, so the loop's channels never fill up with tuples that came from
// outside; and the loop is over when nothing comes from outside and nothing is on its way.
//
// Private: installed because templates need it.
//
// Thread safety: any thread.
//
// Invariants
// L1 A tuple is counted before it is in a channel of the loop, and until the node that took it has
//    counted what it made of it. So the count is zero only if nothing is on its way. What goes on
//    to the next stage is no longer counted, even while it finds no room there: the next stage may
//    be this loop's gate, in a loop around it.
// L2 Who brings the count to zero, or to half of the credits, wakes the gate if that sleeps (F1).
#pragma once

#include <garrick/patterns/node/sleeper_flag.hpp>
#include <garrick/patterns/node/wakeable.hpp>

#include <atomic>
#include <cstddef>

namespace garrick::patterns::detail {

/// The count and the credits of one loop.
class loop {
 public:
  explicit loop(std::size_t credits) noexcept : credits_(credits) {}

  /// Whom `remove` wakes. While the graph is built.
  void gated_by(wakeable& gate) noexcept { gate_ = &gate; }
  /// So many tuples come into the loop's channels.
  void add(std::size_t n) noexcept {
    // order: seq_cst, as the fence of the gate's flag
    count_.fetch_add(n, std::memory_order_seq_cst);
  }
  /// So many were dealt with, or have left.
  void remove(std::size_t n) noexcept;

  /// How many may come in from outside.
  [[nodiscard]] std::size_t credits() const noexcept {
    // order: acquire; what has left the loop
    const std::size_t n = count_.load(std::memory_order_acquire);
    return n < credits_ ? credits_ - n : 0;
  }
  /// Is nothing on its way?
  [[nodiscard]] bool is_empty() const noexcept {
    return count_.load(std::memory_order_acquire) == 0;  // order: as above
  }
  /// The gate will sleep until `remove` has brought the count down.
  void gate_sleeps() noexcept { sleeps_.set(); }
  [[nodiscard]] bool has_enough_credits() const noexcept { return credits() >= (credits_ + 1) / 2; }

  /// Nothing comes any more. By the gate.
  void end() noexcept {
    over_.store(true, std::memory_order_release);  // order: pairs with is_over
  }
  [[nodiscard]] bool is_over() const noexcept {
    return over_.load(std::memory_order_acquire);  // order: pairs with end
  }

 private:
  const std::size_t credits_;
  wakeable* gate_ = nullptr;
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> over_{false};
  sleeper_flag sleeps_;
};

}  // namespace garrick::patterns::detail
