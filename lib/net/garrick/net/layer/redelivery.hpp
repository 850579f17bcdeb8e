// Exactly once into the receiver's mailbox, over streams that are lost and opened again.
//
// What is below keeps each lane in order and loses nothing while a connection stands. So both ends
// can count: how many messages of a lane have gone down here, how many have come up there, how many
// of those are in the receiver's mailbox. No message carries a number. The receiver tells its
// counts from time to time, and the sender keeps what is not in a mailbox yet. When a stream was
// lost and the session is resumed, both ends exchange their counts first, and each goes on with the
// message behind the last that the other has: nothing is repeated, and nothing is missing.
//
// A receiver whose mailbox is full says later that a message is there (`delivered`), and its counts
// stand still until then. So the sender's window fills, its link is not writable, and nothing grows
// anywhere. Each end tells how much it takes before it has counted it.
//
// Large messages have a window of their own, of the same size. So one of them, which may be larger
// than the window, holds up only its own lane and other large ones. Both together stay within what
// the other end takes.
//
// What is sent before the session is open, between two streams, or when the window is full, is held
// here. The system's lane has a window of its own, and its messages go first.
//
// The counts travel in `layer_lane`, which belongs to this layer. Where lanes do not travel below,
// each message is preceded by the number of its lane.
//
// Invariants, for each lane:
//   R1  acked <= next <= handed <= acked + out.size(); `out` holds what is not acknowledged, from
//       number `acked` on; `next` is the one to go down in this connection.
//   R2  delivered + waiting.size() == received; the counts that are told are those of a beginning
//       of the lane: no message in it waits.
//   R3  While nothing is known of the peer's counts in a connection, nothing goes down that could
//       be there already.
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
#include "garrick/net/layer/layer.hpp"
#include "garrick/net/packet.hpp"

namespace garrick::net {

namespace detail {
/// Messages and their bytes.
struct message_amount {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const message_amount&, const message_amount&) = default;
};
}  // namespace detail

/// What `redelivery` can be told.
struct redelivery_settings {
  /// Ordinary messages that are held or not yet in a mailbox, at most. Above that the link is not
  /// writable. The other end's `accepted_messages` is a limit, too. At least 1.
  std::uint32_t messages = 4096;
  /// Bytes of those that are not large. The message that passes this limit is still taken. As many
  /// bytes of large messages may be under way. At least 1.
  std::uint64_t bytes = 16u << 20;
  /// Bytes of large messages (`large_message`) that are held or not yet in a mailbox; as above. At
  /// least 1.
  std::uint64_t large_bytes = 128u << 20;
  /// Messages of the system's lane, at most; one more ends the session with `overload`.
  std::uint32_t system_messages = 4096;
  /// What the other end may have sent here that is not in a mailbox yet. At least 1.
  std::uint32_t accepted_messages = 4096;
  /// Their bytes. At least 1. With less than twice the other end's `bytes` and its largest message,
  /// a large message may hold up the others until it is in the mailbox.
  std::uint64_t accepted_bytes = 96u << 20;
  /// The sender is told after so many messages, or half of its window. At least 1.
  std::uint32_t ack_every = 64;
  /// And at the latest so long after one came into a mailbox.
  base::duration ack_after = base::duration::milliseconds(5);
};

/// What `redelivery` has done.
struct redelivery_counters {
  std::uint64_t acks_sent = 0;      ///< messages that tell counts
  std::uint64_t acks_received = 0;  ///< of the other end
  std::uint64_t sent_again = 0;     ///< messages that went down once more with a new stream
  std::uint64_t confirmed = 0;      ///< messages that are known to be in the other's mailbox

  /// See layer/layer.hpp.
  [[nodiscard]] auto named() const noexcept {
    return std::array{layer_count{"acks_sent", acks_sent},
                      layer_count{"acks_received", acks_received},
                      layer_count{"sent_again", sent_again}, layer_count{"confirmed", confirmed}};
  }
};

/// Keeps what is not in the receiver's mailbox yet, and goes on where a lost stream has ended.
class redelivery : public layer_defaults {
 public:
  /// See layer/layer.hpp.
  static constexpr std::string_view wire_name = "reconnect";
  static constexpr std::size_t header_size = 1;  ///< the lane, unless it travels below
  /// See layer_defaults.
  [[nodiscard]] static constexpr misfit check_below(properties below) noexcept {
    if (!below.messages) return misfit::needs_messages_as_framing_makes_them;
    if (!below.ordered) return misfit::needs_order_as_ordering_makes_it;
    if (!below.reliable) return misfit::needs_reliability_below;
    return below.sessions ? misfit::none : misfit::needs_sessions_as_the_layer_session_has_them;
  }
  /// Nothing is lost, whatever happens to streams. Requires whole messages, order, reliability and
  /// sessions.
  [[nodiscard]] static constexpr properties provides(properties below) noexcept;
  /// What is wrong with the settings: `errc::invalid_setting`, or no error.
  [[nodiscard]] static base::error check(const redelivery_settings& s);

  /// Nothing sent, nothing received. Requires `!check(s)`.
  explicit redelivery(redelivery_settings s = {});
  /// Takes the other's messages and counts.
  redelivery(redelivery&& other) noexcept;
  /// As above; the own ones are dropped.
  redelivery& operator=(redelivery&& other) noexcept;
  ~redelivery();

  /// Takes a message and sends it as soon as it may. Requires another lane than `layer_lane`.
  void send(outgoing&& m, layer_context& c);
  /// Counts what passes up, and reads the other end's counts.
  void receive(const incoming& m, layer_context& c);
  /// Goes on with a resumed session, and reports what is lost with one that is down.
  void notice(const link_event& e, layer_context& c);
  /// One message of this lane, for which the owner has said "later", is in its mailbox. The owner
  /// says so in the order of the messages of a lane.
  void delivered(lane_number lane, layer_context& c);
  /// Tells counts that were not told for long.
  void advance(layer_context& c);
  /// When they are to be told.
  [[nodiscard]] base::instant deadline() const noexcept;
  /// True while there is room for another message, whether or not there is a connection.
  [[nodiscard]] bool writable(const layer_context& c) const;
  /// Bytes of a message.
  [[nodiscard]] std::size_t largest(const layer_context& c) const;
  /// Tells the counts for the last time, and reports what is not known to be delivered.
  void leave(layer_context& c);

  /// What was done.
  [[nodiscard]] const redelivery_counters& counters() const noexcept { return counters_; }
  /// Messages that are kept: held, or not known to be in the receiver's mailbox.
  [[nodiscard]] std::size_t kept() const noexcept {
    return static_cast<std::size_t>(kept_[0].messages + kept_[1].messages + kept_[2].messages);
  }

 private:
  using amount = detail::message_amount;
  struct kept_message;
  struct lane_state;
  struct entry;
  class entries;

  [[nodiscard]] lane_state& lane(lane_number n);
  /// An index into the sums below.
  [[nodiscard]] static std::size_t class_of(lane_number n, std::size_t size) noexcept {
    return n == system_lane ? 1 : size > large_message ? 2 : 0;
  }
  /// The same for the receiver's sums, in which size does not matter.
  [[nodiscard]] static std::size_t receiving_class_of(lane_number n) noexcept {
    return n == system_lane;
  }
  [[nodiscard]] static bool below(const amount& a, const amount& limit) noexcept {
    return a.messages < limit.messages && a.bytes < limit.bytes;
  }

  [[nodiscard]] packet to_hand_down(lane_state& l, kept_message& m, const layer_context& c) const;
  void hand_down(lane_number n, layer_context& c);
  [[nodiscard]] bool may_hand_down(lane_number n, const layer_context& c);
  /// `newest`: the lane of the last message that came from above, if it has just come.
  void pump(layer_context& c, lane_number newest = layer_lane);
  void recount();
  void check_room(layer_context& c);

  void on_message(const incoming& m, layer_context& c);
  void on_data(const incoming& m, layer_context& c);
  void settle(lane_number n, layer_context& c);
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
  std::size_t turn_ = 0;           // the next of used_ to send
  bool open_ = false;
  bool over_ = false;
  bool streams_ = true;
  bool ever_handed_ = false;
  bool waits_for_counts_ = false;  // R3
  bool begun_ = false;             // the other end has said how it begins, in this connection
  bool pumping_ = false;
  bool blocked_ = false;  // the senders were told to wait

  // [0]: ordinary messages, [1]: the system's, [2]: large ones that are not the system's
  std::array<amount, 3> kept_{};
  std::array<amount, 3> in_flight_{};
  std::array<amount, 2> undelivered_{};  // [0]: of all that are not the system's
  std::uint64_t held_ = 0;               // messages that have not gone down in this connection

  std::array<amount, 3> window_{};    // in flight at most; of [0] also kept at most, and so
                                      // no more than the other end takes
  amount taken_there_{};              // [0] and [2] in flight, by the word of the other end
  std::array<amount, 2> accepted_{};  // undelivered at most

  amount tell_at_{};  // so much is told at once
  amount unacked_{};  // delivered here, and not yet told
  base::instant ack_at_ = base::instant::never();
  bool ack_due_ = false;  // it waits for what is below to be writable
  redelivery_counters counters_;
};

constexpr properties redelivery::provides(properties below) noexcept {
  below.lanes = true;
  below.confirmed = true;
  below.connected = false;
  return below;
}

}  // namespace garrick::net
