#include "garrick/net/layer/reliability/acknowledgement.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "garrick/base/values/random.hpp"

namespace acknowledgement_test {

using namespace garrick;
using namespace garrick::net;

namespace {

std::vector<std::byte> datagram_of(const acknowledgement& a) {
  std::vector<std::byte> all(1 + a.size());
  all[0] = reliability_header::with_acknowledgement;
  encode(all.data() + 1, a);
  return all;
}

acknowledgement any(base::random_source& random) {
  acknowledgement a;
  a.next = static_cast<std::uint32_t>(random());
  a.newest = static_cast<std::uint32_t>(random());
  a.attempt = static_cast<std::uint8_t>(random());
  a.delay = static_cast<std::uint16_t>(random());
  a.range_count = static_cast<std::uint8_t>(random.below(acknowledgement::most_ranges + 1));
  std::uint32_t at = 1;
  for (std::size_t i = 0; i < a.range_count; ++i) {
    const std::uint32_t offset = at + random.below(100), count = 1 + random.below(100);
    a.ranges[i] = {static_cast<std::uint16_t>(offset), static_cast<std::uint16_t>(count)};
    at = offset + count + 1;
  }
  return a;
}

}  // namespace

TEST_CASE("an acknowledgement that is decoded is the one that was encoded") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    const acknowledgement a = any(random);
    reliability_header h;
    REQUIRE(decode(datagram_of(a), h));
    REQUIRE(h.acknowledges);
    REQUIRE(!h.has_packet);
    REQUIRE(h.size == 1 + a.size());
    REQUIRE(h.received.next == a.next);
    REQUIRE(h.received.newest == a.newest);
    REQUIRE(h.received.attempt == a.attempt);
    REQUIRE(h.received.delay == a.delay);
    REQUIRE(h.received.range_count == a.range_count);
    REQUIRE(
        std::equal(a.ranges.begin(), a.ranges.begin() + a.range_count, h.received.ranges.begin()));
  }
}

TEST_CASE("an acknowledgement that is cut off, or followed by something, is none") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    std::vector<std::byte> all = datagram_of(any(random));
    reliability_header h;
    for (std::size_t n = 0; n < all.size(); ++n) REQUIRE(!decode(std::span(all).first(n), h));
    all.push_back({});
    REQUIRE(!decode(all, h));
    all[0] |= reliability_header::with_packet;  // now a packet may follow
    all.insert(all.begin() + 1, reliability_header::packet_size, std::byte{7});
    REQUIRE(decode(all, h));
    REQUIRE(h.size == all.size() - 1);
    REQUIRE(h.number == 0x0707'0707u);
  }
}

TEST_CASE("an acknowledgement has so many ranges at most, and they end within the window") {
  acknowledgement a;
  a.range_count = 1;
  reliability_header h;
  a.ranges[0] = {static_cast<std::uint16_t>(sequence_window - 2), 2};
  CHECK(decode(datagram_of(a), h));
  ++a.ranges[0].count;
  CHECK(!decode(datagram_of(a), h));

  a.range_count = acknowledgement::most_ranges;
  for (std::uint16_t i = 0; i != acknowledgement::most_ranges; ++i)
    a.ranges[i] = {static_cast<std::uint16_t>(2 * i + 1), 1};
  std::vector<std::byte> all = datagram_of(a);
  REQUIRE(decode(all, h));
  constexpr std::size_t one_more = acknowledgement::most_ranges + 1;
  all[acknowledgement::fixed_size] = static_cast<std::byte>(one_more);
  for (const int byte : {65, 0, 1, 0}) all.push_back(static_cast<std::byte>(byte));
  CHECK(!decode(all, h));
}

TEST_CASE("a part lies within its packet, and is not empty") {
  // flags, number, attempt, the packet's size, where the part begins
  std::vector<std::byte> all(6);
  all[0] = reliability_header::with_packet | reliability_header::with_part;
  for (const unsigned b : {10u, 0u, 7u, 0u}) all.push_back(std::byte(b));
  reliability_header h;
  CHECK(!decode(all, h));
  for (int i = 0; i != 3; ++i) {
    all.push_back({});
    CHECK(decode(all, h));
    CHECK(h.has_part);
    CHECK(h.part.size == 10);
    CHECK(h.part.offset == 7);
    CHECK(h.size == 10);
  }
  all.push_back({});
  CHECK(!decode(all, h));
  CHECK(!decode(std::span(all).first(9), h));
  all[0] = reliability_header::with_part;
  CHECK(!decode(all, h));
}

}  // namespace acknowledgement_test
