// Machines: distances, flatness, refused descriptions, and this machine as it is read.
#include <garrick/base/platform/platform.hpp>
#include <garrick/sched/places/topology.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace topology_test {

using namespace garrick::sched;

namespace {

std::string error_of(std::vector<processing_unit> units,
                     std::vector<std::uint32_t> distances = {}) {
  const auto t = topology::of(std::move(units), std::move(distances));
  return t ? "" : t.error().to_string();
}

}  // namespace

TEST_CASE("topology: a flat machine has equally near units") {
  const topology t = topology::flat(4, "nobody asked");
  CHECK(t.size() == 4);
  CHECK(t.node_count() == 1);
  CHECK(t.is_flat());
  CHECK(t.distance(0, 3) == topology::same_cache);
  CHECK(t.flat_reason() == "nobody asked");
}

TEST_CASE(
    "topology: one node is flat if all units share a cache or no two do; nodes, or some units that "
    "share one, are not") {
  const auto flat = [](const char* text) { return topology::synthetic(text)->is_flat(); };
  CHECK(flat("numa:1 l3:1 core:4 pu:2"));
  CHECK(flat("numa:1 core:4 pu:1"));
  CHECK(flat("numa:1 l2:4 core:1 pu:1"));
  CHECK(flat("pack:1 numa:1 core:1 pu:1"));
  CHECK_FALSE(flat("numa:1 core:4 pu:2"));
  CHECK_FALSE(flat("numa:1 l3:2 core:2 pu:1"));
  CHECK_FALSE(flat("numa:2 l3:1 core:1 pu:1"));
  CHECK_FALSE(flat("pack:2 numa:1 l3:1 core:1 pu:1"));
}

TEST_CASE("topology: two packages of two memory nodes") {
  const auto t = topology::synthetic("pack:2 numa:2 l3:1 core:2 pu:1");
  REQUIRE(t);
  CHECK(t->describe() == "2 packages, 4 memory nodes, 4 shared caches, 8 cores, 8 units");
  CHECK(t->distance(0, 1) == topology::same_cache);
  CHECK(t->distance(0, 2) == topology::same_package);
  CHECK(t->distance(0, 4) == topology::elsewhere);
  CHECK(t->distance(4, 0) == topology::elsewhere);
  CHECK(!t->is_flat());
}

TEST_CASE("topology: the machine of paper 002, four packages of two nodes with eight cores") {
  const auto t = topology::synthetic("pack:4 numa:2 l3:1 core:8 pu:1");
  REQUIRE(t);
  CHECK(t->size() == 64);
  CHECK(t->node_count() == 8);
}

TEST_CASE("topology: two caches in one node, and hardware threads of one core") {
  const auto t = topology::synthetic("numa:1 l3:2 core:2 pu:2");
  REQUIRE(t);
  CHECK(t->distance(0, 1) == topology::same_cache);
  CHECK(t->units()[0].core == t->units()[1].core);
  CHECK(t->distance(0, 4) == topology::same_node);
}

TEST_CASE("topology: a cache that spans memory nodes counts within each of them") {
  const auto t = topology::synthetic("l3:1 numa:2 l2:2 core:2 pu:1");
  REQUIRE(t);
  CHECK(t->describe() == "1 package, 2 memory nodes, 2 shared caches, 8 cores, 8 units");
  CHECK(t->distance(0, 3) == topology::same_cache);
  CHECK(t->distance(0, 4) == topology::same_package);
}

TEST_CASE("topology: without caches, the hardware threads of a core are next to each other") {
  const auto t = topology::synthetic("numa:1 core:2 pu:2");
  REQUIRE(t);
  CHECK(t->distance(0, 1) == topology::same_cache);
  CHECK(t->distance(0, 2) == topology::same_node);
}

TEST_CASE("topology: one memory node may have several packages, as in virtual machines") {
  const auto t = topology::synthetic("numa:1 pack:2 l3:1 core:2 pu:1");
  REQUIRE(t);
  CHECK(t->describe() == "2 packages, 1 memory node, 2 shared caches, 4 cores, 4 units");
  CHECK(t->distance(0, 1) == topology::same_cache);
  CHECK(t->distance(0, 2) == topology::same_node);
}

TEST_CASE("topology: a machine that is not symmetric") {
  const auto t = topology::of({{.os_index = 0},
                               {.os_index = 3, .core = 1, .cache = 1},
                               {.os_index = 7, .core = 9, .cache = 5, .node = 4, .package = 1}});
  REQUIRE(t);
  CHECK(t->node_count() == 2);
  CHECK(t->distance(0, 1) == topology::same_node);
  CHECK(t->distance(0, 2) == topology::elsewhere);
  CHECK(t->units()[2].node == 1);
}

TEST_CASE("topology: one core") {
  const auto t = topology::of({{.os_index = 5}});
  REQUIRE(t);
  CHECK(t->is_flat());
  CHECK(t->describe() == "1 package, 1 memory node, 1 shared cache, 1 core, 1 unit");
}

TEST_CASE("topology: a ring of nodes goes by its matrix of distances") {
  std::vector<processing_unit> units;
  for (std::uint32_t i = 0; i < 8; ++i)
    units.push_back({.os_index = static_cast<std::int32_t>(i),
                     .core = i,
                     .cache = i / 2,
                     .node = i / 2,
                     .package = i / 2});
  const auto t =
      topology::of(units, {10, 20, 30, 20, 20, 10, 20, 30, 30, 20, 10, 20, 20, 30, 20, 10});
  REQUIRE(t);
  CHECK(t->distance(0, 1) == 0);
  CHECK(t->distance(0, 2) == 2);
  CHECK(t->distance(0, 4) == 3);
  CHECK(t->distance(0, 6) == 2);
}

TEST_CASE("topology: an impossible machine is an error") {
  CHECK(error_of({}).find("at least one unit") != std::string::npos);
  CHECK(error_of({{.os_index = 1}, {.os_index = 1}}).find("unit 1 is there twice") !=
        std::string::npos);
  CHECK(error_of({{.os_index = 0}, {.os_index = 1, .cache = 1}}).find("a core is at two caches") !=
        std::string::npos);
  CHECK(error_of({{.os_index = 0}, {.os_index = 1, .core = 1, .node = 1}})
            .find("a cache is in two memory nodes") != std::string::npos);
  CHECK(error_of({{.os_index = 0},
                  {.os_index = 1, .core = 1, .cache = 1, .package = 1},
                  {.os_index = 2, .core = 2, .cache = 2, .node = 1, .package = 1}})
            .find("a memory node and a package overlap") != std::string::npos);
  CHECK(error_of({{.os_index = 0}}, {10, 20}).find("1 distances, not 2") != std::string::npos);
  for (const char* large :
       {"core:1025 pu:1", "pack:100 core:100 pu:10", "pack:1000 core:1000 pu:1000", "1024 2"})
    CHECK(topology::synthetic(large).error().to_string().find("has more than 1024 units") !=
          std::string::npos);
  CHECK(topology::synthetic("pack:2 [numa(memory=9999)] l3:4 core:16 pu:8(indexes=core:pu)")
            ->size() == 1024);
  const auto t = topology::synthetic("castle:3");
  REQUIRE(!t);
  CHECK(t.error().to_string().find("\"castle:3\" is not a synthetic machine") != std::string::npos);
}

TEST_CASE("topology: this machine has the units that the process may use") {
  const topology t = topology::of_this_machine();
  CHECK(t.flat_reason().empty());
  CHECK(t.size() == garrick::base::platform::usable_processors().size());
  MESSAGE(t.describe());
}

TEST_CASE(
    "topology: a machine that cannot be read is flat, has the units that may be used, and says "
    "why") {
  setenv("HWLOC_SYNTHETIC", "core:1 pu:1(indexes=60000)", 1);
  const topology t = topology::of_this_machine();
  unsetenv("HWLOC_SYNTHETIC");
  CHECK(t.is_flat());
  CHECK(t.flat_reason().find("hwloc knows none of the processors that this process may use") !=
        std::string::npos);
  CHECK(t.size() == garrick::base::platform::usable_processors().size());
}

}  // namespace topology_test
