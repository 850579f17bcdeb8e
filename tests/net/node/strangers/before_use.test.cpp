// Links that are open and not in use: the first frame of a peer that decides lets its link be used,
// and a link that does not come into use ends.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "net/node/simulated_machines.hpp"
#include "net/node/strangers/stranger.hpp"

#include <support/quiet.hpp>

namespace before_use_test {

using namespace garrick;
using kind = net::frame_kind;
using tests::stranger;
using tests::three_machines;

using echo_type = protocol<std::int64_t(std::int64_t)>;
struct echo : actor<echo_type> {
  std::int64_t on(std::int64_t n) { return n; }
};

/// Identities that are smaller than those of the machines, so a stranger with one of them decides
/// which link is used. They are lives of one node.
constexpr net::peer_identity life(std::uint64_t n) { return {{0, 1}, n}; }

TEST_CASE("before use: a peer that says nothing is no peer, and one that asks at once is one") {
  three_machines m;
  REQUIRE(m.b.node.publish("echo", m.b.system.spawn<echo>()).has_value());
  stranger s(m, m.b, "b", life(7));
  CHECK(m.b.node.peers().empty());
  CHECK(s.heard().empty());
  CHECK(s.resolve<echo_type>("echo") != net::actor_id());  // without a `credit` before it
  REQUIRE(m.b.node.peers().size() == 1);
  CHECK(m.b.node.peers()[0] == life(7));
  REQUIRE(s.heard().size() == 2);
  CHECK(s.heard()[0].kind == kind::credit);  // before all other frames
  s.say({.kind = kind::credit, .number = 100});
  s.say({.kind = kind::credit, .number = 100});
  CHECK(s.count(kind::credit) == 1);
  CHECK(m.b.node.peers().size() == 1);
}

TEST_CASE("before use: of several lives of a node only the first one that asks is a peer") {
  three_machines m;
  REQUIRE(m.b.node.publish("echo", m.b.system.spawn<echo>()).has_value());
  // All are open before the first of them asks.
  stranger one(m, m.b, "b", life(1));
  stranger two(m, m.b, "b", life(2));
  CHECK(m.b.node.peers().empty());
  CHECK(two.resolve<echo_type>("echo") != net::actor_id());
  CHECK(one.resolve<echo_type>("echo") == net::actor_id());
  REQUIRE(m.b.node.peers().size() == 1);
  CHECK(m.b.node.peers()[0] == life(2));
  CHECK(two.resolve<echo_type>("echo") != net::actor_id());
}

TEST_CASE("before use: a life whose link opened before that of a later life is no peer") {
  three_machines m;
  REQUIRE(m.b.node.publish("echo", m.b.system.spawn<echo>()).has_value());
  stranger one(m, m.b, "b", life(1));
  stranger two(m, m.b, "b", life(2));
  CHECK(two.resolve<echo_type>("echo") != net::actor_id());
  CHECK(one.resolve<echo_type>("echo") == net::actor_id());
  REQUIRE(m.b.node.peers().size() == 1);
  CHECK(m.b.node.peers()[0] == life(2));
  CHECK(two.resolve<echo_type>("echo") != net::actor_id());
}

/// Counts how often a peer comes up.
struct ups final : net::peer_listener {
  void changed(const net::peer_identity&, net::peer_change what, const error&) override {
    count += what == net::peer_change::up;
  }
  int count = 0;
};

TEST_CASE("before use: a link that was dialled before an earlier life serves the later one") {
  garrick::testkit::test_world world(7);
  net::testkit::simulated_network network(world);
  network.both("a", "b", {.delay = duration::milliseconds(3)});
  tests::listening_machine b(world, network, "b", 2);
  // The attempt goes on, so its link is older than that of the first life.
  CHECK(b.node.connect("tcp://a:7", duration::milliseconds(100)).error() == errc::timeout);
  std::optional<tests::machine> a;
  a.emplace(world, network, "a", 1, net::node_settings{.incarnation = 101});
  REQUIRE(a->node.connect(b.at).has_value());
  b.system.run_for(duration::milliseconds(50));
  REQUIRE(b.node.peers() == std::vector{a->node.self()});
  network.host("a").crash(net::testkit::crash_kind::process);
  a.reset();
  network.host("a").restart();
  a.emplace(world, network, "a", 1, net::node_settings{.incarnation = 201});
  REQUIRE(a->node.listen("tcp://a:7").has_value());
  const auto seen = std::make_shared<ups>();
  a->node.subscribe(seen);
  b.system.run_for(duration::seconds(5));
  CHECK(seen->count == 1);  // by the first link that reaches it
  CHECK(b.node.peers() == std::vector{a->node.self()});
  CHECK(a->node.peers() == std::vector{b.node.self()});
}

TEST_CASE("before use: a link has ten seconds to come into use, and then any time") {
  three_machines m;
  REQUIRE(m.b.node.publish("echo", m.b.system.spawn<echo>()).has_value());
  for (const bool in_time : {true, false}) {
    CAPTURE(in_time);
    stranger s(m, m.b, "b", life(in_time ? 1 : 2));
    m.b.system.run_for(duration::seconds(9));
    if (in_time) CHECK(s.resolve<echo_type>("echo") != net::actor_id());
    m.b.system.run_for(duration::seconds(2));
    CHECK((s.resolve<echo_type>("echo") != net::actor_id()) == in_time);
  }
}

TEST_CASE("before use: a frame on a link that this end has not chosen ends the link") {
  three_machines m;
  const auto door = m.b.node.listen("tcp://b:8");
  REQUIRE(door.has_value());
  REQUIRE(m.b.node.publish("echo", m.b.system.spawn<echo>()).has_value());
  stranger chosen(m, m.b, "b");
  REQUIRE(m.b.node.peers().size() == 1);
  m.b.at = door->to_string();
  stranger second(m, m.b, "b");  // by the same peer, at another door
  CHECK(second.resolve<echo_type>("echo") == net::actor_id());
  CHECK(second.heard().empty());
  CHECK(chosen.resolve<echo_type>("echo") != net::actor_id());
}

/// A link over a socket that opens and sends no frame.
class silent final : public net::hosted, net::link_owner {
 public:
  silent(net::carrier& below, std::promise<void>& over) : over_(over) {
    net::link_settings s;
    s.session.self = life(7);
    s.session.connects = true;
    s.session.resume_window = duration::milliseconds(1);  // it does not come back
    link_ = net::standard_stacks().find("stream")->make(*this, below, s);
  }
  net::carried& stack() override { return *link_; }
  void ended(const error&) noexcept override { over_.set_value(); }

 private:
  bool on_message(const net::incoming&) override { return true; }
  void on_event(const net::link_event&) override {}
  std::promise<void>& over_;
  std::unique_ptr<net::any_link> link_;
};

TEST_CASE("before use: a listener ends a link that does not come into use in time") {
  actor_system system(tests::quiet());
  net::node_settings impatient;
  impatient.accept.admission = duration::milliseconds(300);
  net::node node(system, impatient);
  const auto at = node.listen("tcp://127.0.0.1:0");
  REQUIRE(at.has_value());
  std::promise<void> over;
  struct maker final : net::hosted_maker {
    explicit maker(std::promise<void>& o) : over(o) {}
    std::unique_ptr<net::hosted> make(net::carrier& below, const net::connection&) override {
      return std::make_unique<silent>(below, over);
    }
    std::promise<void>& over;
  };
  net::socket_source source;
  REQUIRE(source.connect(*at, std::make_unique<maker>(over)).has_value());
  CHECK(over.get_future().wait_for(std::chrono::seconds(60)) == std::future_status::ready);
  CHECK(node.peers().empty());
  source.stop();
}

}  // namespace before_use_test
