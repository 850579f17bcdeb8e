#include <garrick/patterns/team/shares.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <limits>

using namespace garrick::patterns::detail;

namespace {

/// The pieces follow on each other, and none is empty.
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

TEST_CASE("whoever takes part begins with a piece of its own, and then takes what is left") {
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
