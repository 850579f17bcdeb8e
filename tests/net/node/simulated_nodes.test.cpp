// Whole nodes in the simulated network: three nodes in a test look like one.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/testkit/explore_network.hpp>
#include <garrick/testkit/test_system.hpp>

#include <string>
#include <vector>

#include "net/node/machine.hpp"

namespace simulated_nodes_test {

using namespace garrick;
using net::node;
using garrick::testkit::test_world;
using net::testkit::simulated_network;
using tests::machine;

struct number {
  std::int64_t n = 0;
};
struct total {};
using sum_type = protocol<void(number), std::int64_t(total), std::int64_t(number, number)>;

class sum : public actor<sum_type> {
 public:
  void on(number x) {
    in_order_ = in_order_ && x.n == next_++;
    sum_ += x.n;
  }
  std::int64_t on(total) { return in_order_ ? sum_ : -1; }
  std::int64_t on(number a, number b) { return a.n + b.n; }

 private:
  std::int64_t sum_ = 0;
  std::int64_t next_ = 0;
  bool in_order_ = true;
};

}  // namespace simulated_nodes_test

using namespace simulated_nodes_test;

TEST_CASE("simulated nodes: names, messages and requests, whichever node is asked first") {
  for (const bool swapped : {false, true}) {
    CAPTURE(swapped);
    test_world world(7);
    simulated_network net(world);
    machine a(world, net, "a", swapped ? 2 : 1);
    machine b(world, net, "b", swapped ? 1 : 2);
    const auto adder = a.system.spawn<sum>();
    REQUIRE(a.node.listen("tcp://a:7").has_value());
    REQUIRE(a.node.publish("sum", adder).has_value());
    const auto found = b.node.remote<sum_type>("tcp://a:7", "sum");
    REQUIRE_MESSAGE(found.has_value(), found.error().to_string());
    for (int i = 0; i < 2000; ++i) send(*found, number{i});
    CHECK(b.system.request(*found, total{}).get().value() == 1999 * 1000);
    CHECK(b.system.request(*found, number{1}, number{2}).get().value() == 3);
    CHECK(a.node.peers() == std::vector<net::peer_identity>{b.node.self()});
  }
}

TEST_CASE("simulated nodes: who keeps up is sent more ahead, so grants become few") {
  test_world world(7);
  simulated_network net(world);
  machine a(world, net, "a", 1);
  machine b(world, net, "b", 2);
  REQUIRE(a.node.listen("tcp://a:7").has_value());
  REQUIRE(a.node.publish("sum", a.system.spawn<sum>()).has_value());
  const auto found = b.node.remote<sum_type>("tcp://a:7", "sum");
  REQUIRE(found.has_value());
  std::int64_t sent = 0;
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 100; ++i) send(*found, number{sent++});
    CHECK(b.system.request(*found, total{}).get().value() == sent * (sent - 1) / 2);
  }
  // What a has sent are answers and grants. With 256 messages ahead there would be 157 of those.
  std::uint64_t confirmed = 0;
  for (const net::link_count& c : a.node.counters(b.node.self()))
    if (c.layer == "reconnect" && c.name == "confirmed") confirmed = c.value;
  CHECK(confirmed > 150);
  CHECK(confirmed < 230);
}
