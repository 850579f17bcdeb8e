// The same messages come out of a stream however it is cut into pieces, and the kept bytes stay
// below the limit.
//
// The first byte is the limit; 0: four gigabytes, so believing a length would exceed the fuzzer's
// memory. The second is the size of the pieces; 0: each piece has as many bytes as its first byte
// says, and one more.
#include "garrick/net/layer/framing.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/stack/stack.hpp"

using namespace garrick;
using namespace garrick::net;

namespace {

using bytes = std::vector<std::byte>;

struct end final : carrier, link_owner {
  std::vector<bytes> messages;
  bool broken = false;

  void transmit(packet) override {}
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 1u << 30; }
  void reopen() override {}
  void close() override {}
  bool on_message(const incoming& m) override {
    GARRICK_ASSERT(!broken, "a message after the end of the connection");
    messages.emplace_back(m.bytes.begin(), m.bytes.end());
    return true;
  }
  void on_event(const link_event& e) override {
    broken |= e.what == link_event::kind::disconnected || e.what == link_event::kind::down;
  }
};

/// Reads the messages of a stream by the rules of docs/wire.md. Returns true if a length was above
/// the limit.
bool read_all(std::span<const std::byte> stream, std::uint32_t largest, std::vector<bytes>& out) {
  while (stream.size() >= framing::header_size) {
    const auto size = load_le<std::uint32_t>(stream.data());
    if (size > largest) return true;
    stream = stream.subspan(framing::header_size);
    if (size > stream.size()) return false;
    out.emplace_back(stream.begin(), stream.begin() + size);
    stream = stream.subspan(size);
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint32_t largest = data[0] == 0 ? 0xffffffff : data[0];
  const auto stream = std::as_bytes(std::span(data, size)).subspan(2);

  end here;
  stack<byte_stream, framing> link(here, here, framing({.largest = largest}));
  link.connected({});
  for (std::span<const std::byte> left = stream; !left.empty();) {
    const std::size_t piece = data[1] == 0 ? std::to_integer<std::size_t>(left[0]) + 1 : data[1];
    link.receive(left.first(std::min(piece, left.size())), {});
    left = left.subspan(std::min(piece, left.size()));
  }

  std::vector<bytes> expected;
  const bool too_large = read_all(stream, largest, expected);
  GARRICK_ASSERT(here.messages == expected, "the messages depend on how the stream is cut");
  GARRICK_ASSERT(here.broken == too_large, "the end depends on how the stream is cut");
  return 0;
}
