// Any bytes are a sound schema or an error with a reason. A schema supports itself, and is compared
// with ours, published and sent again without harm.
#include <garrick/base/platform/assert.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/wire/orders.hpp>
#include <garrick/net/wire/schema.hpp>

#include <cstddef>
#include <cstdint>

using namespace garrick;
using namespace garrick::net;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const base::result<schema> s = decode_schema(bytes, {.types = 300, .signatures = 20});
  if (!s) {
    GARRICK_ASSERT(s.error() == net_errc::decode_failed && !s.error().detail().empty(),
                   "the error says nothing");
    return 0;
  }
  GARRICK_ASSERT(!supports(*s, *s), "it supports itself");
  static const schema& ours = *schema_of<resolve_order>();
  static_cast<void>(supports(ours, *s));
  static_cast<void>(supports(*s, ours));
  schema_table table;
  GARRICK_ASSERT(!table.add(*s) && !table.add(*s), "it is published, also twice");
  static_cast<void>(table.add(ours));
  const base::result<packet> p = encode(*s);
  GARRICK_ASSERT(p.has_value(), "a decoded schema can be encoded");
  const base::result<schema> again = decode_schema(p->bytes());
  GARRICK_ASSERT(again.has_value() && *again == *s, "it comes back");
  return 0;
}
