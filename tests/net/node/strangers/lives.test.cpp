// Lives of a node that strangers invent: while the life in use answers, no other takes its place.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "net/node/simulated_machines.hpp"
#include "net/node/strangers/stranger.hpp"

#include <support/quiet.hpp>

namespace lives_test {

using namespace garrick;
using tests::stranger;
using tests::three_machines;

using echo_type = protocol<std::int64_t(std::int64_t)>;
struct echo : actor<echo_type> {
  std::int64_t on(std::int64_t n) { return n; }
};

/// Counts the changes of a node's peers.
struct changes final : net::peer_listener {
  void changed(const net::peer_identity&, net::peer_change what, const error&) override {
    (what == net::peer_change::up ? ups : downs) += 1;
  }
  int ups = 0;
  int downs = 0;
};

/// `a` is a peer of `b`; strangers have the id of `a`.
struct impersonated : three_machines {
  std::shared_ptr<changes> seen = std::make_shared<changes>();
  ref<echo_type> from_a;

  explicit impersonated(net::node_settings of_b = {}) : three_machines({}, std::move(of_b)) {
    b.node.subscribe(seen);
    from_a = b.shown_to(a, "echo", b.system.spawn<echo>());
  }
  [[nodiscard]] net::peer_identity life(std::uint64_t n) const { return {a.node.self().node, n}; }
  [[nodiscard]] bool serves_a() {
    const result<std::int64_t> got = a.system.request(from_a, std::int64_t{7}).get();
    return got && *got == 7;
  }
};

TEST_CASE("lives: an invented life is sent away while the life in use answers") {
  for (const auto after_down : {net::peer_return::same_life, net::peer_return::new_life_only}) {
    CAPTURE(static_cast<int>(after_down));
    net::node_settings of_b;
    of_b.after_down = after_down;
    impersonated w(of_b);
    for (std::uint64_t n = 1; n <= 20; ++n) {
      stranger s(w, w.b, "b", w.life(n));
      CHECK(s.resolve<echo_type>("echo") == net::actor_id());
      CHECK(s.heard().empty());
      CHECK(w.serves_a());
    }
    w.b.system.run_for(duration::seconds(15));
    CHECK(w.serves_a());
    CHECK(w.b.node.peers() == std::vector{w.a.node.self()});
    CHECK(w.seen->ups == 1);
    CHECK(w.seen->downs == 0);
  }
}

TEST_CASE("lives: another life comes into use once the one before it is silent") {
  impersonated w;
  w.net.cut("a", "b");
  stranger s(w, w.b, "b", w.life(5));
  CHECK(s.resolve<echo_type>("echo") == net::actor_id());
  CHECK(w.seen->downs == 0);
  w.b.system.run_for(duration::seconds(9));
  CHECK(s.resolve<echo_type>("echo") != net::actor_id());
  CHECK(w.b.node.peers() == std::vector{w.life(5)});
  CHECK(w.seen->ups == 2);
  CHECK(w.seen->downs == 1);
}

TEST_CASE("lives: a life whose process has died gives way at once") {
  impersonated w;
  w.net.host("a").crash(net::testkit::crash_kind::process);
  w.b.system.run_for(duration::milliseconds(50));
  stranger s(w, w.b, "b", w.life(5));
  CHECK(s.resolve<echo_type>("echo") != net::actor_id());
  CHECK(w.b.node.peers() == std::vector{w.life(5)});
}

TEST_CASE("lives: a silent life is a peer until another one asks, however many wait") {
  impersonated w;
  w.net.cut("a", "b");
  w.b.system.run_for(duration::seconds(9));
  std::vector<std::unique_ptr<stranger>> waiting;
  for (std::uint64_t n = 1; n <= 8; ++n)
    waiting.push_back(std::make_unique<stranger>(w, w.b, "b", w.life(n)));
  CHECK(w.b.node.peers() == std::vector{w.a.node.self()});
  CHECK(w.seen->downs == 0);
  CHECK(waiting.back()->resolve<echo_type>("echo") != net::actor_id());
  CHECK(w.b.node.peers() == std::vector{w.life(8)});
}

TEST_CASE(
    "lives: a life that is heard again keeps its place, also from one that waits at the door") {
  impersonated w;
  w.net.cut("a", "b");
  w.b.system.run_for(duration::seconds(9));  // suspected
  stranger s(w, w.b, "b", w.life(5));        // so its link opens; it has yet to come into use
  w.net.heal("a", "b");
  w.b.system.run_for(duration::seconds(2));
  CHECK(s.resolve<echo_type>("echo") == net::actor_id());
  CHECK(w.serves_a());
  CHECK(w.b.node.peers() == std::vector{w.a.node.self()});
}

TEST_CASE("lives: two links of one id wait at a door, and a third one displaces one of them") {
  three_machines m;
  REQUIRE(m.b.node.publish("echo", m.b.system.spawn<echo>()).has_value());
  // These ids are smaller than that of `b`, so these peers decide when their links come into use.
  stranger other(m, m.b, "b", {{0, 0}, 1});
  other.say({.kind = net::frame_kind::credit, .number = 100});
  std::array<int, 2> displaced{};
  for (std::uint64_t n = 1; n <= 20; ++n) {
    stranger first(m, m.b, "b", {{0, 1}, 10 * n});
    stranger second(m, m.b, "b", {{0, 1}, 10 * n + 1});
    CHECK_FALSE(first.is_over());
    stranger third(m, m.b, "b", {{0, 1}, 10 * n + 2});
    CHECK_FALSE(third.is_over());
    REQUIRE(first.is_over() != second.is_over());
    ++displaced[first.is_over() ? 0 : 1];
    m.b.system.run_for(duration::seconds(11));  // all links of this id are over
  }
  CHECK(displaced[0] > 0);
  CHECK(displaced[1] > 0);
  CHECK(other.resolve<echo_type>("echo") != net::actor_id());
}

}  // namespace lives_test
