// Packets that come in parts, because the path has become too narrow for them.
//
// A packet keeps its bytes from its first transmission on, since the other end may have it already.
// So when a path becomes narrower, `reliability` sends its kept packets in parts, each a datagram
// of its own, and acknowledges a packet when it is whole. Parts of several transmissions add up,
// also if these were cut differently.
//
// Only few packets are joined at a time. The packets nearest to the oldest missing one have
// precedence. So one packet always gets through, and memory does not depend on the peer.
//
// Invariants:
//   P1  Each packet in partial_ has a number of its own, and misses at least one byte.
//   P2  There are at most `most` such packets, of at most 65535 bytes each.
//
// Thread safety: none; a layer's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "garrick/net/layer/reliability/sequence.hpp"

namespace garrick::net {

/// The place of a part in its packet.
struct packet_part {
  std::uint16_t size = 0;    ///< bytes of the packet
  std::uint16_t offset = 0;  ///< the part's place
};

/// Joins packets.
class packet_parts {
 public:
  static constexpr std::size_t most = 8;  ///< packets that are joined at a time

  /// Adds a part of the packet `s`, which has not come yet. Returns the packet if that makes it
  /// whole. Drops a part that no packet can have, that contradicts another, or for which there is
  /// no room. Throws std::bad_alloc.
  [[nodiscard]] std::optional<std::vector<std::byte>> add(sequence_number s, packet_part where,
                                                          std::span<const std::byte> part);
  /// Forgets a packet that has come as a whole.
  void forget(sequence_number s) noexcept;
  /// Returns the number of packets that are not whole.
  [[nodiscard]] std::size_t size() const noexcept { return partial_.size(); }

 private:
  struct partial {
    sequence_number number;
    std::size_t missing;  ///< bytes
    std::vector<std::byte> bytes;
    std::vector<bool> come;  ///< by byte
  };
  [[nodiscard]] partial* room_for(sequence_number s, std::size_t size);

  std::vector<partial> partial_;
};

}  // namespace garrick::net
