// The papers' machines (docs/papers.md): the cores that are switched on, and their distances.
#include <garrick/machine/machines.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace machines_test {

using namespace garrick;
using namespace garrick::machine;

namespace {

/// Returns the number of cores that are switched on, for each of the eight nodes.
std::vector<int> on_by_node(std::uint32_t cores) {
  std::vector<int> count(8);
  const auto machine = opteron(cores);
  for (const auto& unit : machine.units()) ++count[static_cast<std::size_t>(unit.os_index) / 8];
  return count;
}

}  // namespace

TEST_CASE(
    "machines: paper 002's cores are switched on over four nodes, one of each package, and then "
    "over the others") {
  CHECK(on_by_node(1) == std::vector<int>{1, 0, 0, 0, 0, 0, 0, 0});
  CHECK(on_by_node(4) == std::vector<int>{1, 0, 1, 0, 1, 0, 1, 0});
  CHECK(on_by_node(10) == std::vector<int>{3, 0, 3, 0, 2, 0, 2, 0});
  CHECK(on_by_node(32) == std::vector<int>{8, 0, 8, 0, 8, 0, 8, 0});
  CHECK(on_by_node(36) == std::vector<int>{8, 1, 8, 1, 8, 1, 8, 1});
  CHECK(on_by_node(64) == std::vector<int>(8, 8));
}

TEST_CASE("machines: they match the papers") {
  CHECK(opteron().describe() == "4 packages, 8 memory nodes, 8 shared caches, 64 cores, 64 units");
  CHECK(xeon().describe() == "2 packages, 2 memory nodes, 2 shared caches, 24 cores, 24 units");
  const auto big = opteron();
  CHECK(big.distance(0, 7) == sched::topology::same_cache);
  CHECK(big.distance(0, 8) == sched::topology::same_package);
  CHECK(big.distance(0, 16) == sched::topology::elsewhere);
}

}  // namespace machines_test
