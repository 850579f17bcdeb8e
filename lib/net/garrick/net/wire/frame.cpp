#include "garrick/net/wire/frame.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/wire/byte_reader.hpp"
#include "garrick/net/wire/byte_writer.hpp"

namespace garrick::net {
namespace {

// The fields of each kind, in the order in which they lie on the wire.
constexpr unsigned R = 1;   // receiver
constexpr unsigned S = 2;   // sender
constexpr unsigned N = 4;   // number
constexpr unsigned T = 8;   // type
constexpr unsigned P = 16;  // payload

struct kind_row {
  std::string_view name;
  unsigned fields;
};
constexpr std::array<kind_row, 22> kinds{{{"", 0},
                                          {"message", R | S | T | P},
                                          {"request", R | S | N | T | P},
                                          {"response", R | S | N | T | P},
                                          {"error", R | S | N | P},
                                          {"cancel", R | S | N},
                                          {"link", R | S},
                                          {"unlink", R | S},
                                          {"monitor", R | S | N},
                                          {"demonitor", R | S | N},
                                          {"down", R | S | N | P},
                                          {"exit", R | S | P},
                                          {"kill", R | S | P},
                                          {"release", R | N},
                                          {"credit", R | N},
                                          {"resolve", N | P},
                                          {"resolved", R | S | N | P},
                                          {"spawn", S | N | P},
                                          {"spawned", S | N | P},
                                          {"marker", R | S | N},
                                          {"marked", R | S | N},
                                          {"decode_error", R | S | T | P}}};

/// The bit of the first byte that says that extensions follow the fields.
constexpr std::uint8_t has_extensions = 0x80;

// Keys of extensions. The lowest bit marks an extension that must be understood.
constexpr std::uint64_t must_understand = 1;
constexpr std::uint64_t deadline_key = 2;
constexpr std::uint64_t trace_key = 4;
constexpr std::uint64_t urgent_key = 6;
constexpr std::uint64_t handles_key = 8;
constexpr std::uint64_t bytes_key = 10;
constexpr std::size_t trace_size = 16 + 8 + 1;

/// Bytes of a message's header without extensions.
constexpr std::size_t message_header = 1 + 16 + 16 + 8;

constexpr std::size_t longest_extensions =
    1 + (2 + longest_varint) + (2 + trace_size) + 2 + 2;  // one byte for the length of them all
/// Only `credit` has it, which has neither a sender nor a type.
constexpr std::size_t longest_bytes = 2 + longest_varint;
static_assert(longest_extensions + longest_bytes < 0x80);
static_assert(1 + 16 + longest_varint + longest_extensions + longest_bytes <= frame_room);
static_assert(1 + 16 + 16 + longest_varint + 8 + longest_extensions <= frame_room);

[[nodiscard]] unsigned fields_of(frame_kind k) noexcept {
  const auto at = static_cast<std::size_t>(k);
  return at < kinds.size() ? kinds[at].fields : 0;
}

/// Bytes of a header without its number and without extensions.
[[nodiscard]] std::size_t fixed_size(unsigned fields) noexcept {
  return 1u + ((fields & R) != 0 ? 16u : 0u) + ((fields & S) != 0 ? 16u : 0u) +
         ((fields & T) != 0 ? 8u : 0u);
}

std::byte* put_id(std::byte* to, const actor_id& a) noexcept {
  store_le(to, a.low);
  store_le(to + 8, a.high);
  return to + 16;
}
actor_id take_id(byte_reader& in) noexcept {
  const auto low = in.fixed<std::uint64_t>();
  return {low, in.fixed<std::uint64_t>()};
}

/// Returns true if the frame has a deadline that is worth sending.
bool has_deadline(const frame& f) noexcept { return f.time_left && !f.time_left->is_infinite(); }

bool has_bytes(const frame& f) noexcept { return f.bytes != 0 && f.kind == frame_kind::credit; }

std::byte* put_extensions(std::byte* const to, const frame& f) noexcept {
  std::byte* at = to + 1;
  if (has_deadline(f)) {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(f.time_left->count(), 0));
    at = store_varint(at, deadline_key);
    at = store_varint(at, varint_size(ns));
    at = store_varint(at, ns);
  }
  if (f.trace) {
    at = store_varint(at, trace_key);
    at = store_varint(at, trace_size);
    std::memcpy(at, f.trace->trace.data(), 16);
    std::memcpy(at + 16, f.trace->span.data(), 8);
    at[24] = static_cast<std::byte>(f.trace->flags);
    at += trace_size;
  }
  if (f.urgent) {
    at = store_varint(at, urgent_key);
    at = store_varint(at, 0);
  }
  if (f.handles != 0) {
    at = store_varint(at, handles_key | must_understand);
    at = store_varint(at, 0);
  }
  if (has_bytes(f)) {
    at = store_varint(at, bytes_key);
    at = store_varint(at, varint_size(f.bytes));
    at = store_varint(at, f.bytes);
  }
  *to = static_cast<std::byte>(at - to - 1);
  return at;
}

void take_deadline(byte_reader& in, frame& f) noexcept {
  if (f.time_left) in.fail("two deadlines");
  const std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  const std::uint64_t ns = std::min(in.varint(), most);
  if (in.remaining() != 0) in.fail("bytes behind a deadline");
  f.time_left = base::duration::nanoseconds(static_cast<std::int64_t>(ns));
}

void take_trace(byte_reader& in, frame& f) noexcept {
  if (f.trace) in.fail("two traces");
  if (in.remaining() != trace_size) in.fail("a trace of another size");
  trace_context t;
  const std::span<const std::byte> bytes = in.bytes(trace_size);
  if (in.failed()) return;
  std::memcpy(t.trace.data(), bytes.data(), 16);
  std::memcpy(t.span.data(), bytes.data() + 16, 8);
  t.flags = static_cast<std::uint8_t>(bytes[24]);
  f.trace = t;
}

void take_urgent(byte_reader& in, frame& f) noexcept {
  if (f.urgent) in.fail("urgent twice");
  if (in.remaining() != 0) in.fail("bytes where urgent has none");
  f.urgent = true;
}

void take_handles(byte_reader& in, frame& f) noexcept {
  if (f.handles != 0) in.fail("handles twice");
  if (in.remaining() != 0) in.fail("bytes where handles have none");
  f.handles = 1;  // for now: `take_numbers` reads the count
}

/// Frames of other kinds give no bytes back: theirs are read, and not kept.
void take_bytes(byte_reader& in, frame& f, bool& had_bytes) noexcept {
  if (std::exchange(had_bytes, true)) in.fail("bytes given back twice");
  const std::uint64_t n = in.varint();
  if (in.remaining() != 0) in.fail("bytes behind a number of bytes");
  if (f.kind == frame_kind::credit) f.bytes = n;
}

/// Reads the numbers of handles behind the payload, and their count.
void take_numbers(byte_reader& in, frame& f) noexcept {
  const std::size_t size = f.payload.size();
  if (size < sizeof(f.handles)) return in.fail("handles without their number");
  f.handles = load_le<std::uint32_t>(f.payload.data() + size - sizeof(f.handles));
  const std::size_t room = (size - sizeof(f.handles)) / actor_id_size;
  if (f.handles == 0 || f.handles > room)
    return in.fail("so many handles there cannot be", f.handles);
  f.payload = f.payload.first(size - sizeof(f.handles) - f.handles * actor_id_size);
}

/// Returns the key of the first unknown extension that must be understood, or 0.
std::uint64_t take_extensions(byte_reader& in, frame& f) noexcept {
  std::uint64_t not_understood = 0;
  bool had_bytes = false;
  const byte_reader::part all = in.open_part();
  while (in.remaining() != 0) {
    const std::uint64_t key = in.varint();
    const byte_reader::part one = in.open_part();
    if (in.failed()) break;
    if ((key & ~must_understand) == deadline_key)
      take_deadline(in, f);
    else if ((key & ~must_understand) == trace_key)
      take_trace(in, f);
    else if ((key & ~must_understand) == urgent_key)
      take_urgent(in, f);
    else if ((key & ~must_understand) == handles_key)
      take_handles(in, f);
    else if ((key & ~must_understand) == bytes_key)
      take_bytes(in, f, had_bytes);
    else if ((key & must_understand) != 0 && not_understood == 0)
      not_understood = key;
    in.close_part(one);
  }
  in.close_part(all);
  return not_understood;
}

[[gnu::cold]] base::error unknown_extension(std::uint64_t key) {
  return base::make_error(net_errc::incompatible, "frame",
                          "an extension that must be understood: " + std::to_string(key));
}

}  // namespace

std::string_view to_text(frame_kind k) noexcept {
  const auto at = static_cast<std::size_t>(k);
  return at < kinds.size() ? kinds[at].name : std::string_view{};
}

void prepend_message_header(const actor_id& receiver, const actor_id& sender, std::uint64_t type,
                            packet& payload) {
  std::byte* at = payload.prepend(message_header);
  *at = static_cast<std::byte>(frame_kind::message);
  at = put_id(put_id(at + 1, receiver), sender);
  store_le(at, type);
}

void prepend_header(const frame& f, packet& payload) {
  if (f.kind == frame_kind::message && !f.time_left && !f.trace && !f.urgent && f.handles == 0)
    return prepend_message_header(f.receiver, f.sender, f.type, payload);
  const unsigned fields = fields_of(f.kind);
  GARRICK_ASSERT(fields != 0, "a frame of a kind that does not exist");
  GARRICK_ASSERT((fields & P) != 0 || payload.empty(), "frames of this kind have no payload");
  GARRICK_ASSERT(f.handles == 0 || payload.size() > f.handles * actor_id_size,
                 "handles without their numbers");
  const bool extended = has_deadline(f) || f.trace || f.urgent || f.handles != 0 || has_bytes(f);
  std::byte extensions[longest_extensions + longest_bytes];
  const std::size_t number = (fields & N) != 0 ? varint_size(f.number) : 0;
  std::size_t behind = 0;
  if (extended) [[unlikely]]
    behind = static_cast<std::size_t>(put_extensions(extensions, f) - extensions);
  std::byte* at = payload.prepend(fixed_size(fields) + number + behind);
  *at++ =
      static_cast<std::byte>(static_cast<std::uint8_t>(f.kind) | (extended ? has_extensions : 0));
  if ((fields & R) != 0) at = put_id(at, f.receiver);
  if ((fields & S) != 0) at = put_id(at, f.sender);
  if ((fields & N) != 0) at = store_varint(at, f.number);
  if ((fields & T) != 0) {
    store_le(at, f.type);
    at += sizeof(f.type);
  }
  if (extended) [[unlikely]]
    std::memcpy(at, extensions, behind);
}

base::result<frame> decode_frame(std::span<const std::byte> bytes) {
  byte_reader in(bytes);
  base::result<frame> whole;
  frame& f = *whole;
  const auto first = in.fixed<std::uint8_t>();
  f.kind = static_cast<frame_kind>(first & ~has_extensions);
  const unsigned fields = fields_of(f.kind);
  if (fields == 0) in.fail("a kind of frame that does not exist", first);
  if ((fields & R) != 0) f.receiver = take_id(in);
  if ((fields & S) != 0) f.sender = take_id(in);
  if ((fields & N) != 0) f.number = in.varint();
  if ((fields & T) != 0) f.type = in.fixed<std::uint64_t>();
  std::uint64_t not_understood = 0;
  if ((first & has_extensions) != 0) [[unlikely]]
    not_understood = take_extensions(in, f);
  if ((fields & P) != 0)
    f.payload = in.rest();
  else
    in.expect_end();
  if (f.handles != 0) [[unlikely]]
    take_numbers(in, f);
  if (in.failed()) [[unlikely]]
    return in.failure();
  if (not_understood != 0) [[unlikely]]
    return unknown_extension(not_understood);
  return whole;
}

bool decode_plain_message(std::span<const std::byte> bytes, frame& f) noexcept {
  constexpr auto plain = static_cast<std::byte>(frame_kind::message);
  if (bytes.size() < message_header || bytes[0] != plain) [[unlikely]]
    return false;
  const std::byte* const at = bytes.data() + 1;
  f.receiver = {load_le<std::uint64_t>(at), load_le<std::uint64_t>(at + 8)};
  f.sender = {load_le<std::uint64_t>(at + 16), load_le<std::uint64_t>(at + 24)};
  f.type = load_le<std::uint64_t>(at + 32);
  f.payload = bytes.subspan(message_header);
  return true;
}

actor_id number_behind(const frame& f, std::uint32_t which) noexcept {
  const std::byte* const at = f.payload.data() + f.payload.size() + which * actor_id_size;
  return {load_le<std::uint64_t>(at), load_le<std::uint64_t>(at + 8)};
}

void append_numbers(byte_writer& payload, std::span<const actor_id> handles) {
  if (handles.empty()) return;
  for (const actor_id& id : handles) {
    payload.fixed(id.low);
    payload.fixed(id.high);
  }
  payload.fixed(static_cast<std::uint32_t>(handles.size()));
}

}  // namespace garrick::net
