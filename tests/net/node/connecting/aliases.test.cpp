// A node that is reached by several addresses: it is one peer, by one link.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <support/quiet.hpp>
#include <support/transports.hpp>

#include "net/node/machine.hpp"
#include "net/switched_proxy.hpp"

namespace aliases_test {

using namespace garrick;
using net::node;
using net::peer_identity;

class echo : public actor<protocol<int(int)>> {
 public:
  int on(int x) { return x; }
};
using echo_protocol = protocol<int(int)>;

/// Counts its events about peers.
class ears final : public net::peer_listener {
 public:
  std::atomic<int> ups{0}, downs{0}, disconnects{0}, resumes{0};

 private:
  void changed(const peer_identity&, net::peer_change what, const error&) override {
    ++(what == net::peer_change::up ? ups : downs);
  }
  void noticed(const peer_identity&, const net::peer_evidence& what) override {
    if (what.what == net::peer_evidence::kind::disconnected) ++disconnects;
    if (what.what == net::peer_evidence::kind::resumed) ++resumes;
  }
};

/// A node with this number as identity.
struct place {
  actor_system system{tests::quiet()};
  std::optional<node> self;
  std::shared_ptr<ears> heard = std::make_shared<ears>();

  explicit place(std::uint64_t number, std::uint64_t life = 1) { begin(number, life); }
  void begin(std::uint64_t number, std::uint64_t life) {
    net::node_settings s;
    s.id = {0, number};
    s.incarnation = 100 * life + number;
    s.insecure = true;
    self.emplace(system, s);
    self->subscribe(heard);
    REQUIRE(self->publish("echo", system.spawn<echo>()).has_value());
    REQUIRE(self->allow<echo>("echo type").has_value());
  }
};

/// The address at which a node listens, and those by which it is reached there.
struct addresses {
  std::string listens;
  std::vector<std::string> reached;
};

/// Returns the addresses for one transport after the other.
std::vector<addresses> all_transports(const std::string& file) {
  const std::size_t name = file.rfind('/');
  const std::string folder = "unix://" + file.substr(0, name);
  const std::string other_way = folder + "/." + file.substr(name);
  return {{"tcp://0.0.0.0:0", {"tcp://127.0.0.1:", "tcp://localhost:", "tcp://127.0.0.2:"}},
          {"udp://0.0.0.0:0", {"udp://127.0.0.1:", "udp://127.0.0.2:", "udp://127.0.0.3:"}},
          {"unix://" + file, {"unix://" + file, other_way, folder + "//" + file.substr(name)}}};
}

/// Lets the node listen. Returns the addresses by which it is reached.
std::vector<std::string> listen(node& n, const addresses& at) {
  const net::endpoint is = n.listen(at.listens).value();
  std::vector<std::string> all;
  for (const std::string& one : at.reached)
    all.push_back(one.ends_with(':') ? one + std::to_string(is.port()) : one);
  return all;
}

void check_one_peer(place& from, place& to, const std::vector<std::string>& at) {
  for (const std::string& one : at) {
    CAPTURE(one);
    const result<peer_identity> who = from.self->connect(one);
    REQUIRE_MESSAGE(who.has_value(), who.error().to_string());
    CHECK(*who == to.self->self());
    const auto there = from.self->remote<echo_protocol>(one, "echo");
    REQUIRE_MESSAGE(there.has_value(), there.error().to_string());
    CHECK(from.system.request(*there, 4).get().value() == 4);
    const auto made = from.self->spawn<echo_protocol>(one, "echo type");
    REQUIRE_MESSAGE(made.has_value(), made.error().to_string());
    CHECK(from.system.request(*made, 5).get().value() == 5);
    CHECK(from.self->peers() == std::vector{to.self->self()});
    CHECK(to.self->peers() == std::vector{from.self->self()});
  }
}

TEST_CASE("aliases: a node is found by each of its addresses over the link that stands") {
  tests::scratch_folder folder;
  const auto all = all_transports(folder.file("a"));
  const auto all_of_b = all_transports(folder.file("b"));
  for (std::size_t i = 0; i != all.size(); ++i)
    for (const std::uint64_t number : {1u, 2u}) {
      CAPTURE(all[i].listens);
      CAPTURE(number);
      place a(number), b(3 - number);
      check_one_peer(b, a, listen(*a.self, all[i]));
      // The other direction uses the same link.
      check_one_peer(a, b, listen(*b.self, all_of_b[i]));
      tests::wait_until([&] { return a.heard->ups != 0 && b.heard->ups != 0; });
      CHECK(a.heard->ups == 1);
      CHECK(b.heard->ups == 1);
      CHECK(a.heard->downs == 0);
      CHECK(b.heard->downs == 0);
    }
}

TEST_CASE("aliases: nodes that connect to each other by all addresses at once have one link") {
  tests::scratch_folder folder;
  const auto all = all_transports(folder.file("a"));
  const auto all_of_b = all_transports(folder.file("b"));
  using answer = std::future<base::result<peer_identity>>;
  const auto ask = [](place& from, const std::string& to) {
    return std::async(std::launch::async, [&from, to] { return from.self->connect(to); });
  };
  for (std::size_t i = 0; i != all.size(); ++i)
    for (std::uint64_t round = 0; round != 10; ++round) {
      CAPTURE(all[i].listens);
      CAPTURE(round);
      place a(1 + round % 2), b(2 - round % 2);
      const auto to_a = listen(*a.self, all[i]);
      const auto to_b = listen(*b.self, all_of_b[i]);
      std::vector<std::pair<answer, peer_identity>> asked;
      for (std::size_t k = 0; k != to_a.size(); ++k) {
        asked.emplace_back(ask(b, to_a[k]), a.self->self());
        if (round % 3 != 0) asked.emplace_back(ask(a, to_b[k]), b.self->self());
      }
      for (auto& [said, who] : asked) {
        const auto got = said.get();
        REQUIRE_MESSAGE(got.has_value(), got.error().to_string());
        CHECK(*got == who);
      }
      tests::wait_until([&] { return a.heard->ups != 0 && b.heard->ups != 0; });
      CHECK(a.self->peers() == std::vector{b.self->self()});
      CHECK(b.self->peers() == std::vector{a.self->self()});
      CHECK(a.heard->downs + b.heard->downs == 0);
    }
}

TEST_CASE("aliases: each address leads to the next life of a node when that has begun") {
  for (const std::string scheme : {"tcp", "udp"}) {
    CAPTURE(scheme);
    place a(1), b(2);
    const std::string port =
        ":" + std::to_string(a.self->listen(scheme + "://0.0.0.0:0").value().port());
    const std::vector at{scheme + "://127.0.0.1" + port, scheme + "://127.0.0.2" + port};
    check_one_peer(b, a, at);
    a.self.reset();
    tests::wait_until([&] { return b.self->peers().empty(); });  // it has left
    a.begin(1, 2);
    REQUIRE(a.self->listen(scheme + "://0.0.0.0" + port).has_value());
    check_one_peer(b, a, {at[1], at[0]});
  }
}

TEST_CASE("aliases: a new address leads to the next life of a node that has ended unnoticed") {
  garrick::testkit::test_world world(5);
  net::testkit::simulated_network net(world);
  net.both("a", "b", {.delay = duration::milliseconds(3)});
  tests::machine b(world, net, "b", 2);
  std::optional<tests::machine> a;
  a.emplace(world, net, "a", 1, net::node_settings{.incarnation = 101});
  REQUIRE(a->node.listen("tcp://a:7").has_value());
  CHECK(b.node.connect("tcp://a:7").value().incarnation == 101);
  net.host("a").crash(net::testkit::crash_kind::process);
  a.reset();
  net.host("a").restart();
  a.emplace(world, net, "a", 1, net::node_settings{.incarnation = 201});
  for (const char* at : {"tcp://a:8", "tcp://a:7"}) REQUIRE(a->node.listen(at).has_value());
  for (const char* at : {"tcp://a:8", "tcp://a:7", "tcp://a:8"}) {
    const auto who = b.node.connect(at);
    REQUIRE_MESSAGE(who.has_value(), who.error().to_string());
    CHECK(who->incarnation == 201);
    CHECK(b.node.peers() == std::vector{a->node.self()});
  }
}

TEST_CASE("aliases: a link that has lost its stream is found by another address, and goes on") {
  place a(1), b(2);
  const std::uint16_t port = a.self->listen("tcp://127.0.0.1:0").value().port();
  tests::switched_proxy between(port);
  const std::string first = "tcp://127.0.0.1:" + std::to_string(between.port());
  const std::string second = "tcp://127.0.0.1:" + std::to_string(port);
  const auto there = b.self->remote<echo_protocol>(first, "echo");
  REQUIRE_MESSAGE(there.has_value(), there.error().to_string());
  between.cut();
  tests::wait_until([&] { return a.heard->disconnects != 0 && b.heard->disconnects != 0; });
  const result<peer_identity> who = b.self->connect(second);
  REQUIRE_MESSAGE(who.has_value(), who.error().to_string());
  CHECK(*who == a.self->self());
  between.mend();
  CHECK(b.system.request(*there, 7).get().value() == 7);
  CHECK(a.heard->downs == 0);
  CHECK(b.heard->downs == 0);
  CHECK(a.heard->resumes >= 1);
}

}  // namespace aliases_test
