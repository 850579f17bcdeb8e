// Builds the papers' machines, processing unit by processing unit.
#include <garrick/base/platform/assert.hpp>
#include <garrick/machine/machines.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace garrick::machine {

namespace {

/// Returns a unit of a machine in which the cores of a node share one cache, so that a node's
/// number is its cache's number, too.
sched::processing_unit core_of(std::uint32_t number, std::uint32_t node, std::uint32_t package) {
  return {.os_index = static_cast<std::int32_t>(number),
          .core = number,
          .cache = node,
          .node = node,
          .package = package};
}

}  // namespace

sched::topology opteron(std::uint32_t cores) {
  constexpr std::uint32_t packages = 4;
  constexpr std::uint32_t cores_of_node = 8;
  // Each package has two nodes. The first nodes of all packages are one half of the machine, which
  // is switched on before the second.
  constexpr std::uint32_t half = packages * cores_of_node;
  GARRICK_ASSERT(cores != 0 && cores <= 2 * half, "the machine has 1 to 64 cores");
  std::vector<sched::processing_unit> units;
  for (std::uint32_t package = 0; package < packages; ++package)
    for (const bool second : {false, true}) {
      const std::uint32_t node = 2 * package + (second ? 1 : 0);
      const std::uint32_t of_half = second ? std::max(cores, half) - half : std::min(cores, half);
      // the packages get one core each in turn, so the first packages may have one core more than
      // the rest
      const std::uint32_t on = (of_half + packages - 1 - package) / packages;
      for (std::uint32_t i = 0; i < on; ++i)
        units.push_back(core_of(node * cores_of_node + i, node, package));
    }
  return *sched::topology::of(std::move(units));
}

sched::topology xeon() {
  constexpr std::uint32_t cores_of_package = 12;
  std::vector<sched::processing_unit> units;
  for (std::uint32_t i = 0; i < 2 * cores_of_package; ++i)
    units.push_back(core_of(i, i / cores_of_package, i / cores_of_package));
  return *sched::topology::of(std::move(units));
}

sched::topology ring_of_paper_002() {
  std::vector<sched::processing_unit> units;
  for (std::uint32_t i = 0; i < 8; ++i) units.push_back(core_of(i, i / 2, i / 2));
  // The distances of two nodes, row by row: 10 to the node itself, 20 to a neighbour in the ring,
  // 30 across.
  return *sched::topology::of(std::move(units),
                              {10, 20, 30, 20, 20, 10, 20, 30, 30, 20, 10, 20, 20, 30, 20, 10});
}

}  // namespace garrick::machine
