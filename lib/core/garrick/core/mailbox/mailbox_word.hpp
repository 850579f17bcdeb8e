// The word of a mailbox: its bits, the functions that set and clear each bit, and the rules that
// hold while a bit is set.
//
// The functions named below are the transitions of mailbox.hpp, and the invariants I1 to I7, H1 and
// H2 are at its top. L1 to L4 are in cell_steps.hpp.
//
// Private: installed because mailbox.hpp needs it.
//
// Thread safety: constants only.
#pragma once

#include <garrick/base/platform/supported.hpp>

#include <cstdint>

namespace garrick::core {

/// The mailbox's word, taken apart:
///
///     63            48 47                                    6 5    0
///    | count of pushes |  address of the newest envelope / 64 | tags |
///
/// Each envelope begins at a cache line, so the six lowest bits of its address are free for the
/// tags. The 16 highest bits are zero in every address that the block pool gives
/// (`base::address_bits`).
struct mailbox_word {
  /// No strong handle is left, so no thread can push any more, except to report another actor's end
  /// while a thread has the run right.
  /// Set by the drop of the last strong handle. Cleared by the runner alone, in `undrop`, when it
  /// makes a handle to its own actor.
  /// Once it is set exactly one thread reclaims the actor: the dropper if `idle` was set, else the
  /// runner, whose `release` fails (L2).
  static constexpr std::uint64_t unreachable = 1u << 0;

  /// The system lane holds a signal.
  /// Set by `push_signal`, after the signal was linked. Cleared by the runner in `take_signals`,
  /// before it takes the lane, so that a signal which comes in between is announced again.
  /// While it is set `release` fails, and the runner drains the lane before the next message (I6).
  static constexpr std::uint64_t signal = 1u << 1;

  /// A sender waits for room, or is about to.
  /// Set by `ask_to_wait`. Cleared by the runner in `clear_waiting`, before it advances the wake-up
  /// word.
  /// While it is set `release` fails, so the runner wakes the waiting senders before the actor goes
  /// idle. A `release` that is told to overlook it succeeds and leaves it set.
  static constexpr std::uint64_t waiting = 1u << 2;

  /// No thread holds the run right, and the address is null.
  /// Set by `release`, which the spawner calls, too, for an actor that starts lazily. Cleared by
  /// the first `push` or `push_signal` that finds it, which must then schedule the actor, or by
  /// `claim_idle`, whose caller gets the run right.
  /// While it is set the runner's state belongs to no thread, and none touches it (I1, I2).
  static constexpr std::uint64_t idle = 1u << 3;

  /// The actor has ended.
  /// Set by the runner in `close`, and never cleared.
  /// From then on the address is null and pushes fail. A signal that still gets into the lane is
  /// taken by its own pusher or by the runner that closes (`take_signals_of_the_dead`).
  /// Together with `stalled` it means `elsewhere`.
  static constexpr std::uint64_t closed = 1u << 4;

  /// The actor awaits a response or its restart, so running it would free no room in its mailbox.
  /// An idle actor that keeps skipped messages does not have the tag: the next push lets it run.
  /// Set by the runner, in `set_stalled` or along with `idle` in `release`. Cleared by the push of
  /// a response, and by the runner in `set_stalled` or in a `release` without the flag (H2).
  /// While it is set senders do not wait for room: the mailbox grows instead. A child that awaits
  /// its restart has the tag, too, but its senders may wait for the restart (invariant 5 of
  /// drain_lot.hpp).
  static constexpr std::uint64_t stalled = 1u << 5;

  /// The mailbox is a proxy's, whose actor lives elsewhere: no message is ever taken here.
  /// Set by the proxy, in `close` and `set_stalled`, before another thread knows the cell. The
  /// proxy's end clears `stalled`, and then the proxy counts as an actor that has ended.
  /// While both are set, no sender can push, wait or schedule, so each takes a slow path, which
  /// leads to the proxy (proxy_cell.hpp). No actor of this process has both: `close` clears
  /// `stalled`.
  static constexpr std::uint64_t elsewhere = closed | stalled;

  static constexpr std::uint64_t tags = 63;                         ///< all of these
  static constexpr std::uint64_t one = 1ull << base::address_bits;  ///< one push, in the count
  static constexpr std::uint64_t address = (one - 1) & ~tags;       ///< the bits of the address
  static constexpr std::uint64_t count_half = 1ull << 63;           ///< the count's highest bit

  /// Returns true if no thread runs the actor, and none will again except to end it.
  static bool is_left(std::uint64_t word) noexcept {
    return (word & (idle | unreachable)) == (idle | unreachable);
  }
  /// Returns the number of pushes so far, modulo 2^16.
  static std::uint32_t count(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> base::address_bits);
  }
};

}  // namespace garrick::core
