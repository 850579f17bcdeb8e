// The packets that were sent and not yet acknowledged, by number and in the order of their last
// transmission.
//
// A number finds its packet in a ring that grows with the packets in flight, up to the window of
// numbers. Packets in flight form a list through the ring in the order of transmission, so lost
// ones are found at its front. A lost packet waits in another list until it is sent again: one for
// urgent packets, and one for the others.
//
// Invariants:
//   T1  A number is a member of waiting_ if and only if it is in [oldest_, next_) and its packet is
//       not acknowledged; then its slot holds the packet, and is in exactly one list.
//   T2  oldest_ is a member, or equal to next_.
//   T3  next_ - oldest_ <= ring_.size() <= sequence_window; the ring's size is a power of two.
//
// Thread safety: none; a layer's own.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/layer/reliability/sequence.hpp"
#include "garrick/net/packet.hpp"

namespace garrick::net {

/// The cost of a packet on its way beyond its bytes: headers below, and the bookkeeping of sockets.
/// So a window of small packets does not flood a receiver whose buffer holds both.
inline constexpr std::size_t packet_overhead = 64;
/// Returns the bytes that a packet takes of the window.
[[nodiscard]] inline std::size_t charge_of(const packet& p) noexcept {
  return p.size() + packet_overhead;
}

/// A packet that waits for its acknowledgement.
struct sent_packet {
  static constexpr std::uint8_t many_attempts = 255;  ///< in `attempt`: this many, or more

  packet bytes;                   ///< without this layer's header, which differs each time
  base::instant first;            ///< when it was first sent
  base::instant last;             ///< when it was last sent
  std::uint64_t order = 0;        ///< of its last transmission, among all of the session
  std::uint32_t event = 0;        ///< the congestion event of its last loss
  sequence_number previous = 0;   ///< in its list
  sequence_number following = 0;  ///< in its list
  std::uint8_t lane = 1;          ///< of the message
  std::uint8_t attempt = 0;       ///< how often it was sent before the last time
  bool declared_lost = false;     ///< it was in the list of lost packets once
  std::uint8_t list = 0;          ///< the list that holds it: a `sent_packets::list_name`
};

/// Packets without acknowledgement.
class sent_packets {
 public:
  /// The lists of packets.
  enum list_name : std::uint8_t {
    in_flight,    ///< under way, or lost unnoticed
    lost,         ///< to be sent again
    lost_urgent,  ///< the same, ahead of everything
  };

  /// Returns the oldest number without acknowledgement; `next()` if there is none.
  [[nodiscard]] sequence_number oldest() const noexcept { return oldest_; }
  /// Returns the number of the next new packet.
  [[nodiscard]] sequence_number next() const noexcept { return next_; }
  /// Returns the count of numbers from the oldest to the next.
  [[nodiscard]] std::uint32_t span() const noexcept { return next_ - oldest_; }
  /// Returns true if `s` was sent and not acknowledged.
  [[nodiscard]] bool waits(sequence_number s) const noexcept {
    return s - oldest_ < span() && waiting_.contains(s);
  }

  /// Adds a new packet at the end of those in flight. Requires span() < sequence_window. The
  /// reference is valid until the next `add`. Throws std::bad_alloc.
  sent_packet& add(packet bytes, std::uint8_t lane);
  /// Returns the packet `s`. Requires that it waits.
  [[nodiscard]] sent_packet& operator[](sequence_number s) noexcept { return slot(s); }
  /// Puts a waiting packet at the end of this list.
  void move_to(sequence_number s, list_name list) noexcept;
  /// Drops an acknowledged packet. Requires that it waits.
  void remove(sequence_number s) noexcept;
  /// Calls `f` with each waiting packet of the `count` numbers from `first` on, which it may
  /// remove. Numbers that were never sent, or are no longer waiting, are passed over.
  template <class F>
  void each(sequence_number first, std::uint32_t count, F f) {
    const std::int32_t skip = sequence_distance(first, oldest_);
    if (skip > 0) {
      if (static_cast<std::uint32_t>(skip) >= count) return;
      first = oldest_;
      count -= static_cast<std::uint32_t>(skip);
    }
    const std::uint32_t left = next_ - first;
    if (left > span()) return;
    waiting_.each(first, std::min(count, left), f);
  }
  /// Forgets the acknowledged numbers below the oldest that waits. Call it after `remove`.
  void advance() noexcept;

  /// Returns true if the list is empty.
  [[nodiscard]] bool empty(list_name list) const noexcept { return lists_[list].count == 0; }
  /// Returns the number of packets in the list.
  [[nodiscard]] std::uint32_t count(list_name list) const noexcept { return lists_[list].count; }
  /// Returns the sequence number of the list's first packet. Requires that the list is not empty.
  [[nodiscard]] sequence_number front(list_name list) const noexcept { return lists_[list].front; }
  /// Returns the list's first packet. Requires that the list is not empty.
  [[nodiscard]] const sent_packet& first_of(list_name list) const noexcept {
    return ring_[lists_[list].front & mask()];
  }

 private:
  struct chain {
    sequence_number front = 0;
    sequence_number back = 0;
    std::uint32_t count = 0;
  };
  [[nodiscard]] std::uint32_t mask() const noexcept {
    return static_cast<std::uint32_t>(ring_.size()) - 1;
  }
  [[nodiscard]] sent_packet& slot(sequence_number s) noexcept { return ring_[s & mask()]; }
  void grow();
  void append(sequence_number s, list_name to) noexcept;
  void unlink(sequence_number s) noexcept;

  std::vector<sent_packet> ring_;
  std::array<chain, 3> lists_{};
  sequence_number oldest_ = first_sequence;
  sequence_number next_ = first_sequence;
  sequence_set waiting_;
};

}  // namespace garrick::net
