// Admission of peers, and a node's events about its peers, for the code above it that decides.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <support/in_child.hpp>
#include <support/quiet.hpp>
#include <support/transports.hpp>

#include "net/node/machine.hpp"
#include "net/node/other_process.hpp"
#include "net/node/peer/service.hpp"

namespace peers_test {

using namespace garrick;
using namespace garrick::tests;
using net::node;
using net::peer_change;
using net::peer_evidence;
using net::peer_identity;
using garrick::testkit::test_world;
using net::testkit::simulated_network;
using kind = net::peer_evidence::kind;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

/// Writes down its events.
class ears : public net::peer_listener {
 public:
  struct heard {
    peer_identity who;
    std::vector<peer_change> changes;
    std::vector<peer_evidence> evidence;
    bool is_out_of_turn = false;  // evidence before `up` or behind `down`
  };

  void changed(const peer_identity& who, peer_change what, const error&) override {
    const std::lock_guard lock(mutex_);
    of(who).changes.push_back(what);
  }
  void noticed(const peer_identity& who, const peer_evidence& what) override {
    const std::lock_guard lock(mutex_);
    heard& h = of(who);
    h.is_out_of_turn = h.is_out_of_turn || h.changes.empty() || h.changes.back() != peer_change::up;
    h.evidence.push_back(what);
  }

  [[nodiscard]] std::vector<heard> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  [[nodiscard]] std::size_t count(kind k) const {
    const std::lock_guard lock(mutex_);
    std::size_t n = 0;
    for (const heard& h : all_)
      n += static_cast<std::size_t>(
          std::count_if(h.evidence.begin(), h.evidence.end(),
                        [&](const peer_evidence& e) { return e.what == k; }));
    return n;
  }
  [[nodiscard]] std::size_t count(peer_change c) const {
    const std::lock_guard lock(mutex_);
    std::size_t n = 0;
    for (const heard& h : all_)
      n += static_cast<std::size_t>(std::count(h.changes.begin(), h.changes.end(), c));
    return n;
  }

 private:
  heard& of(const peer_identity& who) {
    for (heard& h : all_)
      if (h.who == who) return h;
    return all_.emplace_back(heard{who, {}, {}, false});
  }

  mutable std::mutex mutex_;
  std::vector<heard> all_;
};

/// Refuses the nodes on its list, and remembers the applicants.
class list : public net::peer_admission {
 public:
  explicit list(net::node_id refused) : refused_(refused) {}
  std::optional<std::string> objection(const net::applicant& a) override {
    const std::lock_guard lock(mutex_);
    asked_.emplace_back(std::string(a.program) + (a.was_dialled ? " dialled" : " came"));
    if (a.program == "thrower") throw std::runtime_error("a policy in trouble");
    if (a.program == "juggler") throw 5;
    if (a.who.node == refused_) return "ask the operator";
    return {};
  }
  [[nodiscard]] std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  const net::node_id refused_;
  mutable std::mutex mutex_;
  std::vector<std::string> asked_;
};

/// Two machines; the first one has a service and ears.
struct two_machines {
  test_world world{11};
  simulated_network net{world};
  machine a, b;
  std::shared_ptr<ears> at_a = std::make_shared<ears>();
  std::shared_ptr<ears> at_b = std::make_shared<ears>();
  explicit two_machines(const net::node_settings& of_a = {}, const net::node_settings& of_b = {})
      : a(world, net, "a", 1, of_a), b(world, net, "b", 2, of_b) {
    a.node.subscribe(nullptr);
    a.node.subscribe(at_a);
    b.node.subscribe(at_b);
  }
  result<ref<service_type>> find(const std::string& scheme) {
    const std::string at = scheme + "://a:7";
    if (!listens_) {
      REQUIRE(a.node.listen(at).has_value());
      REQUIRE(a.node.publish(service_name, a.system.spawn<service>()).has_value());
      listens_ = true;
    }
    return b.node.remote<service_type>(at, service_name);
  }

 private:
  bool listens_ = false;
};

TEST_CASE("peers: a node's life has the number that it was given") {
  net::node_settings s;
  s.incarnation = 41;
  two_machines m(s);
  REQUIRE(m.find("tcp").has_value());
  CHECK(m.a.node.self() == peer_identity{{0, 1}, 41});
  CHECK(m.b.node.peers() == std::vector<peer_identity>{m.a.node.self()});
}

TEST_CASE("peers: a node that may not be one is told so in the words of the policy") {
  for (const std::string scheme : {"tcp", "udp"}) {
    CAPTURE(scheme);
    net::node_settings of_a, of_b;
    const auto policy = std::make_shared<list>(net::node_id{0, 2});
    of_a.admission = policy;
    of_b.program = "a shop that says at length who it is";
    two_machines m(of_a, of_b);
    const auto no = m.find(scheme);
    CHECK(no.error() == net::net_errc::refused);
    CHECK_MESSAGE(no.error().to_string().find("ask the operator") != std::string::npos,
                  no.error().to_string());
    REQUIRE(!policy->asked().empty());
    CHECK(policy->asked()[0] == of_b.program + " came");
    CHECK(m.at_a->all().empty());
    CHECK(m.at_b->all().empty());
    // Other nodes may be peers.
    machine c(m.world, m.net, "c", 3);
    CHECK(c.node.remote<service_type>(scheme + "://a:7", service_name).has_value());
    CHECK(m.a.node.peers().size() == 1);
  }
}

TEST_CASE("peers: an objection reaches a node over datagrams, too, with its words") {
  net::node_settings of_a;
  of_a.admission = std::make_shared<list>(net::node_id{0, 2});
  two_machines m(of_a);
  const auto no = m.find("udp");
  CHECK(no.error() == net::net_errc::refused);
  CHECK_MESSAGE(no.error().to_string().find("ask the operator") != std::string::npos,
                no.error().to_string());
}

TEST_CASE("peers: a policy that throws admits no node, which is not told the exception's text") {
  for (const std::string scheme : {"tcp", "udp"}) {
    CAPTURE(scheme);
    net::node_settings of_a, of_b;
    of_a.admission = std::make_shared<list>(net::node_id{});
    of_b.program = "thrower";
    two_machines m(of_a, of_b);
    const auto no = m.find(scheme);
    CHECK(no.error() == net::net_errc::refused);
    const std::string told = no.error().to_string();
    CHECK_MESSAGE(told.find("in trouble") == std::string::npos, told);
    if (scheme == "tcp") CHECK_MESSAGE(told.find("policy has failed") != std::string::npos, told);
  }
}

TEST_CASE(
    "peers: anything that a policy throws about a node that is connected to is an objection") {
  for (const char* program : {"thrower", "juggler"}) {
    net::node_settings of_a, of_b;
    of_a.program = program;
    of_b.admission = std::make_shared<list>(net::node_id{});
    two_machines m(of_a, of_b);
    const auto no = m.find("tcp");
    CHECK(no.error() == net::net_errc::denied);
    const std::string told = no.error().to_string();
    CHECK_MESSAGE(told.find("policy has failed") != std::string::npos, told);
    CHECK(m.b.node.peers().empty());
  }
}

TEST_CASE("peers: the log of a node names what its policy has thrown, and about which node" *
          doctest::skip(HAS_SANITIZER)) {
  for (const auto& [program, words] :
       {std::pair("thrower", "a policy in trouble"), std::pair("juggler", "no std::exception")}) {
    const auto [log, status] = tests::in_child([name = program] {
      ::alarm(60);  // a child that hangs dies of it
      actor_system left, right;
      net::node_settings of_a, of_b;
      of_a.admission = std::make_shared<list>(net::node_id{});
      of_b.id = {0, 4711};
      of_b.program = name;
      net::node a(left, of_a), b(right, of_b);
      const auto at = a.listen("tcp://127.0.0.1:0");
      if (!at || b.remote<service_type>(at->to_string(), service_name)) ::_exit(1);
    });
    CHECK(status == 0);
    CHECK_MESSAGE(log.find(words) != std::string::npos, log);
    CHECK_MESSAGE(log.find(net::node_id{0, 4711}.to_string()) != std::string::npos, log);
  }
}

TEST_CASE("peers: a node that is connected to is asked about, too") {
  net::node_settings of_a, of_b;
  const auto policy = std::make_shared<list>(net::node_id{0, 1});
  of_a.program = "bank";
  of_b.admission = policy;
  two_machines m(of_a, of_b);
  const auto no = m.find("tcp");
  CHECK(no.error() == net::net_errc::denied);
  CHECK(no.error().to_string().find("ask the operator") != std::string::npos);
  CHECK(policy->asked() == std::vector<std::string>{"bank dialled"});
  CHECK(m.at_b->all().empty());
  CHECK(m.b.node.peers().empty());
}

TEST_CASE(
    "peers: a node that comes back as another life was down before, and is for good if so set") {
  for (const auto after_down : {net::peer_return::same_life, net::peer_return::new_life_only}) {
    CAPTURE(static_cast<int>(after_down));
    net::node_settings of_a;
    of_a.after_down = after_down;
    two_machines m(of_a);
    REQUIRE(m.find("tcp").has_value());
    const peer_identity first = m.b.node.self();
    net::node_settings of_c;
    of_c.incarnation = 4711;
    machine c(m.world, m.net, "c", 2, of_c);  // b's node; no node was told of its end
    m.net.cut("b", "a");
    REQUIRE(c.node.remote<service_type>("tcp://a:7", service_name).has_value());
    CHECK(m.a.node.peers() == std::vector{c.node.self()});
    for (const ears::heard& h : m.at_a->all()) {
      CHECK_FALSE(h.is_out_of_turn);
      if (h.who == first)
        CHECK(h.changes == std::vector{peer_change::up, peer_change::down});
      else
        CHECK(h.changes == std::vector{peer_change::up});
    }
    CHECK(m.at_a->all().size() == 2);
    if (after_down == net::peer_return::same_life) continue;
    m.net.heal("b", "a");
    const auto again = m.find("tcp");
    REQUIRE_FALSE(again.has_value());
    CHECK(again.error() == net::net_errc::peer_down);
    CHECK_MESSAGE(again.error().to_string().find("given this incarnation up") != std::string::npos,
                  again.error().to_string());
    CHECK(m.a.node.peers() == std::vector{c.node.self()});
  }
}

TEST_CASE("peers: silence is evidence, which is taken back; only its length is a verdict") {
  for (const std::string scheme : {"tcp", "udp"}) {
    CAPTURE(scheme);
    two_machines m;
    REQUIRE(m.find(scheme).has_value());
    m.b.system.run_for(duration::seconds(10));
    CHECK(m.at_b->count(kind::suspected) == 0);
    m.net.cut("a", "b");
    m.b.system.run_for(duration::seconds(8));
    CHECK(m.at_b->count(kind::suspected) == 1);
    CHECK(m.at_b->count(kind::trusted) == 0);
    CHECK(m.at_a->count(kind::suspected) == 0);  // packets of b arrive there
    m.net.heal("a", "b");
    m.b.system.run_for(duration::seconds(8));
    CHECK(m.at_b->count(kind::trusted) == 1);
    CHECK(m.at_b->count(peer_change::down) == 0);
    m.net.cut("a", "b");
    m.b.system.run_for(duration::seconds(40));
    CHECK(m.at_b->count(kind::suspected) == 2);
    CHECK(m.at_b->count(peer_change::down) == 1);
    CHECK(m.at_b->count(kind::observer_paused) == 0);
    CHECK(!m.at_b->all()[0].is_out_of_turn);
  }
}

TEST_CASE("peers: a process that was stopped says so, and suspects no peer") {
  for (const std::string scheme : {"tcp", "udp"}) {
    CAPTURE(scheme);
    two_machines m;
    REQUIRE(m.find(scheme).has_value());
    m.b.system.run_for(duration::seconds(5));
    m.net.host("b").pause();
    m.a.system.run_for(duration::seconds(9));
    m.net.host("b").resume();
    m.a.system.run_for(duration::seconds(5));
    CHECK(m.at_a->count(kind::suspected) == 1);
    CHECK(m.at_a->count(kind::trusted) == 1);
    CHECK(m.at_a->count(kind::observer_paused) == 0);
    CHECK(m.at_b->count(kind::suspected) == 0);
    REQUIRE(m.at_b->count(kind::observer_paused) == 1);
    const auto heard = m.at_b->all();
    for (const peer_evidence& e : heard[0].evidence)
      if (e.what == kind::observer_paused) {
        CHECK(e.lasted > duration::seconds(8));
        CHECK(e.lasted < duration::seconds(10));
      }
    CHECK(m.at_b->count(peer_change::down) == 0);
  }
}

TEST_CASE("peers: a connection that breaks, and an address without a listener, are evidence") {
  two_machines m;
  REQUIRE(m.find("tcp").has_value());
  m.net.reset_streams("a", "b");
  m.b.system.run_for(duration::seconds(3));
  CHECK(m.at_b->count(kind::disconnected) == 1);
  CHECK(m.at_b->count(kind::resumed) == 1);
  CHECK(m.at_b->count(kind::unreachable) == 0);
  CHECK(m.at_b->count(peer_change::down) == 0);
  m.net.host("a").crash(net::testkit::crash_kind::process);
  m.b.system.run_for(duration::seconds(5));
  CHECK(m.at_b->count(kind::unreachable) >= 1);
  CHECK(m.at_b->count(peer_change::down) == 0);
  m.b.system.run_for(duration::seconds(30));
  CHECK(m.at_b->count(peer_change::down) == 1);
  CHECK(!m.at_b->all()[0].is_out_of_turn);
}

/// Returns the text of a look-up that times out while the peer counts as up.
std::string times_out(two_machines& m) {
  const auto late = m.b.node.remote<service_type>("tcp://a:7", service_name, duration::seconds(2));
  REQUIRE(!late.has_value());
  CHECK(late.error() == errc::timeout);
  CHECK(m.at_b->count(peer_change::down) == 0);
  return late.error().to_string();
}

TEST_CASE("peers: a caller that times out is told why a lost connection was not replaced") {
  two_machines m;
  REQUIRE(m.find("tcp").has_value());
  m.net.host("a").crash(net::testkit::crash_kind::process);
  const std::string text = times_out(m);
  CHECK_MESSAGE(
      text.find("tcp://a:7: the last attempt: the connection was refused") != std::string::npos,
      text);
}

TEST_CASE("peers: a caller that times out is not told of a connection that was replaced") {
  two_machines m;
  REQUIRE(m.find("tcp").has_value());
  m.net.reset_streams("a", "b");
  m.b.system.run_for(duration::seconds(3));
  CHECK(m.at_b->count(kind::resumed) == 1);
  m.net.host("a").pause();
  const std::string text = times_out(m);
  m.net.host("a").resume();
  CHECK_MESSAGE(text.ends_with("tcp://a:7: it has not answered in that time"), text);
}

TEST_CASE("peers: a process is stopped, goes on, and is killed: each end tells its evidence") {
  const auto in_time = [](const char* where, int down_after_ms) {
    other_process other(where, down_after_ms);
    actor_system system(quiet());
    node here(system, node_with(down_after_ms));
    const auto heard = std::make_shared<ears>();
    here.subscribe(heard);
    REQUIRE(visit(system, here, other.at, 1, 10) == "ok");
    other.stop();
    const auto is_down = [&] { return heard->count(peer_change::down) != 0; };
    tests::wait_until([&] { return heard->count(kind::suspected) >= 1; });
    other.go_on();
    tests::wait_until([&] { return heard->count(kind::trusted) >= 1 || is_down(); });
    if (is_down()) return false;
    REQUIRE(visit(system, here, other.at, 2, 10) == "ok");
    other.order("pauses");
    CHECK(std::stoi(other.answer()) >= 1);
    other.kill();
    tests::wait_until([&] { return heard->count(kind::unreachable) >= 1; });
    tests::wait_until([&] { return heard->count(peer_change::down) == 1; });
    const auto all = heard->all();
    REQUIRE(all.size() == 1);
    CHECK(!all[0].is_out_of_turn);
    return true;
  };
  for (const char* where : {"tcp://127.0.0.1:0", "udp://127.0.0.1:0"}) {
    CAPTURE(where);
    // On a busy machine the packets of the process that goes on may not arrive in time.
    int down_after_ms = 4000;
    while (!in_time(where, down_after_ms)) down_after_ms *= 4;
  }
}

}  // namespace peers_test
