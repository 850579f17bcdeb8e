// Nodes need no more memory the longer they run, at full rate. Each program has both of its nodes
// in this process. It runs for a fraction of a second here and for a minute in `./dev soak`;
// GARRICK_TORTURE=450 makes that three.
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include <support/memory_slope.hpp>
#include <support/quiet.hpp>

namespace flat_memory_of_nodes_test {

using namespace garrick;

struct note {
  std::string text;
};
struct ask {
  std::string text;
};
using guest_type = protocol<void(note)>;
struct visit {
  ref<guest_type> who;
};
struct watch {
  ref<guest_type> who;
};
using office_type = protocol<void(note), std::string(ask), void(visit), void(watch)>;

/// The actor at the other node.
class office : public actor<office_type> {
 public:
  explicit office(std::atomic<std::uint64_t>& seen) : seen_(seen) {}
  void on(const note&) { ++seen_; }
  std::string on(const ask& a) { return a.text; }
  void on(const visit& v) { send(v.who, note{"welcome"}); }
  void on(const watch& w) {
    monitor(w.who, [this](const down&) { ++seen_; });
    send(w.who, note{"leave"});
  }

 private:
  std::atomic<std::uint64_t>& seen_;
};

/// A system with a node that has published an office, and one that has found it. The parts of it
/// that actors use outlive the systems; they have handles of their own.
struct two_nodes {
  std::atomic<std::uint64_t> seen{0}, answers{0};
  std::atomic<bool> enough{false};
  actor_system there{tests::quiet(1)};
  actor_system here{tests::quiet(1)};
  net::node office_node{there}, node{here};
  std::string at = office_node.listen("tcp://127.0.0.1:0").value().to_string();
  ref<office_type> far;

  two_nodes() {
    office_node.publish("office", ref<office_type>(there.spawn<office>(lent(seen)))).value();
    far = node.remote<office_type>(at, "office").value();
  }
};

struct more {};

/// Sends and asks as fast as it may.
class hasty : public actor<protocol<void(more)>> {
 public:
  explicit hasty(two_nodes& t) : far_(t.far), enough_(t.enough), answers_(t.answers) {}
  void on_start() { send(ref<protocol<void(more)>>(self()), more{}); }
  void on(more) {
    if (enough_) return quit();
    for (int i = 0; i < 60; ++i) send(far_, note{std::string(100, 'n')});
    for (int i = 0; i < 4; ++i)
      request(far_, ask{std::string(100, 'a')}).then([this](const std::string&) { ++answers_; });
    // The next round waits for an answer, or too many requests would wait.
    request(far_, ask{""}).then([this](const std::string&) {
      send(ref<protocol<void(more)>>(self()), more{});
    });
  }

 private:
  const ref<office_type> far_;
  std::atomic<bool>& enough_;
  std::atomic<std::uint64_t>& answers_;
};

/// Lives until the office has greeted it.
class guest : public actor<guest_type> {
 public:
  guest(ref<protocol<void(more)>> host, std::atomic<std::uint64_t>& greeted)
      : host_(std::move(host)), greeted_(greeted) {}
  void on(const note&) {
    ++greeted_;
    send(host_, more{});
    quit();
  }

 private:
  ref<protocol<void(more)>> host_;
  std::atomic<std::uint64_t>& greeted_;
};

/// Sends guests over, a few at a time.
class host : public actor<protocol<void(more)>> {
 public:
  explicit host(two_nodes& t) : far_(t.far), enough_(t.enough), greeted_(t.answers) {}
  void on_start() {
    for (int i = 0; i < 64; ++i) on(more{});
  }
  void on(more) {
    if (enough_) return;
    const auto g = spawn<guest>(ref<protocol<void(more)>>(self()), lent(greeted_));
    if (++sent_ % 2 == 0)
      send(far_, visit{ref<guest_type>(g)});
    else
      send(far_, watch{ref<guest_type>(g)});
  }

 private:
  const ref<office_type> far_;
  std::atomic<bool>& enough_;
  std::atomic<std::uint64_t>& greeted_;
  std::uint64_t sent_ = 0;
};

TEST_CASE("flat memory of nodes: messages and requests at full rate") {
  two_nodes t;
  const any_ref h(t.here.spawn<hasty>(lent(t)));
  tests::memory_slope memory("messages between two nodes");
  memory.wait([&] { return t.seen > 100 && t.answers > 10; });
  t.enough = true;
  memory.check();
}

TEST_CASE("flat memory of nodes: handles, actors and monitors that come and go") {
  two_nodes t;
  const any_ref h(t.here.spawn<host>(lent(t)));
  tests::memory_slope memory("handles between two nodes");
  memory.wait([&] { return t.answers > 100 && t.seen > 10; });
  t.enough = true;
  memory.check();
}

TEST_CASE("flat memory of nodes: one after the other connects, asks and leaves") {
  two_nodes t;
  tests::memory_slope memory("nodes that come and go");
  std::uint64_t lives = 0;
  for (; memory.goes_on(lives > 1); ++lives) {
    actor_system system(tests::quiet(1));
    net::node node(system);
    const auto office = node.remote<office_type>(t.at, "office");
    REQUIRE(office);
    CHECK(system.request(*office, ask{"who"}).get().value() == "who");
  }
  memory.check();
}

}  // namespace flat_memory_of_nodes_test
