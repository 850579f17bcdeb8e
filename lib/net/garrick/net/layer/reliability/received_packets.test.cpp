#include "garrick/net/layer/reliability/received_packets.hpp"

#include <doctest/doctest.h>

#include <array>
#include <set>
#include <vector>

#include "garrick/base/values/random.hpp"

namespace received_packets_test {

using namespace garrick;
using namespace garrick::net;
using arrival = received_packets::arrival;

namespace {

std::vector<packet_range> ranges_of(const received_packets& r, std::size_t most = 32) {
  std::vector<packet_range> found(most);
  found.resize(r.ranges(found));
  return found;
}

/// A reference, by a set of numbers that never wrap.
struct reference {
  std::set<std::uint64_t> come;
  std::uint64_t next = 0;

  arrival record(std::uint64_t n) {
    if (n >= next + sequence_window) return arrival::beyond;
    if (n < next || come.contains(n)) return arrival::duplicate;
    const bool newest = come.empty() ? true : n > *come.rbegin();
    const bool gaps = !come.empty();
    come.insert(n);
    if (n != next) return newest ? arrival::ahead : arrival::late;
    while (come.contains(next)) come.erase(next++);
    return gaps ? arrival::late : arrival::in_order;
  }
  [[nodiscard]] std::vector<packet_range> ranges(std::size_t most) const {
    std::vector<packet_range> all;
    for (const std::uint64_t n : come) {
      const auto offset = static_cast<std::uint16_t>(n - next);
      if (!all.empty() && all.back().offset + all.back().count == offset)
        ++all.back().count;
      else
        all.push_back({offset, 1});
    }
    if (all.size() > most) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(most));
    return all;
  }
};

}  // namespace

TEST_CASE("numbers are compared across the wrap") {
  CHECK(sequence_distance(0xffff'ffffu, 0) == 1);
  CHECK(sequence_distance(0, 0xffff'fff0u) == -16);
  CHECK(sequence_distance(5, 5) == 0);
  CHECK(sequence_distance(first_sequence, first_sequence + 1000) == 1000);
}

TEST_CASE(
    "received packets: a packet that has come twice is a duplicate, also long ago and ahead") {
  received_packets r;
  CHECK(r.record(first_sequence) == arrival::in_order);
  CHECK(r.record(first_sequence) == arrival::duplicate);
  CHECK(r.record(first_sequence - 1) == arrival::duplicate);
  CHECK(r.record(first_sequence + 3) == arrival::ahead);
  CHECK(r.record(first_sequence + 3) == arrival::duplicate);
  CHECK(r.gaps() == 2);
  CHECK(r.record(first_sequence + 2) == arrival::late);
  CHECK(r.next() == first_sequence + 1);
  CHECK(r.has_gaps());
  CHECK(ranges_of(r) == std::vector<packet_range>{{1, 2}});
  CHECK(r.record(first_sequence + 1) == arrival::late);
  CHECK(r.next() == first_sequence + 4);
  CHECK(!r.has_gaps());
  CHECK(ranges_of(r).empty());
}

TEST_CASE("received packets: a packet beyond the window changes nothing") {
  received_packets r;
  CHECK(r.record(first_sequence + sequence_window) == arrival::beyond);
  CHECK(r.record(first_sequence + 0x7fff'ffff) == arrival::beyond);
  CHECK(!r.has_gaps());
  CHECK(r.record(first_sequence + sequence_window - 1) == arrival::ahead);
  CHECK(ranges_of(r) ==
        std::vector<packet_range>{{static_cast<std::uint16_t>(sequence_window - 1), 1}});
}

TEST_CASE("received packets: any order gives the same as a set, across the wrap") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    received_packets r;
    reference model;
    const std::uint32_t spread = 1u << (1 + random.below(13));
    const std::size_t most = 1 + random.below(40);
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t low = model.next < spread / 4 ? 0 : model.next - spread / 4;
      const std::uint64_t n = random.below(4) == 0 ? model.next : low + random.below(spread);
      const auto s = static_cast<sequence_number>(first_sequence + n);
      const arrival expected = model.record(n);
      REQUIRE(r.record(s) == expected);
      REQUIRE(r.next() == static_cast<sequence_number>(first_sequence + model.next));
      if (i % 16 == 0) REQUIRE(ranges_of(r, most) == model.ranges(most));
    }
  }
}

}  // namespace received_packets_test
