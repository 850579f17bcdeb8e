// Messages larger than what is below can carry: cut into pieces, and joined at the other end.
//
// A message that fits goes down as it is, with one byte in front (two where the lane does not
// travel by itself). Of a larger one each piece is a packet of its own, made when it can be sent,
// so it is as large as the path is then; the message is kept until its last piece went down. Each
// piece says which message it is of, that message's size, and where it begins. So pieces may come
// in any order, more than once, or never.
//
// What cannot be sent at once waits, in order, in its lane. Lanes take turns, a piece or a whole
// message each, so a large message does not hold up small ones of other lanes. Lanes 0 and 255 come
// first, have room of their own, and wait only for their own large messages.
//
// Where pieces can be lost, a message that is not whole expires, and the oldest makes room for new
// ones. Over a reliable layer nothing is dropped in silence: what cannot be joined, and what goes
// beyond the limits, ends the link.
//
// Invariants:
//   L1  Messages of one lane go down in the order in which they came; a message of a lane begins
//       when the one before it has gone down whole.
//   L2  What is kept of a message that is not whole needs at most twice the bytes that have come of
//       it, and `piece_overhead` for each piece that came too early: its size is believed no
//       further.
//   L3  Of no message anything is passed up but the whole; and twice only if what is below passes
//       something up twice (`properties::once`).
//   L4  Two ends with equal settings never reach the receiver's limits over a layer that keeps the
//       order: the sender has `partial_bytes` under way at a time, and the receiver takes twice as
//       much, because the end of what has gone down may still be on its way.
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

/// Cuts messages that are too large, joins them, and lets lanes take turns. Carries the lane where
/// nothing below does.
class slicing : public layer_defaults {
 public:
  /// See layer/layer.hpp.
  static constexpr std::string_view wire_name = "slicing";
  /// That of a piece: a byte, the lane, the message's number and size, where the piece begins.
  static constexpr std::size_t header_size = 14;
  /// See layer_defaults.
  [[nodiscard]] static constexpr misfit check_below(properties below) noexcept {
    return below.messages ? misfit::none : misfit::needs_messages_as_framing_makes_them;
  }
  /// Messages of any size; lanes. Requires messages.
  [[nodiscard]] static constexpr properties provides(properties below) noexcept;

  /// What is wrong with the settings: `errc::invalid_setting`, or no error.
  [[nodiscard]] static base::error check(const slicing_settings& s);

  /// A layer without messages.
  explicit slicing(slicing_settings s = {});
  /// Takes the other's messages.
  slicing(slicing&& other) noexcept;
  /// As above; the own ones are dropped.
  slicing& operator=(slicing&& other) noexcept;
  ~slicing();

  /// Sends the message, or as much of it as is taken below, and keeps the rest.
  void send(outgoing&& m, layer_context& c);
  /// Passes up what is whole.
  void receive(const incoming& m, layer_context& c);
  /// Sends on when it can be. A stream that is lost takes with it what was not whole, and what was
  /// not sent: who wants it sent again has kept it.
  void notice(const link_event& e, layer_context& c);
  /// Sends to a stream what waits, whether or not more is taken below: it is closed in good order.
  void leave(layer_context& c);
  /// Gives up messages whose next piece has not come in time.
  void advance(layer_context& c);
  /// When the first message expires.
  [[nodiscard]] base::instant deadline() const noexcept;
  /// True while there is room in the queue, whether or not what is below takes anything.
  [[nodiscard]] bool writable(const layer_context&) const { return !full_; }
  /// Bytes of a message, at most.
  [[nodiscard]] std::size_t largest() const noexcept { return settings_.largest; }

  /// What has happened so far.
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
  void forget() noexcept;
  void end(base::error why, layer_context& c);

  slicing_settings settings_;
  slicing_counters counters_;
  std::unique_ptr<internal::lane_queues> queues_;        ///< null until something had to wait
  std::unique_ptr<internal::partial_messages> partial_;  ///< null until a piece has come
  bool full_ = false;                                    ///< who is above was told to wait
  bool open_ = false;                                    ///< the session below, if there is one
  bool draining_ = false;  ///< what goes down may come back as an event
  bool ended_ = false;
};

constexpr properties slicing::provides(properties below) noexcept {
  below.lanes = true;
  return below;
}

}  // namespace garrick::net
