// The packets of the peer that have come: new ones, duplicates, gaps.
//
// Only their numbers are kept, a bit each, since packets are passed up at once. So memory is the
// same however a peer behaves.
//
// Invariants:
//   R1  All packets before next_ have come; next_ itself has not.
//   R2  next_ <= end_, and no member of ahead_ is outside [next_ + 1, end_); if next_ < end_,
//       end_ - 1 is a member. So ahead_ is empty if and only if next_ == end_.
//   R3  end_ - next_ <= sequence_window.
//
// Thread safety: none; a layer's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "garrick/net/layer/reliability/sequence.hpp"

namespace garrick::net {

/// Packets that have come beyond a missing one.
struct packet_range {
  std::uint16_t offset;  ///< of the first, from the oldest packet that is missing; at least 1
  std::uint16_t count;   ///< their number; at least 1

  friend constexpr bool operator==(const packet_range&, const packet_range&) = default;
};

/// The received packets of a session.
class received_packets {
 public:
  /// The kinds of arriving packets.
  enum class arrival : std::uint8_t {
    in_order,   ///< the next packet, without a gap
    ahead,      ///< earlier packets are missing
    late,       ///< a packet that was missing
    duplicate,  ///< it has come before
    beyond,     ///< further ahead than any packet may be
  };

  /// Records the packet `s`, if it is neither a duplicate nor beyond. Returns its kind.
  [[nodiscard]] arrival record(sequence_number s) noexcept;

  /// Returns true if the packet `s` is neither a duplicate nor beyond.
  [[nodiscard]] bool awaits(sequence_number s) const noexcept;
  /// Returns the oldest missing packet: all earlier ones have come.
  [[nodiscard]] sequence_number next() const noexcept { return next_; }
  /// Returns true if a packet has come after a missing one.
  [[nodiscard]] bool has_gaps() const noexcept { return next_ != end_; }
  /// Writes the ranges that have come beyond `next()`, ascending, with a gap between each two:
  /// those with the highest numbers, if there are more than `into` holds. Returns their number.
  [[nodiscard]] std::size_t ranges(std::span<packet_range> into) const noexcept;
  /// Returns how many packets in all were missing when a later one came.
  [[nodiscard]] std::uint64_t gaps() const noexcept { return gaps_; }

 private:
  sequence_number next_ = first_sequence;
  sequence_number end_ = first_sequence;
  std::uint64_t gaps_ = 0;
  sequence_set ahead_;
};

}  // namespace garrick::net
