// Machines of a simulated network, each with a system and a node that listens, for tests of actors
// across nodes.
#pragma once

#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/testkit/simulated_network.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "net/node/machine.hpp"

namespace garrick::tests {

/// Returns the number of dead letters of a system for this reason, or for any reason.
inline std::uint64_t letters(const garrick::testkit::test_system& of, const error& why = {}) {
  std::uint64_t n = 0;
  for (const auto& one : of.dead_letters()) n += !why || one.reason == why;
  return n;
}

/// A machine that listens at port 7 and shows its actors to others.
struct listening_machine : machine {
  std::string at;

  listening_machine(garrick::testkit::test_world& world, net::testkit::simulated_network& net,
                    const char* name, std::uint64_t n, net::node_settings s = {})
      : machine(world, net, name, n, std::move(s)),
        at(node.listen(std::string("tcp://") + name + ":7").value().to_string()) {}

  /// Publishes `who` here, and finds it from `there`.
  template <class P>
  ref<P> shown_to(machine& there, const std::string& name, const ref<P>& who) {
    REQUIRE(node.publish(name, who).has_value());
    const result<ref<P>> found = there.node.remote<P>(at, name);
    REQUIRE_MESSAGE(found.has_value(), found.error().to_string());
    return *found;
  }
};

/// Returns the counter `name` that the node of `at` keeps about the node of `of`. Returns the
/// largest number if there is no such counter.
inline std::uint64_t counted(const listening_machine& at, const listening_machine& of,
                             std::string_view name) {
  for (const net::link_count& c : at.node.counters(of.node.self()))
    if (c.layer == "node" && c.name == name) return c.value;
  return ~std::uint64_t{0};
}

/// Three machines, 3 ms from each other. The settings are those of the first.
struct three_machines {
  garrick::testkit::test_world world;
  net::testkit::simulated_network net;
  listening_machine a, b, c;

  explicit three_machines(net::node_settings of_a = {}, net::node_settings of_b = {})
      : world(7),
        net(world),
        a(world, ways(), "a", 1, std::move(of_a)),
        b(world, net, "b", 2, std::move(of_b)),
        c(world, net, "c", 3) {}

 private:
  net::testkit::simulated_network& ways() {
    for (const auto& [x, y] : {std::pair("a", "b"), std::pair("a", "c"), std::pair("b", "c")})
      net.both(x, y, {.delay = duration::milliseconds(3)});
    return net;
  }
};

}  // namespace garrick::tests
