// Actors that a node has spawned in another one: the right to do so, their arguments, their
// holders, and the errors when it does not work.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <support/quiet.hpp>
#include <support/transports.hpp>

#include "net/node/simulated_machines.hpp"

namespace remote_spawn_test {

using namespace garrick;
using net::net_errc;
using net::node;
using tests::listening_machine;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

struct ask {};
struct count {
  std::int64_t n = 0;
};
using listener_type = protocol<void(std::string)>;
using worker_type = protocol<std::string(ask), std::int64_t(count)>;

/// The number of living workers.
std::atomic<int> alive{0};

class worker : public actor<worker_type> {
 public:
  worker(std::string name, std::int64_t factor) : name_(std::move(name)), factor_(factor) {
    if (name_ == "thrower") throw std::runtime_error("no such name");
    ++alive;
  }
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker() { --alive; }
  void on_start() {
    if (name_ == "late thrower") throw std::runtime_error("not a good start");
  }
  std::string on(ask) { return name_; }
  std::int64_t on(count c) { return c.n * factor_; }

 private:
  std::string name_;
  std::int64_t factor_;
};

/// Tells a listener that it was made, and takes more messages than others may send.
class teller : public actor<protocol<std::string(ask), void(down)>> {
 public:
  explicit teller(ref<listener_type> to) : to_(std::move(to)) {}
  void on_start() {
    if (!to_) return;
    monitor(to_);
    send(to_, std::string("here"));
  }
  std::string on(ask) { return "teller"; }
  void on(const down&) { quit(); }

 private:
  ref<listener_type> to_;
};

class listener : public actor<listener_type> {
 public:
  explicit listener(std::vector<std::string>& heard) : heard_(heard) {}
  void on(const std::string& s) { heard_.push_back(s); }

 private:
  std::vector<std::string>& heard_;
};

/// An argument of two builds: the older one does not know the second field.
struct older_order {
  static constexpr std::string_view garrick_wire_name = "remote_spawn_test::order";
  std::int32_t number = 0;
};
struct newer_order {
  static constexpr std::string_view garrick_wire_name = "remote_spawn_test::order";
  std::int32_t number = 0;
  std::string colour;
};
class clerk : public actor<protocol<std::string(ask)>> {
 public:
  explicit clerk(newer_order o) : o_(std::move(o)) {}
  std::string on(ask) { return std::to_string(o_.number) + o_.colour; }

 private:
  newer_order o_;
};

/// Spawns workers on other nodes, as an actor does, and holds them.
class boss : public actor<protocol<std::string(std::string)>> {
 public:
  explicit boss(node& n) : node_(n) {}
  task<std::string> on(std::string at) {
    auto asked = node_.spawn<worker_type>(*this, at, "worker", "by an actor", std::int64_t{3});
    const result<ref<worker_type>> made = co_await std::move(asked);
    if (!made) co_return made.error();
    held_.push_back(*made);
    co_return co_await request(*made, ask{});
  }

 private:
  node& node_;
  std::vector<ref<worker_type>> held_;
};

struct spawning : three_machines {
  explicit spawning(net::node_settings of_a = {}) : three_machines(std::move(of_a)) {
    REQUIRE(a.node.allow<worker, std::string, std::int64_t>("worker").has_value());
    CHECK(alive == 0);
  }
  result<ref<worker_type>> spawn(std::string name = "john") {
    return b.node.spawn<worker_type>(a.at, "worker", std::move(name), std::int64_t{2});
  }
};

TEST_CASE("remote spawn: an actor of an allowed type is made there, and ends with its handle") {
  spawning m;
  {
    const auto made = m.spawn();
    REQUIRE_MESSAGE(made.has_value(), made.error().to_string());
    CHECK(alive == 1);
    CHECK(m.a.system.actor_count() == 1);
    CHECK(m.b.system.actor_count() == 0);
    CHECK(m.b.system.request(*made, ask{}).get().value() == "john");
    CHECK(m.b.system.request(*made, count{21}).get().value() == 42);
    // Texts travel as strings, and the part of the protocol that is needed is enough.
    const auto other = m.b.node.spawn<protocol<std::string(ask)>>(m.a.node.self(), "worker", "jane",
                                                                  std::int64_t{1});
    REQUIRE_MESSAGE(other.has_value(), other.error().to_string());
    CHECK(m.b.system.request(*other, ask{}).get().value() == "jane");
    CHECK(alive == 2);
  }
  m.a.system.run_for(ms(50));
  CHECK(alive == 0);
  CHECK(m.a.system.actor_count() == 0);
}

TEST_CASE("remote spawn: a node that got the handle from the spawning node holds the actor, too") {
  spawning m;
  auto made = m.spawn();
  REQUIRE(made.has_value());
  {
    const auto at_c = m.b.shown_to(m.c, "john", *made);
    REQUIRE(m.b.node.unpublish("john"));
    made = error(errc::cancelled);
    m.a.system.run_for(ms(50));
    CHECK(alive == 1);
    CHECK(m.c.system.request(at_c, ask{}).get().value() == "john");
  }
  m.a.system.run_for(ms(50));
  CHECK(alive == 0);
}

TEST_CASE("remote spawn: actors have it done without waiting, over sockets, too") {
  for (const char* where : {"tcp://127.0.0.1:0", "udp://127.0.0.1:0"}) {
    CAPTURE(where);
    actor_system left(tests::quiet()), right(tests::quiet());
    node a(left), b(right);
    REQUIRE(a.allow<worker, std::string, std::int64_t>("worker").has_value());
    const std::string at = a.listen(where).value().to_string();
    {
      const auto asks = right.spawn<boss>(lent(b));
      CHECK(right.request(asks, at).get().value() == "by an actor");
      CHECK(alive == 1);
      CHECK(right.request(asks, std::string("there")).get().error() == net_errc::bad_endpoint);
      std::vector<ref<worker_type>> many;
      for (std::int64_t i = 0; i < 200; ++i)
        many.push_back(b.spawn<worker_type>(at, "worker", std::to_string(i), i).value());
      CHECK(alive == 201);
      for (std::int64_t i = 0; i < 200; ++i)
        CHECK(right.request(many[static_cast<std::size_t>(i)], count{2}).get().value() == 2 * i);
    }
    tests::wait_until([&] { return alive == 0; });
  }
}

TEST_CASE("remote spawn: a name that is not on the list is denied, and so is all without a list") {
  spawning m;
  const auto no = m.b.node.spawn<worker_type>(m.a.at, "janitor", "x", std::int64_t{2});
  CHECK(no.error() == net_errc::denied);
  CHECK_MESSAGE(no.error().to_string().find("janitor") != std::string::npos,
                no.error().to_string());
  CHECK(m.a.node.spawn<worker_type>(m.b.at, "worker", "x", std::int64_t{2}).error() ==
        net_errc::denied);
  const auto twice = m.a.node.allow<worker, std::string, std::int64_t>("worker");
  CHECK(twice.error() == registry_errc::name_taken);
  CHECK(twice.error().to_string() == "the name is taken: worker: is allowed");
  REQUIRE(m.spawn().has_value());
  CHECK(m.a.node.disallow("worker"));
  CHECK(!m.a.node.disallow("worker"));
  CHECK(m.spawn().error() == net_errc::denied);
  CHECK(m.a.node.spawn<worker_type>(m.a.at, "worker", "x", std::int64_t{2}).error() ==
        net_errc::refused);  // the node itself
  CHECK(m.b.node.spawn<worker_type>(net::peer_identity{{9, 9}, 9}, "worker", "x", 2).error() ==
        net_errc::node_down);
  const auto itself = m.a.node.spawn<worker_type>(m.a.node.self(), "worker", "x", std::int64_t{2});
  CHECK(itself.error() == net_errc::refused);
  CHECK_MESSAGE(itself.error().to_string().ends_with(": that is this node itself"),
                itself.error().to_string());
}

TEST_CASE("remote spawn: other arguments and protocols are told, and leave no actor") {
  spawning m;
  const auto text = [](const auto& r) { return r.error().to_string(); };
  const auto fewer = m.b.node.spawn<worker_type>(m.a.at, "worker", "x");
  CHECK(fewer.error() == net_errc::incompatible);
  CHECK_MESSAGE(text(fewer).find("the other end is not compatible: worker, its arguments: "
                                 "2 are expected, and 1 is given") != std::string::npos,
                text(fewer));
  const auto none = m.b.node.spawn<worker_type>(m.a.at, "worker");
  CHECK(none.error() == net_errc::incompatible);
  CHECK_MESSAGE(text(none).ends_with("worker, its arguments: 2 are expected, and 0 are given"),
                text(none));
  const auto narrow = m.b.node.spawn<worker_type>(m.a.at, "worker", "x", std::int32_t{2});
  CHECK(narrow.error() == net_errc::incompatible);
  CHECK_MESSAGE(text(narrow).find("arguments.1: i32 here, i64 there") != std::string::npos,
                text(narrow));
  const auto deaf =
      m.b.node.spawn<protocol<void(std::string)>>(m.a.at, "worker", "x", std::int64_t{2});
  CHECK_MESSAGE(deaf.error() == net_errc::incompatible, text(deaf));
  m.a.system.run_for(ms(50));
  CHECK(alive == 0);
  CHECK(m.a.system.actor_count() == 0);
}

TEST_CASE("remote spawn: a constructor or a start that throws is an error to the caller") {
  spawning m;
  const auto thrown = m.spawn("thrower");
  CHECK(thrown.error() == errc::spawn_failed);
  CHECK_MESSAGE(thrown.error().to_string().find("no such name") != std::string::npos,
                thrown.error().to_string());
  const auto late = m.spawn("late thrower");
  CHECK(late.error() == errc::spawn_failed);
  CHECK_MESSAGE(late.error().to_string().find("not a good start") != std::string::npos,
                late.error().to_string());
  CHECK(alive == 0);
  CHECK(m.spawn().has_value());
}

TEST_CASE("remote spawn: there are no more of one peer's actors than the settings allow") {
  net::node_settings narrow;
  narrow.most_spawned = 3;
  spawning m(narrow);
  // Failed actors do not count on.
  for (int i = 0; i < 4; ++i) CHECK(m.spawn("thrower").error() == errc::spawn_failed);
  std::vector<ref<worker_type>> held;
  for (int i = 0; i < 3; ++i) held.push_back(m.spawn().value());
  CHECK(m.spawn().error() == net_errc::overload);
  // The limit counts each peer by itself.
  CHECK(m.c.node.spawn<worker_type>(m.a.at, "worker", "x", std::int64_t{2}).has_value());
  held.pop_back();
  m.a.system.run_for(ms(50));
  const auto again = m.spawn();
  CHECK(again.has_value());
  CHECK(m.spawn().error() == net_errc::overload);
}

TEST_CASE("remote spawn: a peer that knows as many actors as it may has none spawned") {
  net::node_settings narrow;
  narrow.most_exports = 2;
  spawning m(narrow);
  std::vector<ref<worker_type>> held;
  for (int i = 0; i < 2; ++i) held.push_back(m.spawn().value());
  CHECK(m.spawn().error() == net_errc::overload);
  held.pop_back();
  m.a.system.run_for(ms(50));
  CHECK(m.spawn().has_value());
}

TEST_CASE("remote spawn: handles among the arguments work, and are let go if it is refused") {
  spawning m;
  std::vector<std::string> heard;
  REQUIRE(m.a.node.allow_as<protocol<std::string(ask)>, teller, ref<listener_type>>("teller")
              .has_value());
  auto me = m.b.system.spawn<listener>(lent(heard));
  {
    const auto made = m.b.node.spawn<protocol<std::string(ask)>>(m.a.at, "teller", me);
    REQUIRE_MESSAGE(made.has_value(), made.error().to_string());
    m.a.system.run_for(ms(50));
    CHECK(heard == std::vector<std::string>{"here"});
    me = {};
    m.a.system.run_for(ms(50));
    CHECK(m.b.system.actor_count() == 1);  // the teller holds the listener
  }
  m.a.system.run_for(ms(50));
  CHECK(m.a.system.actor_count() == 0);
  CHECK(m.b.system.actor_count() == 0);

  for (const char* name : {"janitor", "worker"}) {
    const auto no = m.b.node.spawn<protocol<std::string(ask)>>(
        m.a.at, name, m.b.system.spawn<listener>(lent(heard)));
    CHECK(!no.has_value());
    m.a.system.run_for(ms(50));
    CHECK(m.b.system.actor_count() == 0);
  }
  const auto none =
      m.b.node.spawn<protocol<std::string(ask)>>(m.a.at, "teller", ref<listener_type>());
  REQUIRE_MESSAGE(none.has_value(), none.error().to_string());
  CHECK(m.b.system.request(*none, ask{}).get().value() == "teller");
}

TEST_CASE("remote spawn: arguments may have grown, at either end") {
  three_machines m;
  REQUIRE(m.a.node.allow<clerk, newer_order>("clerk").has_value());
  const auto from_older =
      m.b.node.spawn<protocol<std::string(ask)>>(m.a.at, "clerk", older_order{5});
  REQUIRE_MESSAGE(from_older.has_value(), from_older.error().to_string());
  CHECK(m.b.system.request(*from_older, ask{}).get().value() == "5");
  const auto same =
      m.b.node.spawn<protocol<std::string(ask)>>(m.a.at, "clerk", newer_order{6, "red"});
  REQUIRE(same.has_value());
  CHECK(m.b.system.request(*same, ask{}).get().value() == "6red");
}

TEST_CASE("remote spawn: when the link ends, each question is answered, and no actor is left") {
  spawning m;
  REQUIRE(m.b.node.connect(m.a.at).has_value());
  core::scoped_actor me(m.b.system.env());
  std::vector<pending_response<ref<worker_type>>> open;
  m.net.cut("a", "b");
  for (int i = 0; i < 10; ++i)
    open.push_back(m.b.node.spawn<worker_type>(*me, m.a.at, "worker", "x", std::int64_t{2}));
  m.b.system.run_for(duration::seconds(40));
  for (auto& one : open) {
    const auto r = me->get(std::move(one));
    REQUIRE(!r.has_value());
    const bool is_told = r.error() == net_errc::perhaps_delivered || r.error() == errc::not_handled;
    CHECK_MESSAGE(is_told, r.error().to_string());
  }
  // An actor that was spawned for a peer ends when the peer is gone.
  m.net.heal("a", "b");
  const auto made = m.c.node.spawn<worker_type>(m.a.at, "worker", "x", std::int64_t{2});
  REQUIRE(made.has_value());
  m.net.host("c").crash();
  m.a.system.run_for(duration::seconds(40));
  CHECK(alive == 0);
}

TEST_CASE("remote spawn: the caller's limit ends its wait, and no actor is left") {
  spawning m;
  REQUIRE(m.b.node.connect(m.a.at).has_value());
  {
    core::scoped_actor me(m.b.system.env());
    auto asked = m.b.node.spawn<worker_type>(*me, m.a.at, "worker", "x", std::int64_t{2});
    CHECK(me->get(std::move(asked).within(ms(1))).error() == errc::timeout);
  }
  m.a.system.run_for(ms(100));
  CHECK(alive == 0);
  CHECK(m.a.system.actor_count() == 0);
  CHECK(m.spawn().has_value());
}

}  // namespace remote_spawn_test
