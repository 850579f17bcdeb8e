// A layer that brings each message exactly once into the receiver's mailbox, over streams that are
// lost and opened again.
//
// The layers below keep each lane in order and lose nothing while a connection lasts. So both ends
// can count the messages of a lane: those that have gone down here, those that have come up there,
// and those that are in the receiver's mailbox. No message carries a number. The receiver tells its
// counts from time to time, and the sender keeps the messages that are not in a mailbox yet. When a
// stream was lost and the session is resumed, both ends exchange their counts first, and each goes
// on after the last message that the other has: nothing is repeated, and nothing is missing.
//
// If the receiver's mailbox is full, the link's owner there reports later that the message is in
// the mailbox (`delivered`), and the counts do not change until then. So the sender's window fills,
// its link is not writable, and no queue grows. Each end tells the other how many messages and
// bytes it accepts before they are in a mailbox.
//
// Large messages have a window of their own, of the same size. So a large message, which may be
// larger than the window, holds up only its own lane and other large messages. Both windows
// together stay within the limits of the other end.
//
// The layer holds messages that are sent before the session is open, between two streams, or when
// the window is full. The system's lane has a window of its own, and its messages go first.
//
// The counts travel in `layer_lane`, which belongs to this layer. Where lanes do not travel below,
// each message is preceded by the number of its lane.
//
// Invariants, for each lane:
//   R1  acked <= next <= handed <= acked + out.size(); `out` holds the messages that are not
//       acknowledged, from number `acked` on; `next` is the number of the next message to go down
//       in this connection.
//   R2  delivered + waiting.size() == received; a count that is told covers the lane's messages
//       from the first on, none of which waits.
//   R3  While the peer's counts in a connection are not known, no message goes down that could be
//       there already.
//   R4  Each message with a report number is reported once: as `delivered`, or before `down` as
//       `unknown`.
//
// Thread safety: none; a layer is its stack's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/values/error.hpp"
#include "garrick/net/layer/detail/message_amount.hpp"
#include "garrick/net/layer/layer.hpp"
#include "garrick/net/packet.hpp"

namespace garrick::net {

namespace internal {
struct kept_message;
struct redelivery_lane;
}  // namespace internal

/// Settings of `redelivery`.
struct redelivery_settings {
  /// The most ordinary messages that are held or not yet in a mailbox. With as many the link is not
  /// writable. The other end's `accepted_messages` is a limit, too. At least 1.
  std::uint32_t messages = 4096;
  /// The bytes of these messages without large ones. The message that passes this limit is still
  /// taken. At most as many bytes of large messages are under way at a time. At least 1.
  std::uint64_t bytes = 16u << 20;
  /// The bytes of large messages (`large_message`) that are held or not yet in a mailbox; as above.
  /// At least 1.
  std::uint64_t large_bytes = 128u << 20;
  /// The most messages of the system's lane; one more ends the session with `overload`.
  std::uint32_t system_messages = 4096;
  /// The most messages of the other end that are not in a mailbox here yet. At least 1.
  std::uint32_t accepted_messages = 4096;
  /// The bytes of these messages. At least 1. If this is less than twice the other end's `bytes`
  /// plus its largest message, a large message may hold up the others until it is in the mailbox.
  std::uint64_t accepted_bytes = 96u << 20;
  /// The receiver tells its counts after this many messages, or half of the sender's window. At
  /// least 1.
  std::uint32_t ack_every = 64;
  /// The longest time from a message's arrival in a mailbox until its count is told.
  base::duration ack_after = base::duration::milliseconds(5);
};

/// Counters of `redelivery`.
struct redelivery_counters {
  std::uint64_t acks_sent = 0;      ///< sent messages with counts
  std::uint64_t acks_received = 0;  ///< the same of the other end
  std::uint64_t sent_again = 0;     ///< messages that went down once more with a new stream
  std::uint64_t confirmed = 0;      ///< messages that are known to be in the other end's mailbox

  /// Returns all counters with their names.
  [[nodiscard]] auto named() const noexcept {
    return std::array{layer_count{"acks_sent", acks_sent},
                      layer_count{"acks_received", acks_received},
                      layer_count{"sent_again", sent_again}, layer_count{"confirmed", confirmed}};
  }
};

/// Keeps messages until they are in the receiver's mailbox, and goes on where a lost stream has
/// ended.
class redelivery : public layer_defaults {
 public:
  /// The layer's name on the wire; see layer/layer.hpp.
  static constexpr std::string_view wire_name = "reconnect";
  static constexpr std::size_t header_size = 1;  ///< the lane, unless it travels below
  /// Returns the reason why the layer does not fit on `below`, or `none`.
  [[nodiscard]] static constexpr misfit check_below(properties below) noexcept {
    if (!below.messages) return misfit::needs_messages_as_framing_makes_them;
    if (!below.ordered) return misfit::needs_order_as_ordering_makes_it;
    if (!below.reliable) return misfit::needs_reliability_below;
    return below.sessions ? misfit::none : misfit::needs_sessions_as_the_layer_session_has_them;
  }
  /// Returns `below` with confirmation and lanes; no message is lost with a stream. Requires whole
  /// messages, order, reliability and sessions.
  [[nodiscard]] static constexpr properties provides(properties below) noexcept;
  /// Checks the settings. Returns `errc::invalid_setting`, or no error.
  [[nodiscard]] static base::error check(const redelivery_settings& s);

  /// Makes a layer without messages. Requires `!check(s)`.
  explicit redelivery(redelivery_settings s = {});
  /// Takes the other layer's messages and counts.
  redelivery(redelivery&& other) noexcept;
  /// Drops its own messages and counts, and takes the other layer's.
  redelivery& operator=(redelivery&& other) noexcept;
  ~redelivery();

  /// Takes a message and sends it as soon as it may. Requires another lane than `layer_lane`.
  void send(outgoing&& m, layer_context& c);
  /// Passes up and counts messages, and reads the other end's counts.
  void receive(const incoming& m, layer_context& c);
  /// Goes on with a resumed session, and reports the messages that are lost with an ended one.
  void notice(const link_event& e, layer_context& c);
  /// Records that one message of this lane, for which the owner has said "later", is in the
  /// receiver's mailbox. The owner calls this in the order of a lane's messages.
  void delivered(lane_number lane, layer_context& c);
  /// Tells the counts when that is due.
  void advance(layer_context& c);
  /// Returns the time at which the counts are due.
  [[nodiscard]] base::instant deadline() const noexcept;
  /// Returns true while there is room for another message, with or without a connection.
  [[nodiscard]] bool writable(const layer_context& c) const;
  /// Returns the most bytes of a message.
  [[nodiscard]] std::size_t largest(const layer_context& c) const;
  /// Tells the counts for the last time, and reports messages that are not known to be delivered.
  void leave(layer_context& c);

  /// Returns the counters so far.
  [[nodiscard]] const redelivery_counters& counters() const noexcept { return counters_; }
  /// Returns the number of kept messages: held, or not known to be in the receiver's mailbox.
  [[nodiscard]] std::size_t kept() const noexcept {
    return static_cast<std::size_t>(kept_[0].messages + kept_[1].messages + kept_[2].messages);
  }

 private:
  using amount = detail::message_amount;
  using kept_message = internal::kept_message;
  using lane_state = internal::redelivery_lane;
  struct entry;
  class entries;

  [[nodiscard]] lane_state& lane(lane_number n);
  /// Returns the message's index into the sums below.
  [[nodiscard]] static std::size_t class_of(lane_number n, std::size_t size) noexcept {
    return n == system_lane ? 1 : size > large_message ? 2 : 0;
  }
  /// Returns the same for the receiver's sums, in which size does not matter.
  [[nodiscard]] static std::size_t receiving_class_of(lane_number n) noexcept {
    return n == system_lane;
  }
  [[nodiscard]] static bool below(const amount& a, const amount& limit) noexcept {
    return a.messages < limit.messages && a.bytes < limit.bytes;
  }

  [[nodiscard]] packet to_hand_down(lane_state& l, kept_message& m, const layer_context& c) const;
  void hand_down(lane_number n, layer_context& c);
  [[nodiscard]] bool may_hand_down(lane_number n, const layer_context& c);
  /// Hands down messages while that is possible. `newest` is the lane of a message that has just
  /// come from above, if any.
  void pump(layer_context& c, lane_number newest = layer_lane);
  void recount();
  void check_room(layer_context& c);

  void on_message(const incoming& m, layer_context& c);
  void on_data(const incoming& m, layer_context& c);
  void settle(lane_number n, layer_context& c);
  void on_counts(std::span<const std::byte> bytes, layer_context& c);
  void on_begin(std::span<const std::byte> body, layer_context& c);
  [[nodiscard]] bool apply_counts(const entries& told);
  void on_ack(std::span<const std::byte> body, layer_context& c);
  void acknowledge(lane_number n, std::uint64_t count, layer_context& c);

  void begin(layer_context& c);
  void learn_limits(const amount& theirs);
  void ack_if_due(layer_context& c);
  void send_ack(layer_context& c);
  void send_own(packet body, layer_context& c);
  void end(const base::error& why, layer_context& c);
  void violated(std::string_view how, layer_context& c);
  void report_unknown(const base::error& why, layer_context& c);

  redelivery_settings settings_;
  std::array<std::unique_ptr<lane_state>, 255> lanes_;
  std::vector<lane_number> used_;  // lanes that have a state
  std::size_t turn_ = 0;           // the place in used_ of the last turn
  bool open_ = false;
  bool over_ = false;
  bool streams_ = true;
  bool ever_handed_ = false;
  bool waits_for_counts_ = false;  // R3
  bool begun_ = false;             // the other end's counts of this connection have come
  bool pumping_ = false;
  bool blocked_ = false;  // those above were told to wait

  // [0]: ordinary messages, [1]: the system's, [2]: large ones that are not the system's
  std::array<amount, 3> kept_{};
  std::array<amount, 3> in_flight_{};
  std::array<amount, 2> undelivered_{};  // [0]: of all that are not the system's
  std::uint64_t held_ = 0;               // messages that have not gone down in this connection

  std::array<amount, 3> window_{};    // the most in flight; of [0] also the most that are
                                      // kept, and so within the other end's limit
  amount taken_there_{};              // the other end's limit for [0] and [2] in flight
  std::array<amount, 2> accepted_{};  // the most undelivered

  amount tell_at_{};  // with this much unacked_, counts are told at once
  amount unacked_{};  // delivered here, and not told yet
  base::instant ack_at_ = base::instant::never();
  bool ack_due_ = false;  // counts are due, and the layer below is not writable
  redelivery_counters counters_;
};

constexpr properties redelivery::provides(properties below) noexcept {
  below.lanes = true;
  below.confirmed = true;
  below.connected = false;
  return below;
}

}  // namespace garrick::net
