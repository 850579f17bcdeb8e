// For any sequence of numbers: no number is passed up twice, a new one within the window is passed
// up, and every datagram is accounted for.
//
// Each step is a byte, which makes a datagram's number from the one before: up to 63 ahead, up to
// 63 back, up to 4032 ahead, or the four bytes that follow.
#include "garrick/net/layer/duplicate_suppression.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/stack/stack.hpp"

using namespace garrick;
using namespace garrick::net;

namespace {

struct end final : carrier, link_owner {
  std::uint64_t messages = 0;

  void transmit(packet) override {}
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 1200; }
  void reopen() override {}
  void close() override {}
  bool on_message(const incoming&) override { return ++messages, true; }
  void on_event(const link_event&) override {}
};

std::uint32_t next_number(std::uint32_t last, std::span<const std::byte>& input) {
  const auto step = std::to_integer<std::uint32_t>(input[0]);
  input = input.subspan(1);
  switch (step / 64) {
    case 0: return last + step;
    case 1: return last - step % 64;
    case 2: return last + step % 64 * 64;
    default: break;
  }
  if (input.size() < 4) return last;
  last = load_le<std::uint32_t>(input.data());
  input = input.subspan(4);
  return last;
}

/// Returns the distance of a number from another one, on the circle of 2³².
std::int32_t ahead(std::uint32_t number, std::uint32_t of) {
  return static_cast<std::int32_t>(number - of);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto input = std::as_bytes(std::span(data, size));
  end here;
  stack<datagrams, duplicate_suppression> link(here, here, duplicate_suppression());
  const auto& k = link.get<duplicate_suppression>().counters();
  link.receive(input.first(std::min<std::size_t>(size, 3)), {});
  GARRICK_ASSERT(k.malformed == 1 && here.messages == 0, "a datagram without a number");

  std::unordered_set<std::uint32_t> came;
  std::uint32_t newest = ~std::uint32_t{0};
  std::uint32_t number = newest;
  for (std::uint64_t fed = 2; !input.empty(); ++fed) {
    number = next_number(number, input);
    const std::int32_t lead = ahead(number, newest);
    if (lead > 0) newest = number;
    // After half a circle a number stands for another datagram.
    if (came.size() > 4096)
      std::erase_if(came, [&](std::uint32_t n) { return ahead(n, newest) < -100'000; });
    if (lead > 100'000) came.clear();
    const bool old = lead <= -static_cast<std::int32_t>(duplicate_suppression::remembered);
    const bool due = !old && came.insert(number).second;

    const std::uint64_t before = here.messages;
    std::array<std::byte, 5> datagram{};
    store_le(datagram.data(), number);
    link.receive(datagram, {});
    GARRICK_ASSERT((here.messages != before) == due, "twice, or not at all");
    GARRICK_ASSERT(here.messages + k.duplicates + k.too_old + k.malformed == fed,
                   "a datagram is not accounted for");
  }
  return 0;
}
