// Any bytes are a frame or an error with a reason. A frame's header, written again, means the same.
// Bytes that `decode_plain_message` accepts are the same frame to `decode_frame`.
#include <garrick/base/platform/assert.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/wire/frame.hpp>

#include <cstddef>
#include <cstdint>

using namespace garrick;
using namespace garrick::net;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const base::result<frame> f = decode_frame(bytes);
  frame plain{.receiver = {1, 2}, .sender = {3, 4}, .type = 5};  // as an earlier message left it
  const frame before = plain;
  const bool is_plain = decode_plain_message(bytes, plain);
  const bool is_untouched = plain.payload.data() == nullptr && plain.type == before.type &&
                            plain.receiver == before.receiver && plain.sender == before.sender;
  GARRICK_ASSERT(is_plain ? f.has_value() : is_untouched, "a plain one is one");
  if (is_plain)
    GARRICK_ASSERT(
        plain.kind == f->kind && plain.receiver == f->receiver && plain.sender == f->sender &&
            plain.type == f->type && !f->trace && !f->time_left && !f->urgent && f->handles == 0 &&
            plain.payload.data() == f->payload.data() && plain.payload.size() == f->payload.size(),
        "both decoders say the same");
  if (!f) {
    GARRICK_ASSERT(f.error() == net_errc::decode_failed || f.error() == net_errc::incompatible,
                   "another error");
    GARRICK_ASSERT(!f.error().detail().empty(), "the error says nothing");
    return 0;
  }
  GARRICK_ASSERT(!to_text(f->kind).empty(), "a kind that does not exist");
  // The numbers behind the payload belong to the frame.
  const std::size_t behind = f->handles != 0 ? f->handles * actor_id_size + sizeof(f->handles) : 0;
  packet p = packet::copy_of({f->payload.data(), f->payload.size() + behind}, frame_room);
  prepend_header(*f, p);
  const base::result<frame> again = decode_frame(p.bytes());
  GARRICK_ASSERT(again.has_value(), "a written frame can be read");
  const bool endless = f->time_left && f->time_left->is_infinite();
  GARRICK_ASSERT(again->kind == f->kind && again->receiver == f->receiver &&
                     again->sender == f->sender && again->number == f->number &&
                     again->type == f->type && again->trace == f->trace &&
                     again->urgent == f->urgent && again->handles == f->handles &&
                     again->bytes == f->bytes && (endless || again->time_left == f->time_left) &&
                     again->payload.size() == f->payload.size(),
                 "it means the same");
  return 0;
}
