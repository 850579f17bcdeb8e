// Workers on machines that do not exist: their places, their neighbours, and a thief's walk.
#include <garrick/sched/places/worker_places.hpp>
#include <garrick/sched/policies/policy.hpp>

#include <doctest/doctest.h>

#include <set>
#include <vector>

namespace worker_places_test {

using namespace garrick::sched;

namespace {

topology machine(const char* text) {
  auto t = topology::synthetic(text);
  REQUIRE(t);
  return std::move(*t);
}
std::vector<worker_index> list(std::span<const worker_index> s) { return {s.begin(), s.end()}; }

}  // namespace

TEST_CASE("places: few workers are spread over the memory nodes first") {
  const worker_places p(machine("pack:2 numa:2 l3:1 core:2 pu:1"), 6, neighbourhood::cache);
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t w = 0; w < 6; ++w) nodes.push_back(p.unit_of(w).node);
  CHECK(nodes == std::vector<std::uint32_t>{0, 1, 2, 3, 0, 1});
  CHECK(list(p.of_node(0)) == std::vector<worker_index>{0, 4});
  CHECK(p.of_node(7).empty());
}

TEST_CASE("places: within a node over the caches, hardware threads of one core last") {
  const worker_places p(machine("numa:1 l3:2 core:2 pu:2"), 8, neighbourhood::cache);
  std::vector<std::int32_t> units;
  for (std::uint32_t w = 0; w < 8; ++w) units.push_back(p.unit_of(w).os_index);
  CHECK(units == std::vector<std::int32_t>{0, 4, 2, 6, 1, 5, 3, 7});
}

TEST_CASE("places: more workers than units share them in turn") {
  const worker_places p(topology::flat(2), 5, neighbourhood::cache);
  CHECK(p.unit_of(4).os_index == p.unit_of(0).os_index);
  CHECK(p.groups(0).size() == 1);
}

TEST_CASE("places: groups grow with the distance, and the last has all") {
  const worker_places p(machine("pack:2 numa:2 l3:1 core:2 pu:1"), 8, neighbourhood::cache);
  CHECK(list(p.groups(0)) == std::vector<worker_index>{1, 3, 7});
  CHECK(list(p.others(0)) == std::vector<worker_index>{4, 1, 5, 2, 3, 6, 7});
  CHECK(p.are_neighbours(0, 4));
  CHECK(!p.are_neighbours(0, 1));
  CHECK(p.are_neighbours(3, 3));
}

TEST_CASE("places: a flat machine, one core, and `system` have one group") {
  CHECK(list(worker_places(topology::flat(4), 4, neighbourhood::cache).groups(2)) ==
        std::vector<worker_index>{3});
  CHECK(worker_places(topology::flat(1), 1, neighbourhood::cache).groups(0).empty());
  CHECK(list(worker_places(machine("pack:2 numa:2 l3:1 core:2 pu:1"), 8, neighbourhood::system)
                 .groups(0)) == std::vector<worker_index>{7});
}

TEST_CASE(
    "places: on a flat machine everybody is a direct neighbour, also where no cache is shared") {
  const worker_places p(machine("numa:1 core:4 pu:1"), 4, neighbourhood::cache);
  CHECK(list(p.groups(3)) == std::vector<worker_index>{3});
  CHECK(p.are_neighbours(0, 3));
  // One worker on each of two nodes: equally far, but not flat.
  const worker_places far(machine("numa:2 l3:1 core:1 pu:1"), 2, neighbourhood::cache);
  CHECK_FALSE(far.are_neighbours(0, 1));
}

TEST_CASE("places: the node as neighbourhood joins its caches") {
  const worker_places p(machine("numa:2 l3:2 core:2 pu:1"), 8, neighbourhood::node);
  CHECK(list(p.groups(0)) == std::vector<worker_index>{3, 7});
}

TEST_CASE("places: an asymmetric machine leaves groups without members out") {
  auto t = topology::of({{.os_index = 0},
                         {.os_index = 1, .core = 1},
                         {.os_index = 2, .core = 2, .cache = 1, .node = 1, .package = 1}});
  REQUIRE(t);
  const worker_places p(*t, 3, neighbourhood::cache);
  const std::uint32_t alone = p.of_node(1)[0];
  CHECK(list(p.groups(alone)) == std::vector<worker_index>{2});
  CHECK(list(p.groups(p.of_node(0)[0])) == std::vector<worker_index>{1, 2});
}

TEST_CASE(
    "a walk makes as many attempts in a group as it has members, then widens, and stays in the "
    "last") {
  const worker_places p(machine("pack:2 numa:2 l3:1 core:2 pu:1"), 8, neighbourhood::cache);
  xorshift random(7);
  victim_walk walk(p, 0);
  std::vector<std::uint32_t> groups;
  std::set<std::uint32_t> victims;
  for (int i = 0; i < 20; ++i) {
    CHECK(walk.has_been_everywhere() == (i >= 11));
    victims.insert(walk.next(random));
    groups.push_back(walk.group());
  }
  CHECK(groups ==
        std::vector<std::uint32_t>{0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2});
  CHECK(!victims.contains(0));
}

TEST_CASE(
    "places: memory is wanted from the node of a home that is known, unless the spawner is there") {
  using garrick::base::locality_hint;
  using kind = locality_hint::kind;
  // Two nodes, which the system calls 0 and 3.
  auto t =
      topology::of({{.os_index = 0, .core = 0, .cache = 0, .node = 0, .package = 0, .memory = 0},
                    {.os_index = 1, .core = 1, .cache = 1, .node = 3, .package = 1, .memory = 3}});
  REQUIRE(t);
  const worker_places p(*t, 2, neighbourhood::cache);
  const auto none = worker_places::no_worker;
  CHECK(p.memory_of(locality_hint::home(1), 0) == 3);
  CHECK(p.memory_of(locality_hint::home(1), 1) == -1);
  CHECK(p.memory_of(locality_hint::home(1), none) == 3);
  CHECK(p.memory_of(locality_hint(kind::settled, 1), 0) == 3);
  CHECK(p.memory_of(locality_hint(kind::settled, 1), 1) == -1);
  CHECK(p.memory_of(locality_hint(kind::settled, 7), 0) == -1);  // no such worker
  CHECK(p.memory_of(locality_hint::home(2), 0) == -1);           // no such node
  for (const locality_hint h : {locality_hint(), locality_hint::spread(), locality_hint::hub()})
    CHECK(p.memory_of(h, 0) == -1);
  // A machine that does not exist has no memory.
  CHECK(worker_places(machine("numa:2 core:2 pu:1"), 4, neighbourhood::cache)
            .memory_of(locality_hint::home(1), 0) == -1);
}

}  // namespace worker_places_test
