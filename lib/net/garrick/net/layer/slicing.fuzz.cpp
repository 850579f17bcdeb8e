// For any bytes of a peer: the kept bytes stay within their limits, and no more bytes are passed up
// than have come.
//
// The first byte chooses the layer below. Then each step is a byte: its lowest bit and a number in
// the other bits. If the bit is set, this number of milliseconds passes; otherwise this number of
// the following bytes is a datagram. Sizes up to four gigabytes are allowed, so believing one would
// exceed the fuzzer's memory.
#include "garrick/net/layer/slicing.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/stack/stack.hpp"

using namespace garrick;
using namespace garrick::net;

namespace {

template <bool Ordered, bool Reliable, bool Lanes>
struct below {
  static constexpr properties offers{
      .messages = true, .ordered = Ordered, .reliable = Reliable, .lanes = Lanes};
};

struct end final : carrier, link_owner {
  std::uint64_t bytes = 0;
  bool down = false;

  void transmit(packet) override {}
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 1200; }
  void reopen() override {}
  void close() override {}
  bool on_message(const incoming& m) override {
    GARRICK_ASSERT(!down, "a message after the end");
    bytes += m.bytes.size();
    return true;
  }
  void on_event(const link_event& e) override { down |= e.what == link_event::kind::down; }
};

template <class Transport>
void feed(std::span<const std::byte> input) {
  end here;
  stack<Transport, slicing> link(here, here,
                                 slicing({.largest = 0xffffffff,
                                          .partial_messages = 3,
                                          .expiry = base::duration::milliseconds(20)}));
  const slicing_counters& k = link.template get<slicing>().counters();
  base::instant now{};
  std::uint64_t fed = 0;
  while (!input.empty() && !here.down) {
    const auto step = static_cast<unsigned>(input[0]);
    input = input.subspan(1);
    if (step % 2 == 1) {
      now = now + base::duration::milliseconds(step / 2);
    } else {
      const std::size_t size = std::min<std::size_t>(step / 2, input.size());
      link.receive(input.first(size), now);
      input = input.subspan(size);
      fed += size;
    }
    if (link.deadline() <= now) link.advance(now);
    GARRICK_ASSERT(link.deadline() > now, "a partial message outlives its time");
    GARRICK_ASSERT(here.bytes <= fed, "more is passed up than has come");
    // An early piece has 13 bytes at least, and counts for `piece_overhead` more.
    GARRICK_ASSERT(k.partial_bytes <= fed * (2 + piece_overhead / 13 + 1),
                   "more is kept than has come");
    GARRICK_ASSERT(Transport::offers.ordered || k.partial <= 6, "more is kept than is allowed");
  }
  if (!Transport::offers.reliable) {
    link.advance(now + base::duration::seconds(1));
    GARRICK_ASSERT(k.partial == 0 && k.partial_bytes == 0, "something is kept for ever");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span(data, size)).subspan(1);
  switch (data[0] % 5) {
    case 0: feed<below<false, false, false>>(input); break;
    case 1: feed<below<true, false, true>>(input); break;
    case 2: feed<below<true, true, false>>(input); break;
    case 3: feed<below<false, true, false>>(input); break;
    default: feed<below<false, false, true>>(input);
  }
  return 0;
}
