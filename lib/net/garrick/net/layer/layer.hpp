// A layer: one step between a message and the wire (paper 004, §5).
//
// A stack is a list of layers over a transport, top first, composed at compile time
// (stack/stack.hpp). A message that is sent passes the layers from the top to the bottom, an
// arriving one from the bottom to the top. Each layer knows only that there is something above it
// and something below it. It may put a header in front, hold a message back, cut it, drop it, send
// messages of its own to the same layer at the other end, and ask to be called at some time.
//
// A layer is *sans-I/O*: it opens no socket, reads no clock and starts no thread. It gets bytes and
// the time, and returns bytes and a deadline. So the same object runs over a socket, in a simulated
// network, in a fuzzer and in a benchmark.
//
// A layer is one class. This one counts the messages that pass:
//
//     class counting : public layer_defaults {
//      public:
//       static constexpr std::string_view wire_name = "counting";
//       void send(outgoing&& m, layer_context& c) { ++sent_; c.down(std::move(m)); }
//       void receive(const incoming& m, layer_context& c) { ++received_; std::ignore = c.up(m); }
//       …
//     };
//
// Duties and guarantees of a layer:
//   - `send` is called for each message from above, `receive` for each from below, `advance` when
//     `deadline()` has come, `notice` for each event from below. While one of them runs, another
//     may begin: a message that a layer passes up may make those above send, and a message that it
//     passes down may cause an event. So a layer brings its state in order before it calls `up`,
//     `down` or `notify`.
//   - Bytes are fed before time: at a given instant, arrived bytes are received first, then
//     `advance` is called. A pause of this process is never charged to the peer.
//   - `incoming` is lent: its bytes are gone when `receive` returns. A layer that keeps the bytes
//     must copy them. `incoming` is passed by reference: a copy would read wider pieces than were
//     just written, and a processor waits for that in each layer. `incoming::with` makes one with
//     other bytes. A receiver may keep bytes that have a block of their own (`incoming::block`),
//     and free them on another thread, so a layer does not read a message that it has passed up.
//   - Only messages of the lanes `system_lane` and `layer_lane` are sent to a layer that is not
//     `writable`. A layer without a buffer asks the layer below. A layer with a buffer sends its
//     content when it gets `writable` from below, and notifies those above when it has room again.
//   - Each buffer of a layer has a limit, which is in its settings.
//   - A layer may have four more functions, which the stack finds by their names:
//     `leave(layer_context&)`, called once when the link's owner leaves, before the carrier is
//     closed; `largest()` or `largest(const layer_context&)`, the most bytes of a message that it
//     takes, if that is not the limit below less its header; `expect_at_most(std::size_t,
//     layer_context&)`, called when the layer above does not take more for a while, which a layer
//     needs if its own messages, or more than its header, go down at that time; and `counters()`,
//     for reports (`any_link`): its result has a function `named()` that returns a range of
//     `layer_count`.
//   - Both ends have the same layers. The handshake of `session` checks this by the
//     layers' `wire_name`s, which are optional. A layer that changes its bytes on the wire changes
//     its name, too ("counting 2").
//
// Thread safety: a stack and its layers are one thread's at a time.
#pragma once

#include <algorithm>
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

/// A lane of a link. Messages of one lane are kept in order; those of different lanes may overtake
/// each other. So a large message holds up only its own lane. The sender chooses the lane, usually
/// by the pair of actors.
using lane_number = std::uint8_t;
/// The lane of the system's signals. Ordinary messages neither delay them nor use up their room.
inline constexpr lane_number system_lane = 0;
/// The lane for messages between the two ends of one layer, in layers above those that order.
inline constexpr lane_number layer_lane = 255;

/// The size above which a message is large. A large message goes in pieces, and limits on bytes
/// count large messages separately, so the others keep their room.
inline constexpr std::size_t large_message = std::size_t{64} << 10;

/// A message on its way down.
struct outgoing {
  packet bytes;          ///< with room in front for the headers of all layers below
  lane_number lane = 1;  ///< messages of one lane keep their order
  /// If not zero, `redelivery` reports the message's fate by this number.
  std::uint64_t report = 0;
};

/// A message on its way up. It is lent until the call returns, as its bytes are.
struct incoming {
  std::span<const std::byte> bytes;  ///< without the headers of the layers below
  lane_number lane = 1;              ///< the lane in which it was sent, if lanes travel
  /// True if a layer of this end has made the message, as an answer that the peer can give no more.
  /// Such a message is passed up even while the link is being left.
  bool made_here = false;
  /// True for an answer that is not due, because there was no such request or its requester no
  /// longer waits. Its handles must be released.
  bool is_late = false;
  /// The decoded content of the bytes, in stacks with `actor_protocol` at the top; null in all
  /// others. Lent like the bytes.
  const frame* decoded = nullptr;
  /// Not null: a block that holds these bytes and no others, unless a layer has put other bytes in
  /// their place (`with`). A receiver may move the block away to keep the bytes; references to them
  /// stay valid.
  internal::growing_bytes* block = nullptr;

  /// Returns the same message with other bytes, as after a header was removed. They are lent, too,
  /// so the memory behind them has to live until `up` returns. `decoded` stays as it is, so this is
  /// for layers below `actor_protocol`, or for bytes with the same content.
  [[nodiscard]] constexpr incoming with(std::span<const std::byte> other) const noexcept {
    return with(other, lane);
  }
  /// Returns the same message with other bytes and in another lane.
  [[nodiscard]] constexpr incoming with(std::span<const std::byte> other,
                                        lane_number in) const noexcept {
    return {other, in, made_here, is_late, decoded, block};
  }
};

/// A message from a layer to the layers above it, and at last to the link's owner.
struct link_event {
  /// The kinds of events.
  enum class kind : std::uint8_t {
    connected,     ///< the transport carries bytes
    disconnected,  ///< the transport is lost, for the reason `why`; a session may outlive it
    opened,        ///< the identity of the other end is known, and messages may be sent
    resumed,       ///< like `opened`, for a session that was open before
    suspected,     ///< the peer is silent for longer than usual: reversible
    trusted,       ///< packets of a suspected peer came again
    paused,        ///< this end itself was stopped, and called `number` nanoseconds late
    down,          ///< the peer was given up, has left, or was restarted; the last event of all
    writable,      ///< more may be sent
    path,          ///< the largest datagram that the path takes has changed: `number` bytes
    delivered,     ///< the message with the report `number` is in the receiver's mailbox
    unknown,       ///< the message with the report `number` may or may not have been delivered
    has_session,   ///< before `opened`: the other end has a session with this end by another link;
                   ///< `any_link::peer` names that end. This link tries again
  };
  kind what;                 ///< the kind of event
  std::uint64_t number = 0;  ///< of `path`, `paused`, `delivered` and `unknown`
  base::error why{};         ///< of `disconnected`, `down` and `unknown`
};

/// The guarantees below a layer, and the abilities of the wire.
struct properties {
  bool messages = false;   ///< messages arrive whole, not as a stream of bytes
  bool once = false;       ///< no message arrives twice
  bool ordered = false;    ///< messages of a lane arrive in the order in which they were sent
  bool reliable = false;   ///< no message is lost while `disconnected` does not come
  bool lanes = false;      ///< the lane travels with the message
  bool confirmed = false;  ///< the sender hears when a message is in the receiver's mailbox
  bool sessions = false;   ///< no message passes before `opened`, and between two connections
  bool connected = false;  ///< the transport can be lost and opened again, as a stream can
  /// The most bytes of a message.
  std::size_t largest = std::numeric_limits<std::uint32_t>::max();

  friend constexpr bool operator==(const properties&, const properties&) = default;
};

/// The reason why a layer does not fit on the one below, as the compiler prints it.
enum class misfit : std::uint8_t {
  none,                                          ///< it fits
  needs_messages_as_framing_makes_them,          ///< a stream of bytes is below
  needs_a_stream_but_messages_are_below,         ///< they have borders already
  needs_datagrams_a_stream_is_reliable_already,  ///< or another `reliability` is below
  needs_order_as_ordering_makes_it,              ///< messages may overtake each other
  needs_reliability_below,                       ///< messages may be lost
  needs_sessions_as_the_layer_session_has_them,  ///< there is no layer that reports an open session
  what_is_below_has_order_already,               ///< so the layer would do nothing
  what_is_below_has_sessions_already,            ///< so the layer would do nothing
};

/// A layer's view of the stack that it is in.
class layer_context {
 public:
  /// Passes a message to the layer below. This may cause an event before the call returns. Until
  /// then the handling of an event must not reach the objects that the message refers to.
  virtual void down(outgoing&& m) = 0;
  /// Passes a message to the layer above. Returns true if it has reached its destination, and false
  /// if the link's owner will report its arrival later, by `delivered(lane)`. Only a layer that
  /// acknowledges to the sender needs the result.
  virtual bool up(const incoming& m) = 0;
  /// Passes an event to the layer above.
  virtual void notify(const link_event& e) = 0;
  /// Returns true if the layer below takes another message.
  [[nodiscard]] virtual bool below_is_writable() const = 0;
  /// Returns the most bytes that the layers below put in front of a message: the room that a
  /// message of this layer's own needs.
  [[nodiscard]] virtual std::size_t headers_below() const = 0;
  /// Returns the guarantees of the layer below: always the same for one layer of one stack.
  [[nodiscard]] const properties& below() const noexcept { return *below_; }
  /// Returns the most bytes of a message that the layer below takes. Changes with the event `path`.
  [[nodiscard]] virtual std::size_t largest_below() const = 0;
  /// Returns a number that two stacks share if their layers have the same names in the same order:
  /// always the same for one stack.
  [[nodiscard]] virtual std::uint32_t fingerprint() const noexcept = 0;
  /// Returns the properties that the whole stack provides to its owner: always the same for one
  /// stack.
  [[nodiscard]] virtual const properties& provided() const noexcept = 0;
  /// Asks the transport to open again, after `disconnected`.
  virtual void reopen() = 0;
  /// Asks the transport for a second connection beside the present one (`carrier::reopen_beside`).
  /// The stack calls the layer that has `greeting(layer_context&)` and `answered(bytes, context)`.
  virtual void reopen_beside() = 0;
  /// Asks the transport to close for good.
  virtual void close() = 0;
  /// Tells the layer below that a message to this one has at most `bytes` from now on, on this
  /// connection. A layer that hears of it (`expect_at_most(bytes, context)`) may end a connection
  /// by which more come. Others pass it on, with the size of their header.
  virtual void expect_at_most(std::size_t) {}
  /// Ends the link for this reason: `session` below tells the peer, the transport closes for good,
  /// and the layers above hear `down`. For a layer that can take nothing more from the peer, as
  /// after a message above its limit.
  void end(const base::error& why) {
    tell_below(why);
    close();
    notify({link_event::kind::down, 0, why});
  }
  /// Returns the time of this call.
  [[nodiscard]] base::instant now() const noexcept { return now_; }

 protected:
  layer_context() = default;
  ~layer_context() = default;
  layer_context(const layer_context&) = default;
  layer_context& operator=(const layer_context&) = default;
  /// Calls `ends(why, context)` of the layers below that have it.
  virtual void tell_below(const base::error& why) = 0;
  base::instant now_{};                ///< set by the stack before each call
  const properties* below_ = nullptr;  ///< set by the stack for good
};

/// A figure of a layer, with its name. Times are in nanoseconds, and their names say so.
struct layer_count {
  std::string_view name;    ///< a literal
  std::uint64_t value = 0;  ///< so far, or now
};

/// Defaults for functions that most layers do not need: derive from it and hide some of them.
struct layer_defaults {
  /// The most bytes that the layer puts in front of a message.
  static constexpr std::size_t header_size = 0;
  /// Returns the reason why this layer does not fit on the one below, or zero. With a reason a
  /// stack does not compile, and the compiler's message names the reason. A layer may have reasons
  /// of its own, in any enumeration of which zero means that it fits.
  [[nodiscard]] static constexpr misfit check_below(properties) noexcept { return misfit::none; }
  /// Returns this layer's guarantees, given those below.
  [[nodiscard]] static constexpr properties provides(properties below) noexcept { return below; }

  /// Sends a message from above.
  void send(outgoing&& m, layer_context& c) { c.down(std::move(m)); }
  /// Receives a message from below.
  void receive(const incoming& m, layer_context& c) { static_cast<void>(c.up(m)); }
  /// Receives an event from below.
  void notice(const link_event& e, layer_context& c) { c.notify(e); }
  /// Receives the report that one message of this lane, for which the owner had said "later", is in
  /// the receiver's mailbox now.
  void delivered(lane_number, layer_context&) {}
  /// Does the work that is due when the deadline has come.
  void advance(layer_context&) {}
  /// Returns the time for the next `advance`, or `never()`.
  [[nodiscard]] base::instant deadline() const noexcept { return base::instant::never(); }
  /// Returns true if the layer takes another message and the one below does. A layer with a buffer
  /// of its own returns true if that has room.
  [[nodiscard]] bool writable(const layer_context& c) const { return c.below_is_writable(); }
};

namespace detail {
/// Calls `expect_at_most` of a layer that has it; for any other, that of its context.
template <class L>
void expect_at_most(L& l, std::size_t bytes, layer_context& c) {
  if constexpr (requires { l.expect_at_most(bytes, c); })
    l.expect_at_most(bytes, c);
  else
    c.expect_at_most(bytes + std::min(std::size_t{L::header_size}, ~std::size_t{0} - bytes));
}
}  // namespace detail

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
