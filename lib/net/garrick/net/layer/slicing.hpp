// Messages larger than the layer below can carry: cut into pieces, and joined at the other end.
//
// A message that fits goes down as it is, with one byte in front (two if the lane does not travel
// by itself). Each piece of a larger one is a packet of its own, made when it can be sent, so it
// has the size that the path allows at that time. The message is kept until its last piece went
// down. Each piece names its message, that message's size, and its own offset. So pieces may come
// in any order, more than once, or never.
//
// Messages that cannot be sent at once wait, in order, in their lanes. Lanes take turns, a piece or
// a whole message each, so a large message does not hold up small ones of other lanes. Lanes 0 and
// 255 come first, have room of their own, and wait only for their own large messages.
//
// If pieces can be lost, an incomplete message expires, and the oldest one makes room for new ones.
// Over a reliable layer nothing is dropped silently: pieces that cannot be joined, or exceed the
// limits, end the link.
//
// Invariants:
//   L1  Messages of one lane go down in the order in which they came; a message of a lane begins
//       when the one before it has gone down whole.
//   L2  An incomplete message takes at most twice its received bytes, and `piece_overhead` for each
//       piece that came too early: its stated size is believed no further.
//   L3  Only whole messages are passed up; twice only if the layer below passes a packet up twice
//       (`properties::once`).
//   L4  Two ends with equal settings never reach the receiver's limits over a layer that keeps the
//       order: the sender has `partial_bytes` under way at a time, and the receiver takes twice as
//       much, because the end of a sent message may still be on its way.
//
// Thread safety: none; a layer is its stack's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "garrick/net/layer/layer.hpp"
#include "garrick/net/layer/slicing_settings.hpp"

namespace garrick::net {

namespace internal {
class lane_queues;
class partial_messages;
struct piece;
}  // namespace internal

/// Cuts messages that are too large, joins them, and lets lanes take turns. Carries the lane if no
/// layer below does.
class slicing : public layer_defaults {
 public:
  /// The layer's name on the wire; see layer/layer.hpp.
  static constexpr std::string_view wire_name = "slicing";
  /// The header of a piece: a byte, the lane, the message's number and size, the piece's offset.
  static constexpr std::size_t header_size = 14;
  /// Returns the reason why the layer does not fit on `below`, or `none`.
  [[nodiscard]] static constexpr misfit check_below(properties below) noexcept {
    return below.messages ? misfit::none : misfit::needs_messages_as_framing_makes_them;
  }
  /// Returns `below` with messages of any size, and lanes. Requires messages.
  [[nodiscard]] static constexpr properties provides(properties below) noexcept;

  /// Checks the settings. Returns `errc::invalid_setting`, or no error.
  [[nodiscard]] static base::error check(const slicing_settings& s);

  /// Makes a layer without messages.
  explicit slicing(slicing_settings s = {});
  /// Takes the other layer's messages.
  slicing(slicing&& other) noexcept;
  /// Drops its own messages and takes the other layer's.
  slicing& operator=(slicing&& other) noexcept;
  ~slicing();

  /// Sends the message, or as much of it as the layer below takes, and keeps the rest.
  void send(outgoing&& m, layer_context& c);
  /// Passes up each whole message.
  void receive(const incoming& m, layer_context& c);
  /// Continues to send when the layer below takes more. When a stream is lost, its incomplete and
  /// unsent messages are dropped; a layer above that sends them again has kept them.
  void notice(const link_event& e, layer_context& c);
  /// Sends all waiting messages to a stream, even if the layer below is full: a stream is closed in
  /// good order.
  void leave(layer_context& c);
  /// Gives up messages if their next piece has not come in time.
  void advance(layer_context& c);
  /// Returns the time at which the first message expires.
  [[nodiscard]] base::instant deadline() const noexcept;
  /// Returns true while there is room in the queue, even if the layer below is full.
  [[nodiscard]] bool writable(const layer_context&) const { return !full_; }
  /// Returns the most bytes of a message.
  [[nodiscard]] std::size_t largest() const noexcept { return settings_.largest; }

  /// Returns the counters so far.
  [[nodiscard]] const slicing_counters& counters() const noexcept { return counters_; }

 private:
  [[nodiscard]] std::size_t room_below(const layer_context& c) const;
  [[nodiscard]] bool goes_at_once(const outgoing& m, const layer_context& c) const;
  void drain(layer_context& c);
  [[nodiscard]] bool take_next(outgoing& m, const layer_context& c);
  [[nodiscard]] std::uint64_t large_room() const noexcept;
  [[nodiscard]] bool has_room(std::uint64_t messages, std::uint64_t bytes,
                              std::uint64_t large) const noexcept;
  void tell_room(layer_context& c);
  void receive_piece(const internal::piece& p, layer_context& c);
  void count_partial() noexcept;
  void refuse(const char* why, layer_context& c);
  void refuse_large(std::size_t size, layer_context& c);
  void forget() noexcept;
  void end(const base::error& why, layer_context& c);

  slicing_settings settings_;
  slicing_counters counters_;
  std::unique_ptr<internal::lane_queues> queues_;        ///< null until a message had to wait
  std::unique_ptr<internal::partial_messages> partial_;  ///< null until a piece has come
  bool full_ = false;                                    ///< the layer above was told to wait
  bool open_ = false;      ///< the session below is open, if there is one
  bool draining_ = false;  ///< a message that goes down may cause an event
  bool ended_ = false;
};

constexpr properties slicing::provides(properties below) noexcept {
  below.lanes = true;
  return below;
}

}  // namespace garrick::net
