// The pieces of a container, and their claims in each of several phases. A phase begins when all of
// the phase before is done.
//
// Problem: at the usual barrier all threads wait for the last one. Here no thread waits: a thread
// that finds nothing to claim goes away, and the thread that finishes the last part of a phase
// begins the next one and calls back those that it wants.
//
// Data flow: a claim is a count that only grows. For a cut `by_hand`, each piece has the number of
// phases in which it was claimed; otherwise one number counts the pieces claimed in all phases. So
// nothing is reset between phases but `left_`, which no thread touches then.
//
// Private: installed because templates need it.
//
// Thread safety: `belongs_to` comes before the others. `begin_next` is for the thread to which
// `finish` has returned true; the rest is for all threads that take part.
//
// Invariants
// P1 Each piece is claimed by one thread in each phase, and not before that phase begins. A thread
//    that comes late from an earlier phase claims nothing: the counts of its phase have passed.
// P2 `finish` returns true once in each phase, to the thread that has finished the last element. No
//    thread has a piece then. That thread, and a thread that claims a piece of the next phase, sees
//    all writes of the others.
// P3 A thread that begins a phase and then calls `call` for all participants finds each that is
//    away. A participant that it does not find has seen the new phase, or looks again.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/patterns/node/sleeper_flag.hpp>
#include <garrick/patterns/team/shares.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace garrick::patterns::detail {

/// The memory orders that the model checker weakens, one at a time.
enum class phases_order : std::uint8_t {
  look,    ///< a thread looks for the present phase
  finish,  ///< a thread has finished some elements
  begin,   ///< the next phase begins
};

/// The pieces of a container, and their claims in the present phase.
template <class Atomics = base::real_atomics>
class basic_phases {
 public:
  /// Begins the first phase, number 0, with no piece claimed.
  explicit basic_phases(const cut& c)
      : cut_(c), claims_(std::make_unique<count[]>(c.by_hand ? c.pieces : 1)), left_(c.size) {}

  [[nodiscard]] const cut& how() const noexcept { return cut_; }

  /// Sets the participants, which have the numbers below `hands`: the first `begin` of them are
  /// present, and the others are away.
  void belongs_to(std::size_t hands, std::size_t begin) {
    away_ = std::make_unique<flag[]>(hands);
    hands_ = hands;
    for (std::size_t i = begin; i < hands; ++i) away_[i].set();
  }
  [[nodiscard]] std::size_t hands() const noexcept { return hands_; }

  /// Returns the number of the present phase, to a thread that has a piece, or to which `finish`
  /// has just returned true. For other threads the number is a hint.
  [[nodiscard]] std::uint64_t now() const noexcept {
    // order: relaxed: a thread with a piece has looked, and the phase lasts until the piece is done
    return phase_.load(std::memory_order_relaxed);
  }

  /// Claims a piece for participant `who` in the present phase, and sets `phase` to the number of
  /// that phase. Returns false if `who` is away now, or was called in the meantime; in either case
  /// the caller leaves.
  [[nodiscard]] bool claim(std::size_t who, piece& claimed, std::uint64_t& phase) noexcept {
    for (;;) {
      // order: acquire: the writes of the phases before, from `begin_next`
      phase = phase_.load(base::order<Atomics, phases_order::look>(std::memory_order_acquire));
      if (claim_in(phase, who, claimed)) return true;
      away_[who].set();
      // order: relaxed: the next turn of the loop looks again
      if (phase_.load(std::memory_order_relaxed) == phase || !away_[who].take()) return false;
    }
  }
  /// Returns true if there is something to claim. A hint.
  [[nodiscard]] bool has_pieces() const noexcept {
    const std::uint64_t phase = now();
    // order: relaxed: a hint
    if (!cut_.by_hand) return claims_[0].load(std::memory_order_relaxed) < end_of(phase);
    for (std::size_t i = 0; i < cut_.pieces; ++i)
      if (claims_[i].load(std::memory_order_relaxed) == phase) return true;  // order: a hint
    return false;
  }
  /// Counts this many elements as done. Returns true if they were the last ones of this phase.
  [[nodiscard]] bool finish(std::size_t elements) noexcept {
    // order: acq_rel: earlier writes, to the thread that finishes the last ones
    return left_.fetch_sub(elements, base::order<Atomics, phases_order::finish>(
                                         std::memory_order_acq_rel)) == elements;
  }
  /// Begins the next phase. For the thread to which `finish` has returned true, once.
  void begin_next() noexcept {
    // order: relaxed: a thread that claims a piece has seen the new phase, and that orders it
    left_.store(cut_.size, std::memory_order_relaxed);
    // order: release: the writes of all phases, to the look in `claim`
    phase_.store(now() + 1, base::order<Atomics, phases_order::begin>(std::memory_order_release));
  }
  /// Returns true if `who` is away; the caller has to call it back now.
  [[nodiscard]] bool call(std::size_t who) noexcept { return away_[who].take(); }
  /// Takes a `call` back, because `who` could not be called.
  void was_not_called(std::size_t who) noexcept { away_[who].set(); }

 private:
  using count = typename Atomics::template atomic<std::uint64_t>;
  using flag = basic_sleeper_flag<Atomics>;

  /// Returns the number of pieces in all phases up to and including this one.
  [[nodiscard]] std::uint64_t end_of(std::uint64_t phase) const noexcept {
    return (phase + 1) * cut_.pieces;
  }
  [[nodiscard]] bool claim_in(std::uint64_t phase, std::size_t who, piece& claimed) noexcept {
    // order: relaxed, here and below: a thread that has seen the phase has seen all claims of the
    // phases before it, and the contents of the pieces
    if (!cut_.by_hand) {
      std::uint64_t n = claims_[0].load(std::memory_order_relaxed);  // order: as above
      while (n < end_of(phase)) {
        // order: relaxed: as above
        if (!claims_[0].compare_exchange_weak(n, n + 1, std::memory_order_relaxed,
                                              std::memory_order_relaxed))
          continue;
        claimed = cut_.at(static_cast<std::size_t>(n - phase * cut_.pieces));
        return true;
      }
      return false;
    }
    const std::size_t first = hands_ == 0 ? 0 : who * (cut_.pieces / hands_);
    for (std::size_t i = 0; i < cut_.pieces; ++i) {
      const std::size_t number = (first + i) % cut_.pieces;
      std::uint64_t n = claims_[number].load(std::memory_order_relaxed);  // order: as above
      // order: relaxed: as above
      if (n != phase || !claims_[number].compare_exchange_strong(
                            n, phase + 1, std::memory_order_relaxed, std::memory_order_relaxed))
        continue;
      claimed = cut_.at(number);
      return true;
    }
    return false;
  }

  const cut cut_;
  std::size_t hands_ = 0;  ///< does not change after `belongs_to`
  const std::unique_ptr<count[]> claims_;
  std::unique_ptr<flag[]> away_;  ///< for each participant
  typename Atomics::template atomic<std::uint64_t> phase_{0};
  typename Atomics::template atomic<std::size_t> left_;  ///< elements not done in this phase
};

using phases = basic_phases<base::real_atomics>;

}  // namespace garrick::patterns::detail
