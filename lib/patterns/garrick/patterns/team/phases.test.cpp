#include <garrick/patterns/team/phases.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace phases_test {

using namespace garrick::patterns::detail;

TEST_CASE("each piece is claimed once in each phase, and the last one ends it") {
  for (const cut& c : {cut::evenly(10, 4, true), cut::by_length(10, 3)}) {
    CAPTURE(c.by_hand);
    phases p(c);
    p.belongs_to(1, 1);
    for (std::uint64_t expected = 0; expected < 3; ++expected) {
      std::vector<bool> seen(10);
      piece at;
      std::uint64_t phase = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        CHECK(p.has_pieces());
        REQUIRE(p.claim(0, at, phase));
        CHECK(phase == expected);
        for (std::size_t k = at.begin; k < at.end; ++k) {
          CHECK_FALSE(seen[k]);
          seen[k] = true;
        }
        CHECK(p.finish(at.end - at.begin) == (i == 3));
      }
      CHECK_FALSE(p.has_pieces());
      p.begin_next();
      CHECK(p.now() == expected + 1);
    }
  }
}

TEST_CASE("a thread that takes part begins with pieces of its own") {
  phases p(cut::evenly(40, 8, true));
  p.belongs_to(2, 2);
  piece at;
  std::uint64_t phase = 0;
  REQUIRE(p.claim(1, at, phase));
  CHECK(at.number == 4);
  REQUIRE(p.claim(0, at, phase));
  CHECK(at.number == 0);
  for (const std::size_t next : {5U, 6U, 7U, 1U}) {
    REQUIRE(p.claim(1, at, phase));
    CHECK(at.number == next);
  }
}

TEST_CASE(
    "a thread that finds nothing is away until it is called, and one that has not come yet is, "
    "too") {
  phases p(cut::by_length(1, 1));
  p.belongs_to(3, 2);
  piece at;
  std::uint64_t phase = 0;
  REQUIRE(p.claim(0, at, phase));
  CHECK_FALSE(p.claim(1, at, phase));
  REQUIRE(p.finish(1));
  p.begin_next();
  CHECK_FALSE(p.call(0));
  CHECK(p.call(1));
  CHECK_FALSE(p.call(1));
  CHECK(p.call(2));
  p.was_not_called(2);
  CHECK(p.call(2));
  REQUIRE(p.claim(1, at, phase));
  CHECK(phase == 1);
}

}  // namespace phases_test
