// For any bytes of a peer: a lane's numbers only grow, held messages stay within their limits, and
// every datagram is accounted for.
//
// The first byte chooses the settings and the layer below. Then each step is a byte: its lowest bit
// and a number in the other bits. If the bit is set, this number of milliseconds passes; otherwise
// this number of the following bytes is a datagram.
#include "garrick/net/layer/ordering.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/stack/stack.hpp"

using namespace garrick;
using namespace garrick::net;

namespace {

struct reliable_datagrams {
  static constexpr properties offers{.messages = true, .reliable = true};
};

struct end final : carrier, link_owner {
  std::uint64_t messages = 0;
  bool down = false;

  void transmit(packet) override {}
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 1200; }
  void reopen() override {}
  void close() override {}
  bool on_message(const incoming&) override {
    GARRICK_ASSERT(!down, "a message after the end");
    ++messages;
    return true;
  }
  void on_event(const link_event& e) override { down |= e.what == link_event::kind::down; }
};

constexpr ordering_settings settings_of(unsigned choice) {
  return {.pending = static_cast<std::uint16_t>(choice % 8),
          .bytes = 100 * (choice / 8 % 16),
          .timeout = base::duration::milliseconds(20),
          .window = 100,
          .window_bytes = 1000};
}

template <class Stack>
void feed(unsigned choice, std::span<const std::byte> input) {
  end here;
  const ordering_settings s = settings_of(choice);
  Stack link(here, here, ordering(s));
  const ordering_counters& k = link.template get<ordering>().counters();
  base::instant now{};
  std::uint64_t datagrams_fed = 0;
  while (!input.empty() && !here.down) {
    const auto step = static_cast<unsigned>(input[0]);
    input = input.subspan(1);
    if (step % 2 == 1) {
      now = now + base::duration::milliseconds(step / 2);
    } else {
      const std::size_t size = std::min<std::size_t>(step / 2, input.size());
      link.receive(input.first(size), now);
      input = input.subspan(size);
      ++datagrams_fed;
    }
    if (link.deadline() <= now) link.advance(now);
    GARRICK_ASSERT(link.deadline() > now, "a held message outlives the time-out");
    GARRICK_ASSERT(k.held_bytes <= 2 * (Stack::provides.reliable ? s.window_bytes : s.bytes),
                   "more is held than is allowed");
    GARRICK_ASSERT(
        here.down || here.messages + k.held + k.late + k.duplicates + k.malformed == datagrams_fed,
        "a datagram is not accounted for");
  }
  if (!Stack::provides.reliable) {
    link.advance(now + base::duration::seconds(1));
    GARRICK_ASSERT(k.held == 0 && k.held_bytes == 0, "something is held for ever");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span(data, size)).subspan(1);
  if (data[0] >= 128)
    feed<stack<reliable_datagrams, ordering>>(data[0], input);
  else
    feed<stack<datagrams, ordering>>(data[0], input);
  return 0;
}
