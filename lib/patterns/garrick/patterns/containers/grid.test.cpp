#include <garrick/patterns/containers/grid.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

namespace grid_test {

using namespace garrick;
using patterns::grid;

TEST_CASE("the cells of a grid lie row after row") {
  grid<int> g(3, 2, 7);
  CHECK(g.width() == 3);
  CHECK(g.height() == 2);
  CHECK(g.size() == 6);
  CHECK(std::accumulate(g.begin(), g.end(), 0) == 42);
  g(2, 1) = 1;
  CHECK(g[5] == 1);
  CHECK(g.data()[5] == 1);
  CHECK(g.row(1).size() == 3);
  CHECK(g.row(1)[2] == 1);
  CHECK(std::as_const(g).row(0)[0] == 7);
  CHECK(std::as_const(g)(2, 1) == 1);
}

TEST_CASE("a copy of a grid has cells of its own, and a grid that was moved from has none") {
  grid<std::string> g(2, 2, "a");
  grid<std::string> copy = g;
  CHECK(copy == g);
  copy(0, 1).push_back('b');
  CHECK(copy != g);
  const std::string* const where = copy.data();
  grid<std::string> moved = std::move(copy);
  CHECK(moved.data() == where);
  CHECK(copy.empty());  // NOLINT: this is the check
  CHECK(copy.width() == 0);
  g = moved;
  CHECK(g == moved);
  g = std::move(moved);
  CHECK(g.data() == where);
}

TEST_CASE("grids without cells are equal if they have one form") {
  CHECK(grid<int>().empty());
  CHECK(grid<int>(0, 0) == grid<int>());
  CHECK(grid<int>(0, 3) != grid<int>());
  CHECK(grid<int>(0, 3).size() == 0);
}

TEST_CASE("too many cells are refused") {
  constexpr std::size_t many = std::numeric_limits<std::size_t>::max() / 2;
  CHECK_THROWS_AS(grid<char>(many, 3), std::bad_array_new_length);
}

TEST_CASE("a grid may be sent and copied if its cells may") {
  CHECK(base::is_sendable<grid<grid<std::string>>>);
  CHECK_FALSE(base::is_sendable<grid<const char*>>);
  CHECK(std::is_copy_constructible_v<grid<int>>);
  CHECK_FALSE(std::is_copy_constructible_v<grid<std::unique_ptr<int>>>);
  CHECK(std::is_nothrow_move_constructible_v<grid<std::unique_ptr<int>>>);
}

}  // namespace grid_test
