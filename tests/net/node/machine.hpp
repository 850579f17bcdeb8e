// A system and a node on a host of a simulated network.
#pragma once

#include <garrick/net/node/node.hpp>
#include <garrick/net/testkit/simulated_network.hpp>
#include <garrick/net/testkit/simulated_source.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace garrick::tests {

/// A system with the n-th node of a network, at the host of this name.
struct machine {
  garrick::testkit::test_system system;
  net::node node;

  machine(garrick::testkit::test_world& world, net::testkit::simulated_network& net,
          const char* name, std::uint64_t n, net::node_settings s = {})
      : system(world, {.clock = &net.host(name).clock()}),
        node(system.env(), on(net, name, n, std::move(s))) {}

 private:
  static net::node_settings on(net::testkit::simulated_network& net, const char* name,
                               std::uint64_t n, net::node_settings s) {
    s.id = {0, n};
    if (s.incarnation == 0) s.incarnation = net.seed() * 100 + n + 1;
    s.insecure = true;
    s.source = std::make_shared<net::testkit::simulated_source>(net.host(name));
    s.seed = net.seed();
    return s;
  }
};

}  // namespace garrick::tests
