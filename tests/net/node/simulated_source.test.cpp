// The places at which a node of a simulated network may listen, and those to which it may connect.
#include <doctest/doctest.h>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <memory>
#include <string>
#include <string_view>

#include "net/node/simulated_machines.hpp"

namespace simulated_source_test {

using namespace garrick;
using net::net_errc;
using tests::three_machines;

namespace {

void expect(const error& e, const error& kind, std::string_view words) {
  CHECK_MESSAGE(e == kind, e.to_string());
  CHECK_MESSAGE(e.to_string().find(words) != std::string::npos, e.to_string());
}

/// Returns the history of two nodes without given identities that connected to each other.
std::string history_of_two(std::uint64_t seed) {
  garrick::testkit::test_world world(seed);
  net::testkit::simulated_network net(world);
  const auto settings = [&](const char* name) {
    net::node_settings s{.insecure = true};
    s.source = std::make_shared<net::testkit::simulated_source>(net.host(name));
    return s;
  };
  garrick::testkit::test_system a(world, {.clock = &net.host("a").clock()});
  garrick::testkit::test_system b(world, {.clock = &net.host("b").clock()});
  net::node at_a(a.env(), settings("a"));
  net::node at_b(b.env(), settings("b"));
  static_cast<void>(at_a.listen("tcp://a:7").value());
  static_cast<void>(at_b.listen("tcp://b:7").value());
  auto one = at_a.connect("tcp://b:7");
  auto other = at_b.connect("tcp://a:7");
  CHECK(*one == at_b.self());
  CHECK(*other == at_a.self());
  CHECK(at_a.self() != at_b.self());
  a.run_for(duration::seconds(1));
  const net::node again(a.env(), settings("a"));
  CHECK(again.self().node != at_a.self().node);
  return at_a.self().to_string() + at_b.self().to_string() + again.self().to_string() +
         net.history().to_string();
}

}  // namespace

TEST_CASE("simulated source: nodes draw their identities from the network's seed") {
  const std::string first = history_of_two(3);
  CHECK(first == history_of_two(3));
  CHECK(first != history_of_two(4));
}

TEST_CASE("simulated source: a host listens at its own name and ports, at each once") {
  three_machines m;
  expect(m.b.node.listen("tcp://a:9").error(), errc::invalid_setting,
         "tcp://a:9: it is not an address of the simulated host b");
  expect(m.b.node.listen("udp://elsewhere:9").error(), errc::invalid_setting, "host b");
  expect(m.b.node.listen("unix:///x").error(), errc::invalid_setting, "no Unix domain sockets");
  expect(m.b.node.listen("tcp://b:7").error(), net_errc::address_in_use,
         "the address is in use: tcp://b:7");
  CHECK(m.b.node.listen("tcp://b:8").has_value());
}

TEST_CASE("simulated source: a listener at port 0 has a free one, which others reach") {
  three_machines m;
  for (const char* where : {"tcp://b:0", "udp://b:0", "tcp://0.0.0.0:0?advertised=b:0"}) {
    CAPTURE(where);
    const result<net::endpoint> at = m.b.node.listen(where);
    REQUIRE_MESSAGE(at.has_value(), at.error().to_string());
    CHECK(at->host() == "b");
    CHECK(at->port() != 0);
    const auto there = m.a.node.connect(at->to_string());
    REQUIRE_MESSAGE(there.has_value(), there.error().to_string());
    CHECK(*there == m.b.node.self());
  }
}

TEST_CASE("simulated source: a host that the network does not have cannot be connected to") {
  three_machines m;
  for (const char* where : {"tcp://nohost:7", "udp://nohost:7"})
    expect(m.b.node.connect(where).error(), errc::invalid_setting,
           "nohost:7: the simulated network has no host of this name");
  for (const char* where : {"tcp://b:0", "udp://b:0"})
    expect(m.a.node.connect(where).error(), net_errc::bad_endpoint, "no other end has port 0");
  expect(m.b.node.connect("unix:///x").error(), errc::invalid_setting, "no Unix domain sockets");
  m.net.host("nohost");
  CHECK(m.b.node.connect("tcp://nohost:7", duration::seconds(1)).error() == errc::timeout);
}

}  // namespace simulated_source_test
