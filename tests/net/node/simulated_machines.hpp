// Machines of a simulated network, each with a system and a node, for tests of what actors can do
// across nodes.
#pragma once

#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/testkit/simulated_network.hpp>
#include <garrick/net/testkit/simulated_source.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace garrick::tests {

/// A system and a node on a host.
struct machine {
  testkit::test_system system;
  net::node node;
  std::string at;

  /// Listens at port 7. `n` is its number among all, `life` which of its lives this is.
  machine(const testkit::test_world& world, net::testkit::simulated_network& net,
          const std::string& name, std::uint64_t n, std::uint64_t life = 1)
      : system(world, {.clock = &net.host(name).clock()}),
        node(system.env(),
             {.id = {0, n},
              .incarnation = 100 * life + n,
              .insecure = true,
              .source = std::make_shared<net::testkit::simulated_source>(net.host(name)),
              .seed = 100 * life + n}),
        at(node.listen("tcp://" + name + ":7").value().to_string()) {}

  /// Publishes `who` here, and finds it from `there`.
  template <class P>
  ref<P> shown_to(machine& there, const std::string& name, const ref<P>& who) {
    REQUIRE(node.publish(name, who).has_value());
    const result<ref<P>> found = there.node.remote<P>(at, name);
    REQUIRE_MESSAGE(found.has_value(), found.error().to_string());
    return *found;
  }
};

/// Three of them, 3 ms from each other.
struct three_machines {
  testkit::test_world world;
  net::testkit::simulated_network net;
  machine a, b, c;

  explicit three_machines(std::uint64_t seed = 7)
      : world(seed),
        net(world),
        a(world, ways(), "a", 1),
        b(world, net, "b", 2),
        c(world, net, "c", 3) {}

 private:
  net::testkit::simulated_network& ways() {
    for (const auto& [x, y] : {std::pair("a", "b"), std::pair("a", "c"), std::pair("b", "c")})
      net.both(x, y, {.delay = duration::milliseconds(3)});
    return net;
  }
};

}  // namespace garrick::tests
