// Which packets of the peer have come: what is new, what is a duplicate, what is still missing.
//
// Only numbers are kept, a bit each, since packets are passed up at once. So memory is the same
// however a peer behaves.
//
// Invariants:
//   R1  All before next_ have come; next_ itself has not.
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

/// Packets that have come, beyond one that has not.
struct packet_range {
  std::uint16_t offset;  ///< of the first, from the oldest packet that is missing; at least 1
  std::uint16_t count;   ///< how many; at least 1

  friend constexpr bool operator==(const packet_range&, const packet_range&) = default;
};

/// What has come of a session's packets.
class received_packets {
 public:
  /// What a packet is that comes.
  enum class arrival : std::uint8_t {
    in_order,   ///< the next one, and nothing was missing
    ahead,      ///< one or more before it are missing
    late,       ///< one that was missing
    duplicate,  ///< it was here before
    beyond,     ///< further ahead than anybody may be
  };

  /// Records the packet `s`, if it is neither a duplicate nor beyond.
  [[nodiscard]] arrival record(sequence_number s) noexcept;

  /// True if `record` would say that it is new.
  [[nodiscard]] bool awaits(sequence_number s) const noexcept;
  /// The oldest packet that is missing: all before have come.
  [[nodiscard]] sequence_number next() const noexcept { return next_; }
  /// True if one has come after one that is missing.
  [[nodiscard]] bool has_gaps() const noexcept { return next_ != end_; }
  /// What has come beyond `next()`, ascending, with something missing between each two: the ranges
  /// with the highest numbers, if there are more than `into` holds. Returns how many.
  [[nodiscard]] std::size_t ranges(std::span<packet_range> into) const noexcept;
  /// How many packets were missing when one behind them came, in all.
  [[nodiscard]] std::uint64_t gaps() const noexcept { return gaps_; }

 private:
  sequence_number next_ = first_sequence;
  sequence_number end_ = first_sequence;
  std::uint64_t gaps_ = 0;
  sequence_set ahead_;
};

}  // namespace garrick::net
