// The time for which an actor takes part in work before others have a turn on its worker, and the
// length of the blocks in which it works.
//
// Private: installed because templates need it.
//
// Thread safety: stateless.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/patterns/team/shared_work.hpp>
#include <garrick/patterns/team/shares.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace garrick::patterns::detail {

/// The longest turn of an actor that takes part.
inline constexpr duration turn_length = duration::milliseconds(1);

/// Returns true if a turn of `on` that began at `begin` should end now. The actor that was asked
/// ends its turn early to begin the requests in its mailbox, since helpers may have time for them.
/// By a virtual clock no time passes during a turn: so that others take part in a test system, too,
/// such a turn ends after each block.
[[nodiscard]] inline bool turn_is_over(instant begin, instant now, const seat& at,
                                       const actor_base& on) noexcept {
  return now == begin || now - begin >= turn_length || (at.was_asked && on.mailbox_length() != 0);
}

/// Returns the next block of the piece that `at` has begun, which is not empty.
[[nodiscard]] inline piece take_block(seat& at, bool whole_piece) noexcept {
  piece block = at.begun;
  if (!whole_piece && block.end - block.begin > at.block) block.end = block.begin + at.block;
  at.begun.begin = block.end;
  return block;
}
/// Makes the next block longer or shorter, by the time of the last one.
inline void adapt_block(seat& at, std::int64_t took_ns) noexcept {
  constexpr std::int64_t short_ns = 25'000;
  constexpr std::int64_t long_ns = 100'000;
  constexpr std::size_t longest_block = 1U << 20;
  if (took_ns < short_ns)
    at.block = std::min(at.block * 2, longest_block);
  else if (took_ns > long_ns)
    at.block = std::max<std::size_t>(at.block / 2, 1);
}

/// Returns how many participants, at most `most`, should share work that takes one participant
/// `ns` nanoseconds.
[[nodiscard]] inline std::size_t hands_worth(double ns, std::size_t most) noexcept {
  const double worth = 1 + ns / static_cast<double>(wake_up_ns);
  return worth < static_cast<double>(most) ? static_cast<std::size_t>(worth) : most;
}

}  // namespace garrick::patterns::detail
