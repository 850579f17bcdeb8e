// Messages of nodes about actors: the frames of the actor protocol, version 1.
//
// A frame is a header and a payload. The header goes in front of the payload, into the room that
// the packet has there, so a message is encoded once and never moved; a received frame is a view of
// the received bytes. All kinds have the same fields, of which each kind uses some: docs/wire.md
// has the table.
//
// An actor is known by a random number of 128 bits, which no other process can guess. The type of a
// message is known by 64 bits made from its name (type_id.hpp). A request, a monitor or another
// frame that is answered is known by a number that the asker chose.
//
// A header may have extensions behind its fields. Each has a number, a length and a value, so a
// receiver skips an unknown one, unless it is marked as one that must be understood.
//
// Handshakes, heartbeats, leaving and the acknowledgements of a session belong to the layers below
// (session, redelivery). They are never frames.
//
// Invariant:
//   F1  A header is at most `frame_room` bytes.
//
// Thread safety: plain functions.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/values/result.hpp"
#include "garrick/net/packet.hpp"

namespace garrick::net {

class byte_writer;

/// Names an actor to other processes; zero names no actor.
struct actor_id {
  std::uint64_t low = 0;   ///< the first eight bytes on the wire
  std::uint64_t high = 0;  ///< the other eight

  /// Returns true if it names an actor.
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return (low | high) != 0; }
  [[nodiscard]] friend constexpr auto operator<=>(const actor_id&,
                                                  const actor_id&) noexcept = default;
};

/// The kinds of frames.
enum class frame_kind : std::uint8_t {
  message = 1,   ///< payload: a value of `type`
  request,       ///< payload: a value of `type`; an answer with `number` is expected
  response,      ///< to request `number`: a value of `type`
  error,         ///< to request, resolve or spawn `number`: a base::error
  cancel,        ///< the answer to request `number` is not wanted any more
  link,          ///< `sender` and `receiver` end together
  unlink,        ///< takes the link back
  monitor,       ///< `sender` wants to know when `receiver` ends, as `number`
  demonitor,     ///< takes the monitor back
  down,          ///< to monitor `number`: `sender` has ended; payload: a base::exit_reason
  exit,          ///< linked `sender` has ended, or demands an end; payload: a base::exit_reason
  kill,          ///< `receiver` must end at once; payload: a kill_order
  release,       ///< `number` of the handles to `receiver` that were sent here are released
  credit,        ///< `number` more messages may be sent to `receiver`; if it is zero, on this link
  resolve,       ///< asks for the actor of a name; payload: a resolve_order
  resolved,      ///< to resolve `number`: `sender` has the name, or `receiver` if the actor is one
                 ///< of the asker's; payload: its protocol, a schema
  spawn,         ///< payload: a spawn_order. `sender` is reserved: zero, in version 1
  spawned,       ///< to spawn `number`: `sender` was spawned; payload: its protocol, a schema
  marker,        ///< later messages from `sender` to `receiver` go another way
  marked,        ///< to marker `number`: all earlier messages have arrived
  decode_error,  ///< a message of `type` to `sender` was not understood; payload: a base::error
};

/// Returns the kind in one word, for logs; empty if there is no such kind.
[[nodiscard]] std::string_view to_text(frame_kind k) noexcept;

/// The trace of a message: the identifiers of W3C's trace context.
struct trace_context {
  std::array<std::byte, 16> trace{};  ///< of the whole trace
  std::array<std::byte, 8> span{};    ///< of the sender's step
  std::uint8_t flags = 0;             ///< bit 0: it is recorded

  [[nodiscard]] bool operator==(const trace_context&) const = default;
};

/// A header's fields, and a view of the payload. Fields that its kind does not have are zero.
struct frame {
  frame_kind kind = frame_kind::message;  ///< decides which fields there are
  actor_id receiver{};                    ///< the actor to which it goes
  actor_id sender{};                      ///< the actor from which it comes, or its subject
  std::uint64_t number = 0;               ///< of a request, monitor or the like; or a count
  std::uint64_t type = 0;                 ///< the payload's `type_id`
  std::optional<base::duration>
      time_left{};                       ///< until the deadline; counted by each end's own clock
  std::optional<trace_context> trace{};  ///< the message's trace
  bool urgent = false;                   ///< this message or request is taken before other mail
  /// The count of the payload's handles. Their actors' numbers lie behind the payload, which refers
  /// to them (`number_behind`). A receiver thus knows the handles of a payload that it cannot read.
  std::uint32_t handles = 0;
  /// Of a credit: the bytes of large messages that its sender gives back, besides the messages.
  std::uint64_t bytes = 0;
  std::span<const std::byte> payload{};  ///< a view; `prepend_header` ignores it
};

/// The bytes of an actor's number.
inline constexpr std::size_t actor_id_size = 16;

/// Room in front of a payload for the longest header.
inline constexpr std::size_t frame_room = 96;

/// Writes the header of `f` in front of `payload`, which then is the whole frame. Requires room for
/// `frame_room` bytes in front of the payload, beside the layers' room; a kind that exists; an
/// empty payload if the kind has none; and, if there are handles, the numbers of `append_numbers`
/// at the payload's end. A time left below zero is sent as zero. An infinite one is left out, so
/// the receiver has none.
///
///     base::result<packet> p = encode(order, {.front = frame_room + s.header_size()});
///     prepend_header({.kind = frame_kind::message, .receiver = to, .type = type_id<shop::order>},
///                    *p);
void prepend_header(const frame& f, packet& payload);

/// Writes the header of a message without extensions, as most frames are.
void prepend_message_header(const actor_id& receiver, const actor_id& sender, std::uint64_t type,
                            packet& payload);

/// Decodes a frame and returns it. Its payload is a view of `bytes`. Errors: `decode_failed`;
/// `incompatible` for an unknown extension that must be understood.
[[nodiscard]] base::result<frame> decode_frame(std::span<const std::byte> bytes);

/// Decodes a message without extensions, as most frames are: its fields have fixed places. Returns
/// false if `bytes` are not such a message; they may be another frame. Requires that `f` is as
/// `frame{}` or as an earlier call has left it. Leaves `f` unchanged if it returns false.
[[nodiscard]] bool decode_plain_message(std::span<const std::byte> bytes, frame& f) noexcept;

/// Returns the kind of bytes that may be a frame; without bytes it is 0.
[[nodiscard]] inline frame_kind kind_of(std::span<const std::byte> bytes) noexcept {
  return bytes.empty() ? frame_kind{} : static_cast<frame_kind>(bytes[0] & std::byte{0x7f});
}

/// Returns the number at place `which`, from 0, behind the payload of a decoded frame. Requires
/// that it exists and that the frame's bytes live.
[[nodiscard]] actor_id number_behind(const frame& f, std::uint32_t which) noexcept;

/// Returns the bytes behind the header of a decoded frame: those of the payload, and of the numbers
/// of its handles.
[[nodiscard]] inline std::size_t size_behind_header(const frame& f) noexcept {
  const std::size_t numbers = f.handles != 0 ? f.handles * actor_id_size + sizeof(f.handles) : 0;
  return f.payload.size() + numbers;
}

/// Appends the numbers of a payload's handles and then their count, after the rest of the payload.
/// The frame has the same count as `frame::handles`. Does nothing without handles.
void append_numbers(byte_writer& payload, std::span<const actor_id> handles);

}  // namespace garrick::net

/// Lets a table have actors as keys. The numbers are random and need no more mixing.
template <>
struct std::hash<garrick::net::actor_id> {
  /// Returns some bits of the number.
  [[nodiscard]] std::size_t operator()(const garrick::net::actor_id& a) const noexcept {
    return static_cast<std::size_t>(a.low ^ a.high);
  }
};
