// A layer by which all datagrams arrive, each once (paper 004, §6).
//
// Each packet from above gets a number, and is kept until the other end has acknowledged it.
// Arriving packets are passed up at once, in any order: a layer above may order them. A packet is
// sent again if later packets have arrived and it has not, or if nothing has arrived for longer
// than a round trip should take. Losses decide how many bytes may be in flight (congestion).
//
// An acknowledgement names the oldest missing packet, the packets that have come beyond it, and the
// transmission that came last, with its age. So each acknowledgement gives a valid round-trip time,
// retransmitted or not, and shows when a retransmission was needless. An acknowledgement travels
// with a packet that goes the other way, if there is one within a quarter of the round-trip time,
// 0.2 ms at least and 1 ms at most. The second packet without acknowledgement, a gap, and a
// duplicate are answered as soon as all arrived datagrams have been read, so a batch of datagrams
// costs one acknowledgement.
//
// A packet keeps its bytes from its first transmission on. If the path becomes narrower, kept
// packets go in parts, each a datagram of its own, and are acknowledged when they are whole. The
// network does not cut datagrams here: many networks drop the pieces, and some neither cut a
// datagram nor report the size of the path.
//
// The layer never gives up: a layer below decides that the peer is down. Until then a lone packet
// is sent again and again, each time after twice the time, up to a second.
//
// Messages of the lanes 0 and 255 are urgent: they are sent ahead of all that wait, some of them
// beyond the congestion window, and they have room of their own. If that room is full, too, the
// peer takes nothing more: the link goes `down` with `overload`, since no message may be lost
// silently.
//
// Invariants:
//   L1  A packet that `send` took is in queues_ or in sent_ until it is acknowledged or the link is
//       down.
//   L2  packets_ and bytes_ count the packets in queues_ and sent_; unsent_ counts the ordinary
//       bytes in queues_; flight_ counts the packets in the list `in_flight` of sent_, each with
//       its overhead.
//   L3  A packet is passed up if and only if received_ did not contain it.
//   L4  newest_order_ is the highest order of a transmission that is known to have arrived.
//   L5  Bytes of a packet that a layer below still holds are never written to: neither they nor the
//       headers in front of them.
//   L6  Memory is bounded by the settings, `sequence_window` and `packet_parts::most`, for any
//       bytes of a peer.
//   L7  No datagram is larger than the layer below takes when it is sent.
//
// Thread safety: none; a layer is its stack's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>

#include "garrick/net/layer/layer.hpp"
#include "garrick/net/layer/reliability/acknowledgement.hpp"
#include "garrick/net/layer/reliability/congestion.hpp"
#include "garrick/net/layer/reliability/packet_parts.hpp"
#include "garrick/net/layer/reliability/received_packets.hpp"
#include "garrick/net/layer/reliability/round_trip.hpp"
#include "garrick/net/layer/reliability/sent_packets.hpp"

namespace garrick::net {

/// Settings of `reliability`.
struct reliability_settings {
  /// Packets that wait or are not acknowledged yet: with as many the layer is not writable. This
  /// limit and the others of packets and bytes are at least 1.
  std::uint32_t most_packets = 4096;
  std::size_t most_bytes = std::size_t{8} << 20;  ///< bytes of those packets, in the same way
  /// Bytes of packets that were not sent yet, since the congestion window or its pace holds them
  /// back, in the same way. Packets of other lanes wait behind them.
  std::size_t most_unsent_bytes = std::size_t{128} << 10;
  /// The limit of packets in the lanes 0 and 255. With more the link goes down.
  std::uint32_t most_urgent_packets = 4096;
  std::size_t most_urgent_bytes = std::size_t{8} << 20;  ///< bytes of those packets
  /// The shortest time until an unanswered packet is sent again. Not less than twice the longest
  /// delay of an acknowledgement, which is a millisecond. At least 2 ms.
  base::duration shortest_timeout = base::duration::milliseconds(2);
  /// The longest such time, unless the round trip takes longer.
  base::duration longest_timeout = base::duration::seconds(1);
  /// The time until an unanswered packet is sent again, while the round-trip time is not known.
  base::duration first_timeout = base::duration::milliseconds(100);
};

/// Counters of a link's packets. Many retransmissions or duplicates show an overloaded peer or
/// path.
struct reliability_counters {
  std::uint64_t sent = 0;           ///< packets, each once
  std::uint64_t retransmitted = 0;  ///< packets that were sent again, each time
  std::uint64_t timeouts = 0;       ///< retransmissions because nothing arrived
  std::uint64_t spurious = 0;       ///< packets sent again though they had arrived, as far as known
  std::uint64_t cut = 0;            ///< packets that were sent in parts, each time
  std::uint64_t received = 0;       ///< packets passed up
  std::uint64_t duplicates = 0;     ///< packets that had come before, dropped
  std::uint64_t gaps = 0;           ///< packets that were missing when a later one came
  std::uint64_t beyond = 0;         ///< packets too far ahead, dropped
  std::uint64_t malformed = 0;      ///< datagrams that no honest peer sends: dropped
  std::uint64_t acknowledgements = 0;  ///< datagrams with an acknowledgement alone
  std::uint32_t most_in_flight = 0;    ///< packets at a time

  /// Returns all counters with their names.
  [[nodiscard]] auto named() const noexcept {
    return std::array{layer_count{"sent", sent},
                      layer_count{"retransmitted", retransmitted},
                      layer_count{"timeouts", timeouts},
                      layer_count{"spurious", spurious},
                      layer_count{"cut", cut},
                      layer_count{"received", received},
                      layer_count{"duplicates", duplicates},
                      layer_count{"gaps", gaps},
                      layer_count{"beyond", beyond},
                      layer_count{"malformed", malformed},
                      layer_count{"acknowledgements", acknowledgements},
                      layer_count{"most_in_flight", most_in_flight}};
  }
};

/// Makes datagrams reliable. The other end has the same layer.
class reliability : public layer_defaults {
 public:
  /// The layer's name on the wire; see layer/layer.hpp.
  static constexpr std::string_view wire_name = "reliability";
  /// The size of flags, number and attempt, and of an acknowledgement without ranges.
  static constexpr std::size_t header_size = reliability_header::flags_size +
                                             reliability_header::packet_size +
                                             acknowledgement::fixed_size;
  /// Returns the reason why the layer does not fit on `below`, or `none`.
  [[nodiscard]] static constexpr misfit check_below(properties below) noexcept {
    if (!below.messages) return misfit::needs_messages_as_framing_makes_them;
    return below.reliable || below.connected ? misfit::needs_datagrams_a_stream_is_reliable_already
                                             : misfit::none;
  }
  /// Returns `below` with the guarantee `reliable`. Requires datagrams: a stream is reliable
  /// already.
  [[nodiscard]] static constexpr properties provides(properties below) noexcept;

  /// Checks the settings. Returns `errc::invalid_setting`, or no error.
  [[nodiscard]] static base::error check(const reliability_settings& s);

  /// Makes a layer at the beginning of a session.
  explicit reliability(reliability_settings s = {});

  /// Keeps the message, and sends it as soon as the window allows. With more urgent messages than
  /// the settings allow the link goes down with `net_errc::overload`.
  void send(outgoing&& m, layer_context& c);
  /// Passes up a packet that has not come before, and applies an acknowledgement. Bytes that no
  /// honest peer sends are counted and dropped.
  void receive(const incoming& m, layer_context& c);
  /// Probes for the packets in flight at once when the path is known to be open (again).
  void notice(const link_event& e, layer_context& c);
  /// Sends the retransmissions, the acknowledgement and the packets of a paced window that are due.
  void advance(layer_context& c);
  /// Returns the time of the next transmission that is due.
  [[nodiscard]] base::instant deadline() const noexcept;
  /// Returns true if there is room for another ordinary message. It does not matter whether the
  /// layer below is writable: messages that it does not take are kept.
  [[nodiscard]] bool writable(const layer_context&) const noexcept { return !full_; }

  /// Returns the most bytes of a message: as many as one datagram takes, and at most 65535, so that
  /// the message can be sent in parts if the path becomes narrower.
  [[nodiscard]] std::size_t largest(const layer_context& c) const noexcept;

  /// Returns the counters so far.
  [[nodiscard]] reliability_counters counters() const noexcept;
  /// Returns the measured round-trip times.
  [[nodiscard]] const round_trip& times() const noexcept { return times_; }
  /// Returns the bytes that may be in flight, each packet with some overhead.
  [[nodiscard]] std::size_t window() const noexcept { return congestion_.window(); }
  /// Returns the number of packets in flight.
  [[nodiscard]] std::uint32_t in_flight() const noexcept {
    return sent_.count(sent_packets::in_flight);
  }
  /// Returns the number of packets that wait or are not acknowledged.
  [[nodiscard]] std::uint32_t buffered() const noexcept { return packets_[0] + packets_[1]; }
  /// Returns the number of the peer's packets that have come in part.
  [[nodiscard]] std::size_t partial() const noexcept { return parts_.size(); }

 private:
  enum class pressure : std::uint8_t { ordinary, urgent };
  static constexpr std::uint32_t least_reorder_packets = 3;
  static constexpr std::uint32_t least_reorder_eighths = 1;

  // The way down.
  void pump(layer_context& c);
  [[nodiscard]] bool waits(pressure p) const noexcept;
  [[nodiscard]] std::size_t next_charge(pressure p) const noexcept;
  [[nodiscard]] bool may_probe(const layer_context& c) const noexcept;
  [[nodiscard]] bool may_send_ordinary(base::instant now) noexcept;
  void send_next(pressure p, layer_context& c);
  void retransmit(sequence_number s, layer_context& c);
  void transmit(sequence_number s, packet bytes, layer_context& c);
  void transmit_parts(sequence_number s, const packet& bytes, std::size_t most, layer_context& c);
  void give_up(const base::error& why, layer_context& c);
  void forget_all() noexcept;

  // Acknowledgements of this end.
  [[nodiscard]] acknowledgement take_acknowledgement(base::instant now) noexcept;
  void send_acknowledgement(layer_context& c);
  void acknowledge_later(received_packets::arrival a, base::instant now) noexcept;
  void arrived(const reliability_header& header, const incoming& m, layer_context& c);

  // Acknowledgements of the peer.
  [[nodiscard]] bool is_honest(const acknowledgement& a) noexcept;
  void acknowledged(const acknowledgement& a, layer_context& c);
  void sample(const acknowledgement& a, base::instant now) noexcept;
  [[nodiscard]] std::size_t drop(sequence_number s) noexcept;
  void make_room(layer_context& c);

  // Losses.
  void find_losses(base::instant now) noexcept;
  void declare_lost(sequence_number s, base::instant now) noexcept;
  void was_spurious(const sent_packet& p) noexcept;
  void time_out(layer_context& c);
  [[nodiscard]] base::instant timeout_at() const noexcept;
  void set_timeout() noexcept;

  reliability_settings settings_;
  reliability_counters counters_;

  std::array<std::deque<outgoing>, 2> queues_;  ///< not sent yet, by `pressure`
  sent_packets sent_;
  std::array<std::uint32_t, 2> packets_{};  ///< by `pressure`
  std::array<std::size_t, 2> bytes_{};      ///< by `pressure`
  std::size_t unsent_ = 0;                  ///< bytes of ordinary packets in queues_
  std::size_t flight_ = 0;                  ///< bytes with overhead
  bool full_ = false;                       ///< not writable until there is some room again
  bool broken_ = false;                     ///< the link is down
  bool open_ = false;     ///< the layer below has been writable since it was last connected
  bool pumping_ = false;  ///< packets are being sent further out on the call stack

  congestion congestion_;
  round_trip times_;
  bool limited_ = false;       ///< window or pace held packets back
  bool one_for_free_ = false;  ///< the first retransmission after the window has shrunk
  std::int64_t pace_ = 0;      ///< see congestion::pace
  base::duration burst_;       ///< how far behind its pace the sender may be, and catch up
  base::instant paced_until_;  ///< when the next packet is due by the pace
  base::instant pace_at_ = base::instant::never();  ///< when pacing allows the next packet

  std::uint64_t next_order_ = 1;                           ///< of the next transmission
  std::uint64_t newest_order_ = 0;                         ///< see L4
  std::uint32_t reorder_packets_ = least_reorder_packets;  ///< later packets until one is lost
  std::uint32_t reorder_eighths_ = least_reorder_eighths;  ///< eighths of a trip until it is lost
  std::uint32_t events_in_order_ = 0;               ///< congestion events since a spurious loss
  base::instant loss_at_ = base::instant::never();  ///< when the first in flight is lost
  base::instant progress_;                          ///< when the time-out last started again
  base::duration timeout_;                          ///< the next time-out
  std::uint32_t in_a_row_ = 0;  ///< time-outs without an acknowledgement between them
  bool probe_waits_ = false;    ///< a time-out has come, but nothing can be sent below

  received_packets received_;
  packet_parts parts_;
  sequence_number newest_ = 0;        ///< the packet that came last
  std::uint8_t newest_attempt_ = 0;   ///< its transmission
  base::instant newest_at_;           ///< the time when it came
  std::uint32_t unacknowledged_ = 0;  ///< packets that have come since the last acknowledgement
  base::instant acknowledge_at_ = base::instant::never();
};

constexpr properties reliability::provides(properties below) noexcept {
  below.once = true;
  below.reliable = true;
  return below;
}

}  // namespace garrick::net
