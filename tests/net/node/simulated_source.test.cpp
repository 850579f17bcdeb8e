// The places at which a node of a simulated network may listen, and those to which it may connect;
// and the order in which a link there hears of its streams.
#include <doctest/doctest.h>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/testkit/faults.hpp>
#include <garrick/net/testkit/recording.hpp>

#include <cstddef>
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

namespace {

/// Starts a link for the first newcomer that speaks, and lets every other one join it.
struct one_link final : net::accept_policy {
  explicit one_link(net::carried& stack) : stack_(stack) {}
  [[nodiscard]] std::size_t wants() const override { return 1; }
  [[nodiscard]] net::verdict look(const net::arrival&) override {
    return link_ == net::connection() ? net::verdict::start() : net::verdict::join(link_);
  }
  [[nodiscard]] net::connection claim(const net::arrival&, const net::connection& fresh) override {
    return link_ = fresh;
  }
  [[nodiscard]] std::unique_ptr<net::hosted> make(const net::arrival&, net::carrier&,
                                                  const net::connection&) override {
    struct recorded final : net::hosted {
      explicit recorded(net::carried& s) : stack_(s) {}
      net::carried& stack() override { return stack_; }
      net::carried& stack_;
    };
    return std::make_unique<recorded>(stack_);
  }

 private:
  net::carried& stack_;
  net::connection link_;
};

/// A link on "b" with a stream from "a", and a stream from "c" that joins the link when it speaks.
struct link_of_two_streams {
  net::testkit::simulated_network net{1};
  net::testkit::recording at_link, at_a, at_c;
  net::testkit::simulated_source source{net.host("b")};
  net::listener door =
      source.listen(net::endpoint::parse("tcp://b:7").value(), std::make_shared<one_link>(at_link))
          .value();
  std::unique_ptr<net::testkit::endpoint> a = net.host("a").connect({"b", 7});
  std::unique_ptr<net::testkit::endpoint> c = net.host("c").connect({"b", 7});

  link_of_two_streams() {
    net.both("a", "b", {.delay = duration::milliseconds(2)});
    net.both("c", "b", {.delay = duration::milliseconds(2)});
    a->drive(at_a);
    c->drive(at_c);
    pass();
    speak(*a, "a");
    pass();
    REQUIRE(heard() == "+a");
  }
  void pass() { net.run_for(duration::milliseconds(10)); }
  static void speak(net::testkit::endpoint& from, std::string_view text) {
    from.transmit(net::testkit::packet_of(text));
  }
  /// Returns the calls to the link's stack: "+" for each `connected`, "-" for each `disconnected`,
  /// and the bytes.
  [[nodiscard]] std::string heard() const {
    std::string all;
    for (const std::string& what : at_link.texts())
      all += what == "connected" ? "+" : what.starts_with("disconnected") ? "-" : what;
    return all;
  }
};

}  // namespace

TEST_CASE("simulated source: a link hears of a lost stream before it hears of the next one") {
  link_of_two_streams l;
  SUBCASE("the link still has the stream") { l.speak(*l.c, "c"); }
  SUBCASE("the link has heard of the loss") {
    l.a->close();
    l.pass();
    CHECK(l.heard() == "+a-");
    l.speak(*l.c, "c");
  }
  SUBCASE("the end of the one and the first bytes of the other come in the same instant") {
    l.a->close();
    l.speak(*l.c, "c");
  }
  SUBCASE("the stream is lost while the process is stopped, after the other one has spoken") {
    l.net.host("b").pause();
    l.speak(*l.c, "c");
    l.pass();
    l.net.apply(net::testkit::reset_streams("a", "b"));
    l.pass();
    CHECK(l.heard() == "+a");
    l.net.host("b").resume();
  }
  l.pass();
  CHECK(l.heard() == "+a-+c");
  l.c->close();
  l.pass();
  CHECK(l.heard() == "+a-+c-");
}

}  // namespace simulated_source_test
