// Whole nodes in the simulated network: three nodes in a test look like one.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/testkit/explore_network.hpp>
#include <garrick/testkit/test_system.hpp>

#include <string>
#include <vector>

#include <support/by_hand.hpp>

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

/// Returns the number of frames (answers and grants of credit) that an actor's node sends while a
/// hundred messages and a request come 200 times.
std::uint64_t sent_by_the_node_of(spawn_options o) {
  test_world world(7);
  simulated_network net(world);
  machine a(world, net, "a", 1);
  machine b(world, net, "b", 2);
  REQUIRE(a.node.listen("tcp://a:7").has_value());
  REQUIRE(a.node.publish("sum", a.system.spawn<sum>(o)).has_value());
  const auto found = b.node.remote<sum_type>("tcp://a:7", "sum");
  REQUIRE(found.has_value());
  std::int64_t sent = 0;
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 100; ++i) send(*found, number{sent++});
    CHECK(b.system.request(*found, total{}).get().value() == sent * (sent - 1) / 2);
  }
  for (const net::link_count& c : a.node.counters(b.node.self()))
    if (c.layer == "reconnect" && c.name == "confirmed") return c.value;
  return 0;
}

TEST_CASE("simulated nodes: an actor that keeps up is sent more ahead, so grants become few") {
  // With 256 messages ahead there would be 157 grants besides the answers.
  const std::uint64_t sent = sent_by_the_node_of({});
  CHECK(sent > 150);
  CHECK(sent < 230);
}

TEST_CASE("simulated nodes: a bounded mailbox is sent no more than the first credit ahead") {
  // The frames are the answers, and a grant for each second round at least.
  CHECK(sent_by_the_node_of({.policy = mailbox_policy::reject, .bound = 1000}) > 280);
}

TEST_CASE("simulated nodes: a sleeping actor is woken when all of one read is there") {
  test_world world(7);
  simulated_network net(world);
  machine a(world, net, "a", 1);
  machine b(world, net, "b", 2);
  tests::by_hand loop;
  std::vector<std::uint32_t> lengths;
  REQUIRE(a.node.listen("tcp://a:7").has_value());
  auto sleeper = std::optional(a.system.spawn<sum>(spawn_options{.executor = &loop.executor}));
  loop.run();
  REQUIRE(a.node.publish("sleeper", *sleeper).has_value());
  REQUIRE(a.node.publish("other", a.system.spawn<sum>()).has_value());
  auto found = b.node.remote<sum_type>("tcp://a:7", "sleeper");
  const auto other = b.node.remote<sum_type>("tcp://a:7", "other");
  REQUIRE(found.has_value());
  REQUIRE(other.has_value());
  loop.at_post = [&] { lengths.push_back(core::handle_access::get(*sleeper)->mailbox_length()); };
  for (int i = 0; i != 5; ++i) send(*found, number{i});
  CHECK(b.system.request(*other, number{1}, number{2}).get().value() == 3);
  loop.at_post = nullptr;
  CHECK(lengths == std::vector<std::uint32_t>{5});
  loop.run();
  REQUIRE(a.node.unpublish("sleeper"));
  sleeper.reset();
  found = error(errc::timeout);
  CHECK(b.system.request(*other, number{1}, number{2}).get().value() == 3);
  loop.run();
}

}  // namespace simulated_nodes_test
