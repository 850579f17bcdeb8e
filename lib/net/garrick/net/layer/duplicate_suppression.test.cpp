#include "garrick/net/layer/duplicate_suppression.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "garrick/base/values/random.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/stack/stack.hpp"

namespace duplicate_suppression_test {

using namespace garrick;
using namespace garrick::net;

namespace {

constexpr base::instant now{};

struct end final : carrier, link_owner {
  std::vector<packet> wire;
  std::vector<std::uint32_t> came;
  void transmit(packet p) override { wire.push_back(std::move(p)); }
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 1200; }
  void reopen() override {}
  void close() override {}
  bool on_message(const incoming& m) override {
    came.push_back(load_le<std::uint32_t>(m.bytes.data()));
    return true;
  }
  void on_event(const link_event&) override {}
};
using once = stack<datagrams, duplicate_suppression>;

/// Returns the datagrams of messages 0 to n - 1, with their numbers as content.
std::vector<packet> datagrams_of(std::uint32_t n) {
  end e;
  once s(e, e, duplicate_suppression());
  for (std::uint32_t i = 0; i < n; ++i) {
    packet p = packet::with_room(4, 4);
    store_le(p.append(4), i);
    REQUIRE(!s.send({std::move(p)}, now));
  }
  return std::move(e.wire);
}

/// Receives a datagram with this number.
void receive(once& s, std::uint32_t number) {
  std::byte bytes[8];
  store_le(bytes, number);
  store_le(bytes + 4, number);
  s.receive(bytes, now);
}

}  // namespace

TEST_CASE("duplicate_suppression: each message comes once, however its network doubles and swaps") {
  const std::vector<packet> all = datagrams_of(5000);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    end e;
    once s(e, e, duplicate_suppression());
    for (std::uint32_t at = 0; at < all.size(); ++at) {
      s.receive(all[at].bytes(), now);
      // Copies are of this datagram, or of one of the last thousand.
      for (std::uint32_t copies = random.below(3); copies != 0; --copies)
        s.receive(all[at - random.below(std::min(at + 1, 1000u))].bytes(), now);
    }
    CHECK(e.came.size() == all.size());
    CHECK(std::set(e.came.begin(), e.came.end()).size() == all.size());
  }
}

TEST_CASE("duplicate_suppression: a late new message is passed up, one that is too old is not") {
  const std::vector<packet> all = datagrams_of(3000);
  end e;
  once s(e, e, duplicate_suppression());
  const auto& counters = s.get<duplicate_suppression>().counters();
  for (const std::uint32_t n : {1023u, 0u, 0u, 1024u, 1u, 0u, 2999u, 1975u, 1976u, 1976u, 2998u})
    s.receive(all[n].bytes(), now);
  CHECK(e.came == std::vector<std::uint32_t>{1023, 0, 1024, 1, 2999, 1976, 2998});
  CHECK(counters.duplicates == 2);
  CHECK(counters.too_old == 2);
  s.receive({}, now);
  CHECK(counters.malformed == 1);
}

TEST_CASE(
    "duplicate_suppression: a skipped number is new, also where another came a round before") {
  const std::vector<packet> all = datagrams_of(1100);
  end e;
  once s(e, e, duplicate_suppression());
  for (const std::uint32_t n : {0u, 5u, 9u, 1030u, 1029u, 1031u, 1029u})
    s.receive(all[n].bytes(), now);
  CHECK(e.came == std::vector<std::uint32_t>{0, 5, 9, 1030, 1029, 1031});
}

TEST_CASE("duplicate_suppression: behind the last number of all comes 0, and nothing comes twice") {
  end e;
  once s(e, e, duplicate_suppression());
  const auto& counters = s.get<duplicate_suppression>().counters();
  constexpr std::uint32_t last = 0xffffffff;
  // The mark of last - 1024 is where that of last will be.
  for (const std::uint32_t n : {0x60000000u, 0xc0000000u, last - 1024, last - 1, 3u, last, 0u, 2u})
    receive(s, n);
  CHECK(e.came ==
        std::vector<std::uint32_t>{0x60000000, 0xc0000000, last - 1024, last - 1, 3, last, 0, 2});
  e.came.clear();
  for (const std::uint32_t n : {last - 1, last, 0u, 2u, 3u}) receive(s, n);
  CHECK(e.came.empty());
  CHECK(counters.duplicates == 5);
  receive(s, last - 1020);  // 1024 behind 3
  CHECK(counters.too_old == 1);
  receive(s, last - 1019);
  receive(s, 1);
  CHECK(e.came == std::vector<std::uint32_t>{last - 1019, 1});
}

TEST_CASE("duplicate_suppression: less than half the range ahead is new, half of it is too old") {
  constexpr std::uint32_t half = 0x80000000;
  for (const std::uint32_t newest : {0u, 5u, half - 2}) {
    CAPTURE(newest);
    end e;
    once s(e, e, duplicate_suppression());
    receive(s, newest);
    receive(s, newest + half);
    CHECK(e.came == std::vector{newest});
    CHECK(s.get<duplicate_suppression>().counters().too_old == 1);
    receive(s, newest + half - 1);
    receive(s, newest);  // now long over
    CHECK(e.came == std::vector{newest, newest + half - 1});
    CHECK(s.get<duplicate_suppression>().counters().too_old == 2);
  }
}

}  // namespace duplicate_suppression_test
