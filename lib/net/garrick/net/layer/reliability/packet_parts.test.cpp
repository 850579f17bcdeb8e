#include "garrick/net/layer/reliability/packet_parts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "garrick/base/values/random.hpp"

namespace packet_parts_test {

using namespace garrick;
using namespace garrick::net;

namespace {

using bytes = std::vector<std::byte>;

bytes any_packet(base::random_source& random, std::uint32_t most) {
  bytes b(1 + random.below(most));
  for (std::byte& x : b) x = static_cast<std::byte>(random());
  return b;
}

auto add(packet_parts& p, sequence_number s, const bytes& whole, std::size_t at, std::size_t n) {
  n = std::min(n, whole.size() - at);
  return p.add(s, {static_cast<std::uint16_t>(whole.size()), static_cast<std::uint16_t>(at)},
               std::span(whole).subspan(at, n));
}

}  // namespace

TEST_CASE("packet parts: any parts that cover a packet give it, once, in any order") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    packet_parts parts;
    const bytes whole = any_packet(random, 5000);
    std::vector<bool> sent(whole.size());
    const sequence_number s = first_sequence + random.below(1000);
    for (;;) {
      const std::size_t at = random.below(static_cast<std::uint32_t>(whole.size()));
      const std::size_t n = 1 + random.below(1000);
      std::fill(sent.begin() + static_cast<std::ptrdiff_t>(at),
                sent.begin() + static_cast<std::ptrdiff_t>(std::min(at + n, whole.size())), true);
      const auto got = add(parts, s, whole, at, n);
      const bool all = std::find(sent.begin(), sent.end(), false) == sent.end();
      REQUIRE(got.has_value() == all);
      REQUIRE(parts.size() == (all ? 0 : 1));
      if (!all) continue;
      REQUIRE(*got == whole);
      break;
    }
  }
}

TEST_CASE("packet parts: bytes that are no part of their packet are dropped") {
  packet_parts parts;
  const bytes whole(100, std::byte{7});
  CHECK(!parts.add(5, {100, 0}, {}));
  CHECK(!parts.add(5, {100, 1}, whole));
  CHECK(!parts.add(5, {99, 0}, whole));
  CHECK(!parts.add(5, {0, 0}, whole));
  CHECK(!parts.add(5, {100, 65535}, whole));
  CHECK(parts.size() == 0);
  CHECK(!add(parts, 5, whole, 0, 60));
  CHECK(!parts.add(5, {61, 60}, std::span(whole).first(1)));  // another size
  CHECK(add(parts, 5, whole, 60, 40) == whole);
}

TEST_CASE("packet parts: the oldest packet always has room, across the wrap") {
  packet_parts parts;
  const bytes whole(10, std::byte{1});
  const sequence_number oldest = 0u - 2u;
  for (sequence_number s = oldest + 1; s != oldest + 100; ++s) CHECK(!add(parts, s, whole, 0, 5));
  CHECK(parts.size() == packet_parts::most);
  CHECK(!add(parts, oldest, whole, 0, 5));
  CHECK(parts.size() == packet_parts::most);
  CHECK(!add(parts, oldest + 8, whole, 5, 5));  // dropped for the oldest packet
  CHECK(add(parts, oldest, whole, 5, 5) == whole);
  CHECK(add(parts, oldest + 7, whole, 5, 5) == whole);
  parts.forget(oldest + 1);
  parts.forget(oldest + 1);
  CHECK(parts.size() == packet_parts::most - 3);
}

}  // namespace packet_parts_test
