// What a layer is: one step between a message and the wire (paper 004, §5).
//
// A stack is a list of layers over a transport, top first, composed at compile time
// (stack/stack.hpp). A message that is sent passes the layers from the top to the bottom, one that
// arrives from the bottom to the top. Each layer knows only that there is something above it and
// something below it. It may put a header in front, hold a message back, cut it, drop it, send
// messages of its own to the same layer at the other end, and ask to be called at some time.
//
// A layer is *sans-I/O*: it opens no socket, reads no clock and starts no thread. It gets bytes and
// the time, and returns bytes and a deadline. So the same object runs over a socket, in a simulated
// network, in a fuzzer and in a benchmark.
//
// A layer is one class. This one counts what passes:
//
//     class counting : public layer_defaults {
//      public:
//       static constexpr std::string_view wire_name = "counting";
//       void send(outgoing&& m, layer_context& c) { ++sent_; c.down(std::move(m)); }
//       void receive(const incoming& m, layer_context& c) { ++received_; std::ignore = c.up(m); }
//       …
//     };
//
// What a layer has to do, and may rely on:
//   - `send` is called for each message from above, `receive` for each from below, `advance` when
//     `deadline()` has come, `notice` for each event from below. While one of them runs, another
//     may begin: what a layer passes up makes those above send, and what it passes down may come
//     back as an event. So a layer's state is in order before it calls `up`, `down` or `notify`.
//   - Bytes are fed before time: at a given instant, what has arrived is received first, then
//     `advance` is called. A pause of this process is never charged to the peer.
//   - `incoming` is lent: its bytes are gone when `receive` returns. Who holds them, copies them.
//     It is passed by reference: a copy would be read in wider pieces than it was just written in,
//     for which a processor waits, in each layer. `incoming::with` makes one with other bytes.
//     A receiver may keep bytes that have a block of their own (`incoming::block`), and free them
//     on another thread, so a layer does not read a message that it has passed up.
//   - A layer that is not `writable` is sent nothing but messages of the lanes `system_lane` and
//     `layer_lane`. One without a buffer asks what is below. One with a buffer sends what it holds
//     when it hears `writable` from below, and notifies those above when it has room again.
//   - Whatever a layer buffers has a limit, which is in its settings.
//   - A layer may have three functions more, which the stack finds by their names:
//     `leave(layer_context&)`, called once when the link's owner leaves, before the carrier is
//     closed; `largest()` or `largest(const layer_context&)`, the bytes of a message that it takes
//     at most, if that is not what is below less its header; and `counters()`, whose result has
//     a function `named()` that returns a range of `layer_count`, for reports (`any_link`).
//   - Both ends have the same layers. `failure_detection` finds out at its handshake, by the names
//     that they have for that: `wire_name`, which no layer needs to have. One that has changed what
//     it writes changes its name, too ("counting 2").
//
// Thread safety: a stack and its layers are one thread's at a time.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/values/error.hpp"
#include "garrick/net/packet.hpp"

namespace garrick::net {

struct frame;  // wire/frame.hpp
namespace internal {
class growing_bytes;  // layer/internal/growing_bytes.hpp
}  // namespace internal

/// Messages of one lane are kept in order; those of different lanes may overtake each other. So a
/// large message holds up those of its own lane only. Who sends chooses the lane, usually by the
/// pair of actors.
using lane_number = std::uint8_t;
/// Signals of the system. Ordinary messages neither delay them nor use up their room.
inline constexpr lane_number system_lane = 0;
/// What layers tell the same layer at the other end, above those layers that order.
inline constexpr lane_number layer_lane = 255;

/// A message of more bytes is a large one. It goes in pieces, and each limit to the bytes of
/// messages is apart for large ones: so they leave the others their room.
inline constexpr std::size_t large_message = std::size_t{64} << 10;

/// A message on its way down.
struct outgoing {
  packet bytes;          ///< with room in front for the headers of all layers below
  lane_number lane = 1;  ///< messages of one lane keep their order
  /// Not zero: `reconnect` reports what became of the message by this number.
  std::uint64_t report = 0;
};

/// A message on its way up. It is lent until the call returns, as its bytes are.
struct incoming {
  std::span<const std::byte> bytes;  ///< without the headers of the layers below
  lane_number lane = 1;              ///< in which it was sent, if lanes travel
  /// A layer of this end has made it, as an answer that the peer can not give any more. It comes up
  /// also while the link is being left.
  bool made_here = false;
  /// An answer that is not due, because nobody has asked or nobody waits any more: it has handles,
  /// which are to be released.
  bool is_late = false;
  /// What the bytes say, in stacks whose top is `actor_protocol`; null in all others. Lent as they
  /// are.
  const frame* decoded = nullptr;
  /// Not null: memory that holds these bytes alone, if a layer above has not passed on others. A
  /// receiver that wants to keep them may move it away; what refers to the bytes stays valid.
  internal::growing_bytes* block = nullptr;

  /// The same with other bytes: what is left without a header, say. They are lent, too, so what
  /// they are a view of has to live until `up` returns. `decoded` stays as it is: it is for layers
  /// below `actor_protocol`, or for bytes that say the same.
  [[nodiscard]] constexpr incoming with(std::span<const std::byte> other) const noexcept {
    return with(other, lane);
  }
  /// And in another lane.
  [[nodiscard]] constexpr incoming with(std::span<const std::byte> other,
                                        lane_number in) const noexcept {
    return {other, in, made_here, is_late, decoded, block};
  }
};

/// What a layer tells those above it, and in the end the link's owner.
struct link_event {
  /// What has happened.
  enum class kind : std::uint8_t {
    connected,     ///< the transport carries bytes
    disconnected,  ///< it does not any more; `why` says why, and a session may outlive it
    opened,        ///< the other end has said who it is, and messages may be sent
    resumed,       ///< as `opened`, for a session that was open before
    suspected,     ///< nothing was heard for longer than is usual: reversible
    trusted,       ///< a suspected peer was heard again
    paused,        ///< this end itself was stopped: it was called `number` nanoseconds late
    down,          ///< the peer was given up, has left, or was restarted; the last event of all
    writable,      ///< more may be sent
    path,          ///< the largest datagram that the path takes has changed: `number` bytes
    delivered,     ///< the message with the report `number` is in the receiver's mailbox
    unknown,       ///< the message with the report `number` was perhaps delivered
    has_session,   ///< before `opened`: the other end has a session with this end by another link;
                   ///< `any_link::peer` names it. This link tries again
  };
  kind what;                 ///< what has happened
  std::uint64_t number = 0;  ///< of `path`, `paused`, `delivered` and `unknown`
  base::error why{};         ///< of `disconnected`, `down` and `unknown`
};

/// What is below a layer: what it may rely on, and what the wire cannot do.
struct properties {
  bool messages = false;   ///< what is sent arrives whole, not as a stream of bytes
  bool once = false;       ///< nothing arrives twice
  bool ordered = false;    ///< messages of a lane arrive in the order in which they were sent
  bool reliable = false;   ///< nothing is lost while `disconnected` does not come
  bool lanes = false;      ///< the lane travels with the message
  bool confirmed = false;  ///< the sender hears when a message is in the receiver's mailbox
  bool sessions = false;   ///< nothing passes before `opened`, and between two connections
  bool connected = false;  ///< the transport can be lost and opened again, as a stream can
  /// Bytes of a message, at most.
  std::size_t largest = std::numeric_limits<std::uint32_t>::max();

  friend constexpr bool operator==(const properties&, const properties&) = default;
};

/// Why a layer does not fit on what is below it: so a compiler speaks of a stack that makes no
/// sense.
enum class misfit : std::uint8_t {
  none,                                          ///< it fits
  needs_messages_as_framing_makes_them,          ///< a stream of bytes is below
  needs_a_stream_but_messages_are_below,         ///< they have borders already
  needs_datagrams_a_stream_is_reliable_already,  ///< or reliability is below
  needs_order_as_ordering_makes_it,              ///< messages may overtake each other
  needs_reliability_below,                       ///< messages may be lost
  needs_sessions_as_failure_detection_has_them,  ///< nobody says when one is open
  what_is_below_has_order_already,               ///< so it would do nothing
  what_is_below_has_sessions_already,            ///< so it would do nothing
};

/// A layer's view of the stack that it is in.
class layer_context {
 public:
  /// Passes a message to the layer below. What it refers to must not be reachable in another way
  /// until this returns: what is passed down may come back as an event.
  virtual void down(outgoing&& m) = 0;
  /// Passes a message to the layer above. True: it is where it was to go. False: it was taken, and
  /// the link's owner will say later that it is there, by `delivered(lane)`. Only who acknowledges
  /// to the sender needs to know.
  virtual bool up(const incoming& m) = 0;
  /// Passes an event to the layer above.
  virtual void notify(const link_event& e) = 0;
  /// True if the layer below takes another message.
  [[nodiscard]] virtual bool below_is_writable() const = 0;
  /// Bytes that the layers below put in front of a message, at most: the room that a message of
  /// this layer's own needs.
  [[nodiscard]] virtual std::size_t headers_below() const = 0;
  /// What the layer below provides: always the same for one layer of one stack.
  [[nodiscard]] const properties& below() const noexcept { return *below_; }
  /// Bytes of a message that the layer below takes, at most. Changes with the event `path`.
  [[nodiscard]] virtual std::size_t largest_below() const = 0;
  /// A number that two stacks share if their layers have the same names in the same order: always
  /// the same for one stack.
  [[nodiscard]] virtual std::uint32_t fingerprint() const noexcept = 0;
  /// Returns the properties that the whole stack provides to its owner: always the same for one
  /// stack.
  [[nodiscard]] virtual const properties& provided() const noexcept = 0;
  /// Asks the transport to open again, after `disconnected`.
  virtual void reopen() = 0;
  /// Asks the transport for a connection beside the one that stands (`carrier::reopen_beside`). The
  /// stack calls the layer that has `greeting(layer_context&)` and `answered(bytes, context)`.
  virtual void reopen_beside() = 0;
  /// Asks the transport to close for good.
  virtual void close() = 0;
  /// The time of this call.
  [[nodiscard]] base::instant now() const noexcept { return now_; }

 protected:
  layer_context() = default;
  ~layer_context() = default;
  layer_context(const layer_context&) = default;
  layer_context& operator=(const layer_context&) = default;
  base::instant now_{};                ///< set by the stack before each call
  const properties* below_ = nullptr;  ///< set by the stack for good
};

/// A figure of a layer, by its name. What is a time is in nanoseconds, and its name says so.
struct layer_count {
  std::string_view name;    ///< a literal
  std::uint64_t value = 0;  ///< so far, or now
};

/// What most layers do not need: derive from it and hide what you do.
struct layer_defaults {
  /// How many bytes the layer may put in front of a message.
  static constexpr std::size_t header_size = 0;
  /// Why this layer does not fit on what is below: then a stack does not compile, and the message
  /// names the reason. A layer may have reasons of its own, in any enumeration of which zero means
  /// that it fits.
  [[nodiscard]] static constexpr misfit check_below(properties) noexcept { return misfit::none; }
  /// What this layer makes of what is below.
  [[nodiscard]] static constexpr properties provides(properties below) noexcept { return below; }

  /// A message from above.
  void send(outgoing&& m, layer_context& c) { c.down(std::move(m)); }
  /// A message from below.
  void receive(const incoming& m, layer_context& c) { static_cast<void>(c.up(m)); }
  /// An event from below.
  void notice(const link_event& e, layer_context& c) { c.notify(e); }
  /// What was passed up to the owner, who said "later", is in the receiver's mailbox now: one
  /// message of this lane.
  void delivered(lane_number, layer_context&) {}
  /// The deadline has come.
  void advance(layer_context&) {}
  /// When `advance` is to be called; `never()`: not at all.
  [[nodiscard]] base::instant deadline() const noexcept { return base::instant::never(); }
  /// True if the layer takes another message, as far as what is below does. A layer with a buffer
  /// of its own says whether that has room.
  [[nodiscard]] bool writable(const layer_context& c) const { return c.below_is_writable(); }
};

/// A class that can be a layer of a stack.
template <class L>
concept layer = std::movable<L> && requires(L& l, const L& k, outgoing m, const incoming& i,
                                            const link_event& e, layer_context& c) {
  { L::header_size } -> std::convertible_to<std::size_t>;
  { L::provides(properties{}) } -> std::same_as<properties>;
  l.send(std::move(m), c);
  l.receive(i, c);
  l.notice(e, c);
  l.delivered(system_lane, c);
  l.advance(c);
  { k.deadline() } -> std::same_as<base::instant>;
  { k.writable(c) } -> std::same_as<bool>;
};

}  // namespace garrick::net
