// Connecting to a node by its endpoint: its identity, and the errors if there is no node or another
// one.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/testkit/simulated_network.hpp>
#include <garrick/net/testkit/simulated_source.hpp>
#include <garrick/testkit/test_system.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <support/quiet.hpp>
#include <support/transports.hpp>

#include "net/node/connecting/caller.hpp"

namespace connecting_test {

using namespace garrick;
using net::net_errc;
using net::node;
using net::peer_identity;
using tests::caller;
using garrick::testkit::test_system;
using garrick::testkit::test_world;
using net::testkit::simulated_network;
using net::testkit::simulated_source;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

class echo : public actor<protocol<int(int)>> {
 public:
  int on(int x) { return x; }
};

/// A system and a node on a host.
struct machine {
  test_system system;
  node self;
  machine(test_world& world, simulated_network& net, const char* name, std::uint64_t n,
          std::uint64_t life = 1)
      : system(world, {.clock = &net.host(name).clock()}),
        self(system.env(), {.id = {0, n},
                            .incarnation = 100 * life + n,
                            .insecure = true,
                            .source = std::make_shared<simulated_source>(net.host(name)),
                            .seed = n}) {}
};

TEST_CASE(
    "connecting: the answer is the peer's identity, over sockets, for threads and for actors") {
  for (const char* where : {"tcp://127.0.0.1:0", "udp://127.0.0.1:0"}) {
    CAPTURE(where);
    actor_system left(tests::quiet()), right(tests::quiet());
    node a(left), b(right);
    const std::string at = a.listen(where).value().to_string();
    const result<peer_identity> who = b.connect(at);
    REQUIRE_MESSAGE(who.has_value(), who.error().to_string());
    CHECK(*who == a.self());
    CHECK(b.peers() == std::vector{a.self()});
    CHECK(b.connect(at).value() == a.self());
    const auto asks = right.spawn<caller>(lent(b));
    CHECK(right.request(asks, at).get().value() == a.self().incarnation);
    CHECK(right.request(asks, std::string("there")).get().error() == net_errc::bad_endpoint);
    CHECK(b.peers().size() == 1);
  }
}

TEST_CASE("connecting: a text that is no endpoint of another node is an error that says why") {
  actor_system system(tests::quiet());
  node self(system);
  const std::string at = self.listen("tcp://127.0.0.1:0").value().to_string();
  CHECK(self.connect("").error() == net_errc::bad_endpoint);
  CHECK(self.connect("tcp://").error() == net_errc::bad_endpoint);
  CHECK(self.connect("tcp://127.0.0.1:port").error() == net_errc::bad_endpoint);
  CHECK(self.connect("tcp://127.0.0.1:0").error() == net_errc::bad_endpoint);
  CHECK(self.connect("udp://127.0.0.1:0").error() == net_errc::bad_endpoint);
  CHECK(self.connect("tcp://192.0.2.1:80").error() == net_errc::denied);
  const auto oneself = self.connect(at);
  REQUIRE(!oneself.has_value());
  CHECK_MESSAGE(oneself.error() == net_errc::refused, oneself.error().to_string());
  const auto by_identity = self.remote<protocol<int(int)>>(self.self(), "echo");
  CHECK_MESSAGE(by_identity.error() == net_errc::refused, by_identity.error().to_string());
  CHECK(self.peers().empty());
}

TEST_CASE("connecting: a server of HTTP is told from a node, and so is one that sends zeros") {
  for (const std::string& says :
       {std::string("HTTP/1.1 400 Bad Request\r\n\r\n"), std::string(64, '\0')}) {
    CAPTURE(says.size());
    const tests::bare_socket door = tests::bare_socket::listening();
    std::thread server([&] {
      const tests::bare_socket one = door.accept();
      one.write(says);
      static_cast<void>(one.read(1));
    });
    actor_system system(tests::quiet());
    node self(system);
    const auto who = self.connect("tcp://127.0.0.1:" + std::to_string(door.port()));
    REQUIRE(!who.has_value());
    CHECK_MESSAGE(who.error() == net_errc::not_garrick, who.error().to_string());
    server.join();
  }
}

TEST_CASE("connecting: a silent listener is waited for up to the limit") {
  const tests::bare_socket door = tests::bare_socket::listening();
  actor_system system(tests::quiet());
  node self(system);
  const auto who = self.connect("tcp://127.0.0.1:" + std::to_string(door.port()), ms(50));
  REQUIRE(!who.has_value());
  CHECK_MESSAGE(who.error() == errc::timeout, who.error().to_string());
  CHECK(self.peers().empty());
}

/// A port that no other socket gets, and that does not answer nodes.
class taken_port {
 public:
  explicit taken_port(int type) : socket_(::socket(AF_INET, type | SOCK_CLOEXEC, 0)) {
    const sockaddr_in here = tests::bare_socket::loopback(0);
    REQUIRE(::bind(socket_.fd(), reinterpret_cast<const sockaddr*>(&here), sizeof(here)) == 0);
    if (type == SOCK_STREAM) return;
    const sockaddr_in other = tests::bare_socket::loopback(9);  // the only address it hears
    REQUIRE(::connect(socket_.fd(), reinterpret_cast<const sockaddr*>(&other), sizeof(other)) == 0);
  }
  [[nodiscard]] std::string text() const { return "127.0.0.1:" + std::to_string(socket_.port()); }
  void listen() const { REQUIRE(::listen(socket_.fd(), 8) == 0); }

 private:
  tests::bare_socket socket_;
};

/// Repeats `ask` until it times out with these words. Returns the whole text.
template <class Ask>
std::string time_out_with(const std::string& words, Ask ask) {
  std::string text;
  tests::wait_until([&] {
    const auto answer = ask();
    REQUIRE(!answer.has_value());
    text = answer.error().to_string();
    CHECK_MESSAGE(answer.error() == errc::timeout, text);
    return text.find(words) != std::string::npos;
  });
  return text;
}

TEST_CASE("connecting: an attempt in vain has a reason") {
  actor_system system(tests::quiet());
  net::node_settings s;
  s.insecure = true;
  s.link.session.handshake_limit = duration::seconds(600);  // otherwise the handshake ends the wait
  node self(system, s);
  for (const auto& [scheme, type] : {std::pair("tcp", SOCK_STREAM), std::pair("udp", SOCK_DGRAM)}) {
    const taken_port port(type);
    const std::string nobody = scheme + std::string("://") + port.text();
    const std::string why = "the other end cannot be reached: " + nobody + ": Connection refused";
    const auto told = time_out_with(why, [&] { return self.connect(nobody, ms(50)); });
    CHECK_MESSAGE(told.find("no response came in time: " + nobody) == 0, told);
    time_out_with(why, [&] { return self.remote<protocol<int(int)>>(nobody, "echo", ms(50)); });
  }
  const std::string no_file = "unix:///nowhere/garrick";
  time_out_with("the last attempt: the other end cannot be reached",
                [&] { return self.connect(no_file, ms(50)); });
}

TEST_CASE("connecting: a caller that was refused and then hears nothing is told both") {
  actor_system system(tests::quiet());
  net::node_settings s;
  s.link.session.handshake_limit = duration::seconds(600);
  node self(system, s);
  const taken_port port(SOCK_STREAM);
  const auto connect = [&] { return self.connect("tcp://" + port.text(), ms(50)); };
  time_out_with("the last attempt: the other end cannot be reached", connect);
  port.listen();
  time_out_with("nothing has come from there; before: the other end cannot be reached", connect);
}

TEST_CASE(
    "connecting: an absent node has a reason, and is waited for, if either limit ends first") {
  test_world world(5);
  simulated_network net(world);
  net.both("a", "b", {.delay = ms(3)});
  machine b(world, net, "b", 2);
  std::optional<machine> a;
  for (const duration limit : {duration::seconds(10), duration::seconds(11)}) {
    CAPTURE(limit.to_string());
    const instant start = world.time().now();
    const auto who = b.self.connect("tcp://a:7", limit);
    REQUIRE(!who.has_value());
    const std::string text = who.error().to_string();
    CHECK_MESSAGE(text.find("the connection was refused") != std::string::npos, text);
    CHECK(world.time().now() - start >= duration::seconds(10));
  }
  net.host("b").after(duration::seconds(25), [&] {
    a.emplace(world, net, "a", 1);
    REQUIRE(a->self.listen("tcp://a:7").has_value());
  });
  CHECK(b.self.connect("tcp://a:7", duration::seconds(60)).has_value());
}

TEST_CASE("connecting: a caller that times out as another attempt begins is told the reason, too") {
  test_world world(5);
  simulated_network net(world);
  net.both("a", "b", {.delay = ms(3)});
  machine b(world, net, "b", 2);
  for (std::int64_t more = 0; more <= 16; ++more) {  // no answer comes within 6 ms
    CAPTURE(more);
    const duration limit = duration::seconds(10) + ms(more);
    const auto told = [](const auto& answer) {
      REQUIRE(!answer.has_value());
      const std::string text = answer.error().to_string();
      CHECK_MESSAGE(text.find("the connection was refused") != std::string::npos, text);
    };
    told(b.self.connect("tcp://a:7", limit));
    told(b.self.remote<protocol<int(int)>>("tcp://a:7", "echo", limit));
    b.system.run_for(duration::seconds(20));  // until no attempt is left that a call could join
  }
}

TEST_CASE("connecting: a node that is not there yet is waited for") {
  for (const std::string scheme : {"tcp", "udp"}) {
    CAPTURE(scheme);
    test_world world(5);
    simulated_network net(world);
    net.both("a", "b", {.delay = ms(3)});
    machine b(world, net, "b", 2);
    std::optional<machine> a;
    net.host("b").after(ms(700), [&] {
      a.emplace(world, net, "a", 1);
      REQUIRE(a->self.listen(scheme + "://a:7").has_value());
    });
    const auto early = b.self.connect(scheme + "://a:7", ms(500));
    CHECK(early.error() == errc::timeout);
    const auto who = b.self.connect(scheme + "://a:7");
    REQUIRE_MESSAGE(who.has_value(), who.error().to_string());
    CHECK(*who == a->self.self());
    CHECK(a->self.peers() == std::vector{b.self.self()});
  }
}

TEST_CASE("connecting: two nodes that connect to each other at once have one link") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    test_world world(seed);
    simulated_network net(world);
    net.both("a", "b", {.delay = ms(3)});
    machine a(world, net, "a", 1 + seed % 2), b(world, net, "b", 2 - seed % 2);
    REQUIRE(a.self.listen("tcp://a:7").has_value());
    REQUIRE(b.self.listen("tcp://b:7").has_value());
    const auto from_a = a.system.spawn<caller>(lent(a.self));
    const auto from_b = b.system.spawn<caller>(lent(b.self));
    auto to_b = a.system.request(from_a, std::string("tcp://b:7"));
    auto to_a = b.system.request(from_b, std::string("tcp://a:7"));
    const auto there = to_b.get();
    const auto back = to_a.get();
    REQUIRE_MESSAGE(there.has_value(), there.error().to_string());
    REQUIRE_MESSAGE(back.has_value(), back.error().to_string());
    CHECK(*there == b.self.self().incarnation);
    CHECK(*back == a.self.self().incarnation);
    a.system.run_for(duration::seconds(10));
    CHECK(a.self.peers() == std::vector{b.self.self()});
    CHECK(b.self.peers() == std::vector{a.self.self()});
  }
}

TEST_CASE("connecting: a node that is started again is another life at the same endpoint") {
  test_world world(5);
  simulated_network net(world);
  net.both("a", "b", {.delay = ms(3)});
  machine b(world, net, "b", 2);
  std::optional<machine> a;
  a.emplace(world, net, "a", 1);
  REQUIRE(a->self.listen("tcp://a:7").has_value());
  CHECK(b.self.connect("tcp://a:7").value().incarnation == 101);
  net.host("a").crash();
  a.reset();
  b.system.run_for(duration::seconds(40));
  net.host("a").restart();
  a.emplace(world, net, "a", 1, 2);
  REQUIRE(a->self.listen("tcp://a:7").has_value());
  const auto again = b.self.connect("tcp://a:7");
  REQUIRE_MESSAGE(again.has_value(), again.error().to_string());
  CHECK(again->incarnation == 201);
}

TEST_CASE(
    "connecting: a question for a name while a node comes back is answered by its next life") {
  test_world world(5);
  simulated_network net(world);
  net.both("a", "b", {.delay = ms(3)});
  machine b(world, net, "b", 2);
  std::optional<machine> a;
  for (const std::uint64_t life : {1u, 2u}) {
    if (life == 2) {  // at once, so that neither end has noticed
      net.host("a").crash(net::testkit::crash_kind::process);
      a.reset();
      net.host("a").restart();
    }
    a.emplace(world, net, "a", 1, life);
    REQUIRE(a->self.listen("tcp://a:7").has_value());
    REQUIRE(a->self.publish("echo", a->system.spawn<echo>()).has_value());
    const auto who = b.self.remote<protocol<int(int)>>("tcp://a:7", "echo");
    REQUIRE_MESSAGE(who.has_value(), who.error().to_string());
    CHECK(b.system.request(*who, 4).get().value() == 4);
  }
}

TEST_CASE("connecting: settings that contradict each other are an error before there is a peer") {
  actor_system system(tests::quiet());
  const auto refused = [&](net::node_settings s, std::string_view says) {
    node n(system, std::move(s));
    const auto door = n.listen("tcp://127.0.0.1:0");
    REQUIRE_FALSE(door.has_value());
    CHECK(door.error() == errc::invalid_setting);
    const std::string text = door.error().to_string();
    CHECK_MESSAGE(text.find(says) != std::string::npos, text);
    const auto to = n.connect("tcp://127.0.0.1:1");
    REQUIRE_FALSE(to.has_value());
    CHECK(to.error() == errc::invalid_setting);
  };
  net::node_settings s;
  s.link.session.down_after = duration::seconds(5);
  refused(s, "down_after");
  s = {};
  s.link.slicing.largest = 0;
  refused(s, "slicing_largest");
  s = {};
  s.stream_stack = "strem";
  refused(s, "strem");
  s = {};
  s.stream_stack = s.datagram_stack;
  refused(s, s.datagram_stack);
}

TEST_CASE(
    "connecting: a node that advertises an address is reached there, and says so to its own") {
  actor_system left(tests::quiet()), right(tests::quiet());
  node a(left), b(right);
  // The address before the `?` is bound, and the address behind it is told to peers.
  const net::endpoint told = a.listen("tcp://127.0.0.1:0?advertised=localhost:0").value();
  CHECK(told.host() == "localhost");
  CHECK(told.port() != 0);
  CHECK(told.to_string() == "tcp://localhost:" + std::to_string(told.port()));
  CHECK(b.connect(told.to_string()).value() == a.self());
  // No socket listens at port 1: a client connects to the advertised endpoint.
  const std::string port = std::to_string(told.port());
  actor_system third(tests::quiet());
  node c(third);
  CHECK(c.connect("tcp://127.0.0.1:1?advertised=127.0.0.1:" + port).value() == a.self());
  // The advertised endpoint must be of this machine.
  CHECK(c.connect("tcp://127.0.0.1:1?advertised=example.org:1", ms(100)).error() ==
        net_errc::denied);
}

TEST_CASE("connecting: an advertised address is where others go in a simulation, too") {
  test_world world(5);
  simulated_network net(world);
  machine a(world, net, "a", 1), b(world, net, "b", 2);
  const net::endpoint told = a.self.listen("tcp://0.0.0.0:7?advertised=a:0").value();
  CHECK(told.to_string() == "tcp://a:7");
  CHECK(b.self.connect("tcp://nowhere:9?advertised=a:7").value() == a.self.self());
}

TEST_CASE("connecting: a caller that joins an attempt which ends soon has its whole time, too") {
  test_world world(5);
  simulated_network net(world);
  net.both("a", "b", {.delay = ms(3)});
  machine b(world, net, "b", 2);
  std::optional<machine> a;
  const auto asks = b.system.spawn<caller>(lent(b.self));
  auto first = b.system.request(asks, std::string("tcp://a:7"));
  b.system.run_for(duration::seconds(8));
  net.host("b").after(duration::seconds(25), [&] {
    a.emplace(world, net, "a", 1);
    REQUIRE(a->self.listen("tcp://a:7").has_value());
  });
  const auto who = b.self.connect("tcp://a:7", duration::seconds(60));
  CHECK_MESSAGE(who.has_value(), who.error().to_string());
  CHECK(first.get().error() == net_errc::unreachable);
}

TEST_CASE("connecting: a node of another version is told so at both ends") {
  actor_system left(tests::quiet()), right(tests::quiet());
  net::node_settings later;
  later.link.session.versions = {2, 3};
  node a(left, later), b(right);
  const std::string at = a.listen("tcp://127.0.0.1:0").value().to_string();
  const std::string at_b = b.listen("tcp://127.0.0.1:0").value().to_string();
  for (const auto& who : {b.connect(at), a.connect(at_b)}) {
    REQUIRE(!who.has_value());
    CHECK(who.error() == net_errc::incompatible);
    CHECK(who.error().to_string().find("2 to 3") != std::string::npos);
  }
  CHECK(a.peers().empty());
  CHECK(b.peers().empty());
}

namespace {

/// A source that never makes its links, as if its threads had ended before.
class late_source final : public net::link_source {
 public:
  explicit late_source(bool refuses) : refuses_(refuses) {}
  base::result<net::connection> connect(const net::endpoint&,
                                        std::unique_ptr<net::hosted_maker> make) override {
    if (refuses_) return make_error(errc::shutting_down, "source", "it has ended");
    makers_.push_back(std::move(make));
    return net::connection();
  }
  base::result<net::listener> listen(const net::endpoint&,
                                     std::shared_ptr<net::accept_policy>) override {
    return errc::shutting_down;
  }
  [[nodiscard]] instant now() const noexcept override { return {}; }
  void wait_for_end(const std::vector<net::connection>&, duration) override {}
  void stop() noexcept override { makers_.clear(); }

 private:
  const bool refuses_;
  std::vector<std::unique_ptr<net::hosted_maker>> makers_;
};

}  // namespace

TEST_CASE(
    "connecting: a caller that waits for a link that was not made is told of the node's end") {
  for (const bool refuses : {false, true}) {
    CAPTURE(refuses);
    test_system kit;
    net::node_settings s;
    s.source = std::make_shared<late_source>(refuses);
    std::optional<node> self(std::in_place, kit.env(), s);
    const auto first = kit.spawn<caller>(lent(*self));
    const auto second = kit.spawn<caller>(lent(*self));
    auto asked = kit.request(first, std::string("tcp://127.0.0.1:1"));
    auto asked_too = kit.request(second, std::string("tcp://127.0.0.1:1"));
    kit.run();
    self.reset();
    kit.run();
    CHECK(asked.get().error() == errc::shutting_down);
    CHECK(asked_too.get().error() == errc::shutting_down);
  }
}

namespace {

/// Checks the answers of two nodes that connect to each other at almost the same virtual time.
void check_crossing(const char* scheme, std::uint64_t seed, duration later) {
  test_world world(seed);
  simulated_network net(world);
  net.both("a", "b", {.delay = ms(1), .jitter = ms(2)});
  machine a(world, net, "a", 1), b(world, net, "b", 2);
  const auto at = [&](const char* host) { return std::string(scheme) + "://" + host + ":7"; };
  REQUIRE(a.self.listen(at("a")).has_value());
  REQUIRE(b.self.listen(at("b")).has_value());
  auto by_a = a.system.request(a.system.spawn<caller>(lent(a.self)), at("b"));
  a.system.run_for(later);
  auto by_b = b.system.request(b.system.spawn<caller>(lent(b.self)), at("a"));
  const result<std::uint64_t> got_a = by_a.get(), got_b = by_b.get();
  REQUIRE_MESSAGE(got_a.has_value(), got_a.error().to_string());
  REQUIRE_MESSAGE(got_b.has_value(), got_b.error().to_string());
  CHECK(*got_a == b.self.self().incarnation);
  CHECK(*got_b == a.self.self().incarnation);
  a.system.run_for(duration::seconds(1));
  CHECK(a.self.peers() == std::vector{b.self.self()});
  CHECK(b.self.peers() == std::vector{a.self.self()});
}

}  // namespace

TEST_CASE("connecting: nodes that connect to each other at once get each other") {
  for (const char* scheme : {"tcp", "udp"})
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      CAPTURE(scheme);
      CAPTURE(seed);
      check_crossing(scheme, seed,
                     duration::microseconds(static_cast<std::int64_t>(seed % 40) * 100));
    }
}

}  // namespace connecting_test
