// The header of `reliability`, as bytes (docs/wire.md, "reliability").
//
// Thread safety: plain values and functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "garrick/net/layer/reliability/packet_parts.hpp"
#include "garrick/net/layer/reliability/received_packets.hpp"
#include "garrick/net/layer/reliability/sequence.hpp"

namespace garrick::net {

/// The packets that one end has received, as it tells the other end.
struct acknowledgement {
  /// The most ranges.
  static constexpr std::size_t most_ranges = 32;
  /// Bytes of an acknowledgement without ranges.
  static constexpr std::size_t fixed_size = 12;
  static constexpr std::size_t range_size = 4;  ///< bytes of each range

  sequence_number next = 0;                      ///< the oldest packet that is missing
  sequence_number newest = 0;                    ///< the packet that came last
  std::uint8_t attempt = 0;                      ///< its transmission
  std::uint16_t delay = 0;                       ///< microseconds since then; 65535: that or more
  std::uint8_t range_count = 0;                  ///< the number of `ranges`
  std::array<packet_range, most_ranges> ranges;  ///< ascending, apart from each other

  /// Returns the number of bytes that `encode` writes.
  [[nodiscard]] std::size_t size() const noexcept {
    return fixed_size + range_size * std::size_t{range_count};
  }
};

/// The header of one datagram.
struct reliability_header {
  /// Bytes of the flags.
  static constexpr std::size_t flags_size = 1;
  static constexpr std::size_t packet_size = 5;                    ///< bytes of number and attempt
  static constexpr std::byte with_packet = std::byte{1};           ///< a flag: a packet follows
  static constexpr std::byte with_acknowledgement = std::byte{2};  ///< a flag: one follows
  static constexpr std::byte with_part = std::byte{4};             ///< a flag: only a part follows
  static constexpr std::size_t part_size = 4;                      ///< bytes of size and offset

  bool has_packet = false;     ///< there is a packet behind the header
  sequence_number number = 0;  ///< the packet's
  std::uint8_t attempt = 0;    ///< the number of earlier transmissions; 255: that or more
  bool acknowledges = false;   ///< there is an acknowledgement
  acknowledgement received;    ///< the acknowledgement
  bool has_part = false;       ///< a part of the packet follows
  packet_part part;            ///< its place
  std::size_t size = 0;        ///< the header's size; the packet follows
};

/// Writes `a` to the `a.size()` bytes at `to`.
void encode(std::byte* to, const acknowledgement& a) noexcept;
/// Reads the header of a datagram. Returns false if the bytes break the rules of docs/wire.md, or
/// if ranges are not ascending and apart. The caller checks whether the numbers make sense.
[[nodiscard]] bool decode(std::span<const std::byte> bytes, reliability_header& into) noexcept;

}  // namespace garrick::net
