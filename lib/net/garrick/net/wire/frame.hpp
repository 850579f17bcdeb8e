// What nodes say to each other about actors: the frames of the actor protocol, version 1.
//
// A frame is a header and a payload. The header goes in front of the payload, into the room that
// the packet has there, so a message is encoded once and never moved; on the way up a frame is
// a view of the bytes that came. All kinds have the same fields, of which each kind uses some:
// docs/wire.md has the table.
//
// Actors are known by random numbers of 128 bits, which nobody outside can guess; a message's type
// by 64 bits of its name (type_id.hpp), and requests, monitors and what else is answered by
// a number that the asker chose.
//
// A header may have extensions behind its fields: each has a number, a length and a value, so who
// does not know one skips it, unless it says that it must be understood.
//
// Handshakes, heartbeats, leaving and the acknowledgements of a session belong to the layers below
// (failure_detection, reconnect). They are never frames.
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

/// Names an actor to other processes, or nobody.
struct actor_id {
  std::uint64_t low = 0;   ///< the first eight bytes on the wire
  std::uint64_t high = 0;  ///< the others

  /// True unless it is nobody's.
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return (low | high) != 0; }
  [[nodiscard]] friend constexpr auto operator<=>(const actor_id&,
                                                  const actor_id&) noexcept = default;
};

/// What a frame says.
enum class frame_kind : std::uint8_t {
  message = 1,   ///< payload: a value of `type`
  request,       ///< the same; an answer with `number` is expected
  response,      ///< to request `number`: a value of `type`
  error,         ///< to request, resolve or spawn `number`: a base::error
  cancel,        ///< the answer to request `number` is not wanted any more
  link,          ///< `sender` and `receiver` end together
  unlink,        ///< not any more
  monitor,       ///< `sender` wants to know when `receiver` ends, as `number`
  demonitor,     ///< not any more
  down,          ///< to monitor `number`: `sender` has ended; payload: a base::exit_reason
  exit,          ///< `sender`, who is linked, has ended, or asks to; payload: a base::exit_reason
  kill,          ///< `receiver` is to end at once; payload: a kill_order
  release,       ///< of the times that `receiver` was sent here, `number` are done with
  credit,        ///< `number` more messages may be sent to `receiver`; to nobody: on this link
  resolve,       ///< who has this name? payload: a resolve_order
  resolved,      ///< to resolve `number`: `sender` has it, or `receiver`, whose number is the
                 ///< asker's; payload: its protocol, a schema
  spawn,         ///< payload: a spawn_order. `sender` is reserved: nobody, in version 1
  spawned,       ///< to spawn `number`: `sender` was spawned; payload: its protocol, a schema
  marker,        ///< what `sender` sends to `receiver` from here on goes another way
  marked,        ///< to marker `number`: all before it has come
  decode_error,  ///< a message of `type` to `sender` was not understood; payload: a base::error
};

/// The kind in one word, for logs; empty if there is no such kind.
[[nodiscard]] std::string_view to_text(frame_kind k) noexcept;

/// Which trace a message belongs to: the identifiers of W3C's trace context.
struct trace_context {
  std::array<std::byte, 16> trace{};  ///< of the whole trace
  std::array<std::byte, 8> span{};    ///< of the sender's step
  std::uint8_t flags = 0;             ///< bit 0: it is recorded

  [[nodiscard]] bool operator==(const trace_context&) const = default;
};

/// A header's fields, and where the payload lies. Fields that its kind does not have are zero.
struct frame {
  frame_kind kind = frame_kind::message;  ///< which fields there are
  actor_id receiver{};                    ///< whom it is for
  actor_id sender{};                      ///< who it is from, or whom it tells about
  std::uint64_t number = 0;               ///< of a request, or how many
  std::uint64_t type = 0;                 ///< the payload's `type_id`
  std::optional<base::duration>
      time_left{};                       ///< until the deadline; counted by each end's own clock
  std::optional<trace_context> trace{};  ///< the trace that it belongs to
  bool urgent = false;  ///< a message or a request: before other mail, once it has come
  /// How many numbers of handles lie behind the payload (`number_behind`). The payload refers to
  /// them, so whoever does not read it still knows what it has been given.
  std::uint32_t handles = 0;
  std::span<const std::byte> payload{};  ///< a view; not looked at by `prepend_header`
};

/// Bytes of an actor's number.
inline constexpr std::size_t actor_id_size = 16;

/// Room in front of a payload for the longest header.
inline constexpr std::size_t frame_room = 96;

/// Writes the header of `f` in front of `payload`, which then is the whole frame. Requires
/// `frame_room` bytes of room there beside what the layers need, a kind that exists, no payload
/// where the kind has none, and what `append_numbers` writes at its end if there are handles. A
/// time left below zero is sent as zero; an infinite one is not sent.
///
///     base::result<packet> p = encode(order, {.front = frame_room + s.header_size()});
///     prepend_header({.kind = frame_kind::message, .receiver = to, .type = type_id<shop::order>},
///                    *p);
void prepend_header(const frame& f, packet& payload);

/// The same for a message without extensions. Most frames by far are such messages.
void prepend_message_header(const actor_id& receiver, const actor_id& sender, std::uint64_t type,
                            packet& payload);

/// Understands a frame. Its payload lies within `bytes`. Errors: `decode_failed`; `incompatible` if
/// an extension that must be understood is not known.
[[nodiscard]] base::result<frame> decode_frame(std::span<const std::byte> bytes);

/// The same for a message without extensions, as most frames by far are: its fields have their
/// places. False if `bytes` are none; then they may be another frame. Requires that `f` is as
/// `frame{}` or as this has left it before, and leaves it as it was if it is false.
[[nodiscard]] bool decode_plain_message(std::span<const std::byte> bytes, frame& f) noexcept;

/// The kind of bytes that are perhaps a frame; none has the number 0, as of no bytes.
[[nodiscard]] inline frame_kind kind_of(std::span<const std::byte> bytes) noexcept {
  return bytes.empty() ? frame_kind{} : static_cast<frame_kind>(bytes[0] & std::byte{0x7f});
}

/// One of the numbers behind the payload of a frame that was decoded. Requires that there is such
/// a one, and that the frame's bytes live.
[[nodiscard]] actor_id number_behind(const frame& f, std::uint32_t which) noexcept;

/// Appends the numbers of the handles in a payload, which is complete otherwise: `frame::handles`
/// is their number then. Nothing if there are none.
void append_numbers(byte_writer& payload, std::span<const actor_id> handles);

}  // namespace garrick::net

/// So that a table may have actors as keys. The numbers are random: no more mixing is needed.
template <>
struct std::hash<garrick::net::actor_id> {
  /// Some bits of it.
  [[nodiscard]] std::size_t operator()(const garrick::net::actor_id& a) const noexcept {
    return static_cast<std::size_t>(a.low ^ a.high);
  }
};
