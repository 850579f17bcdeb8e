#include "garrick/net/layer/reliability/sent_packets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "garrick/base/values/random.hpp"

namespace sent_packets_test {

using namespace garrick;
using namespace garrick::net;

namespace {

packet a_packet(std::byte with) { return packet::copy_of(std::array{with}); }

}  // namespace

TEST_CASE("sent packets: lists keep the order of transmission, in any order of acknowledgements") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    sent_packets sent;
    std::array<std::vector<sequence_number>, 3> model;
    const auto where = [&](sequence_number s) {
      for (std::size_t i = 0; i < 3; ++i) {
        const auto at = std::find(model[i].begin(), model[i].end(), s);
        if (at != model[i].end()) return std::pair(i, at);
      }
      FAIL("not there");
      return std::pair(std::size_t{0}, model[0].begin());
    };
    for (int i = 0; i < 3000; ++i) {
      const std::uint32_t what = random.below(10);
      if (what < 4 && sent.span() < 700) {
        const sequence_number s = sent.next();
        sent.add(a_packet(static_cast<std::byte>(s)), 7);
        model[0].push_back(s);
      } else if (sent.span() != 0) {
        const sequence_number s = sent.oldest() + random.below(sent.span());
        if (!sent.waits(s)) continue;
        const auto [list, at] = where(s);
        model[list].erase(at);
        if (what < 7) {
          sent.remove(s);
          if (random.below(2) == 0) sent.advance();
        } else {
          const auto to = static_cast<sent_packets::list_name>(random.below(3));
          sent.move_to(s, to);
          model[to].push_back(s);
        }
      }
      for (std::size_t l = 0; l < 3; ++l) {
        const auto name = static_cast<sent_packets::list_name>(l);
        REQUIRE(sent.count(name) == model[l].size());
        REQUIRE(sent.empty(name) == model[l].empty());
        if (!model[l].empty()) REQUIRE(sent.front(name) == model[l].front());
      }
    }
    // All waiting packets are found by their numbers, in order, with their bytes.
    std::vector<sequence_number> all;
    sent.each(sent.oldest() - 5, sent.span() + 100, [&](sequence_number s) {
      all.push_back(s);
      REQUIRE(sent[s].bytes.bytes()[0] == static_cast<std::byte>(s));
      REQUIRE(sent[s].lane == 7);
    });
    REQUIRE(all.size() == model[0].size() + model[1].size() + model[2].size());
    for (const sequence_number s : all) sent.remove(s);
    sent.advance();
    REQUIRE(sent.span() == 0);
  }
}

TEST_CASE("sent packets: numbers that were never sent are passed over") {
  sent_packets sent;
  sent.add(a_packet(std::byte{1}), 1);
  int found = 0;
  const auto count = [&](sequence_number) { ++found; };
  sent.each(first_sequence + 1, 10, count);
  sent.each(first_sequence - 10, 10, count);
  sent.each(first_sequence + 0x8000'0000u, 10, count);
  CHECK(found == 0);
  CHECK(!sent.waits(first_sequence + 1));
  CHECK(!sent.waits(first_sequence - 1));
  CHECK(!sent.waits(first_sequence + sequence_window));
  sent.each(first_sequence - 10, sequence_window, count);
  CHECK(found == 1);
}

TEST_CASE("sent packets: the whole window of numbers can be in flight, and no more is allocated") {
  sent_packets sent;
  for (std::uint32_t i = 0; i < sequence_window; ++i) sent.add({}, 1);
  CHECK(sent.span() == sequence_window);
  CHECK(sent.count(sent_packets::in_flight) == sequence_window);
  sent.remove(first_sequence);
  sent.advance();
  sent.add({}, 1);
  CHECK(sent.span() == sequence_window);
}

}  // namespace sent_packets_test
