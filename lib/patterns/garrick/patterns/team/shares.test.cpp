#include <garrick/patterns/team/shares.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <limits>

namespace shares_test {

using namespace garrick::patterns::detail;

namespace {

/// The pieces follow each other without a gap, and none is empty.
void covers(const cut& c) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < c.pieces; ++i) {
    const piece p = c.at(i);
    CHECK(p.number == i);
    CHECK(p.begin == at);
    CHECK(p.end > p.begin);
    at = p.end;
  }
  CHECK(at == c.size);
}

}  // namespace

TEST_CASE("a cut covers the container, in pieces that differ by one, or of one length") {
  for (const std::size_t size : {0U, 1U, 2U, 3U, 10U, 1000U})
    for (const std::size_t n : {1U, 2U, 3U, 7U, 1000U, 2000U}) {
      CAPTURE(size);
      CAPTURE(n);
      const cut even = cut::evenly(size, n, false);
      covers(even);
      for (std::size_t i = 0; i < even.pieces; ++i) {
        const piece p = even.at(i);
        CHECK(p.end - p.begin - size / even.pieces <= 1);
      }
      covers(cut::by_length(size, n));
    }
}

TEST_CASE("a cut of a very large container does not overflow") {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  const cut even = cut::evenly(most, 1000, false);
  CHECK(even.at(999).end == most);
  CHECK(even.at(998).end == even.at(999).begin);
  const cut halves = cut::by_length(most, most / 2 + 1);
  CHECK(halves.pieces == 2);
  CHECK(halves.at(1).end == most);
  CHECK(cut::by_length(most, most).pieces == 1);
}

TEST_CASE(
    "a thread that takes part begins with a piece of its own, and then takes remaining ones") {
  shares s(cut::evenly(10, 3, true));
  piece p;
  REQUIRE(s.claim(2, p));
  CHECK(p.number == 2);
  REQUIRE(s.claim(2, p));
  CHECK(p.number == 0);
  REQUIRE(s.claim(7, p));
  CHECK(p.number == 1);
  CHECK_FALSE(s.claim(0, p));
  CHECK_FALSE(s.finish(9));
  CHECK(s.finish(1));
}

TEST_CASE("a thread with several pieces takes them in their order, and others' from the last") {
  const cut c = cut::for_hands(12, 2, 3);
  covers(c);
  CHECK(c.pieces == 6);
  shares s(c);
  piece p;
  for (const std::size_t number : {3U, 4U, 5U, 2U, 1U}) {
    REQUIRE(s.claim(1, p));
    CHECK(p.number == number);
  }
  REQUIRE(s.claim(0, p));
  CHECK(p.number == 0);
  CHECK_FALSE(s.claim(0, p));
  CHECK_FALSE(s.claim(1, p));
}

TEST_CASE(
    "a thread that needs many elements claims several pieces of its own at once, and one of "
    "others") {
  shares s(cut::for_hands(24, 2, 6));  // two elements in each
  piece p;
  const auto claims = [&](std::size_t who, std::size_t enough, std::size_t begin, std::size_t end) {
    REQUIRE(s.claim(who, p, enough));
    CHECK(p.begin == begin);
    CHECK(p.end == end);
  };
  claims(0, 3, 0, 4);
  claims(1, 100, 12, 24);
  claims(1, 100, 10, 12);
  claims(0, 100, 4, 10);
  CHECK_FALSE(s.claim(0, p, 100));
}

TEST_CASE("each piece has an owner, however few elements there are") {
  for (const std::size_t size : {0U, 1U, 2U, 3U, 5U, 31U, 100U})
    for (const std::size_t hands : {1U, 2U, 3U, 7U}) {
      CAPTURE(size);
      CAPTURE(hands);
      const cut c = cut::for_hands(size, hands, 16);
      covers(c);
      CHECK(c.pieces <= hands * 16);
      shares s(c);
      piece p;
      for (std::size_t i = 0; i < c.pieces; ++i) CHECK(s.claim(i % hands, p));
      CHECK_FALSE(s.claim(0, p));
    }
  CHECK(cut::for_hands(std::numeric_limits<std::size_t>::max(), 1000, 16).pieces == 16'000);
}

}  // namespace shares_test
