#include "garrick/gpu/range.hpp"

#include <doctest/doctest.h>

namespace range_test {

namespace {

using garrick::gpu::nd_range;

TEST_CASE("a range that the device can run has no trouble") {
  CHECK(nd_range(1).trouble(1).empty());
  CHECK(nd_range(64, 32).groups_of(8, 8).trouble(64).empty());
  CHECK(nd_range(4, 4, 4).groups_of(2, 2, 2).from(1, 2, 3).trouble(8).empty());
  CHECK(nd_range::per_element().resolved(7).trouble(1).empty());
}

TEST_CASE("the fault of a range is said") {
  CHECK(nd_range(0).trouble(8) == "it has no items");
  CHECK(nd_range(4, 0).trouble(8) == "it has no items");
  CHECK(nd_range(8).groups_of(3).trouble(8) == "its groups of 3 do not divide it");
  CHECK(nd_range(8).groups_of(8, 2).trouble(16).find("more dimensions") != std::string::npos);
  CHECK(nd_range(8).groups_of(0).trouble(16) == "its groups have no items");
  CHECK(nd_range(8).groups_of(0, 4).trouble(16) == "its groups have no items");
  CHECK(nd_range(8).groups_of(4, 0).trouble(16) == "its groups have no items");
  CHECK(nd_range(8).from(0, 1).trouble(8).find("offset has more dimensions") != std::string::npos);
  CHECK(nd_range(16, 16).groups_of(16, 16).trouble(255).find("more than the 255") !=
        std::string::npos);
  CHECK(nd_range(~std::size_t{0}, 2).trouble(8).find("more than a number") != std::string::npos);
  CHECK(nd_range(~std::size_t{0}).from(1).trouble(8).find("more than a number") !=
        std::string::npos);
  const std::size_t half = std::size_t{1} << 32;
  CHECK(nd_range(half, half / 2).groups_of(half, half / 2).trouble(8).find("more than the 8") !=
        std::string::npos);
  CHECK_FALSE(nd_range::per_element().trouble(8).empty());
}

TEST_CASE("a range counts its items, its ids and its groups' items") {
  const nd_range r = nd_range(6, 4).groups_of(3, 2).from(1, 2);
  CHECK(r.items() == 24);
  CHECK(r.index_space() == 7 * 6);
  CHECK(r.group_items() == 6);
  CHECK(r.to_string() == "6 x 4 in groups of 3 x 2 from 1 x 2");
  CHECK(nd_range(5).resolved(9).items() == 5);
}

}  // namespace

}  // namespace range_test
