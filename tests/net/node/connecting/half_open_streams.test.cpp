// A dead stream of which neither end is told: a new stream takes its place.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <support/quiet.hpp>
#include <support/transports.hpp>

#include "net/switched_proxy.hpp"

namespace half_open_streams_test {

using namespace garrick;
using net::node;
using net::peer_identity;
using kind = net::peer_evidence::kind;

/// Adds one, and counts the questions that come out of order.
class adder : public actor<protocol<int(int)>> {
 public:
  explicit adder(std::shared_ptr<std::atomic<int>> out_of_order)
      : wrong_(std::move(out_of_order)) {}
  int on(int x) {
    if (x != next_++) ++*wrong_;
    return x + 1;
  }

 private:
  int next_ = 0;
  std::shared_ptr<std::atomic<int>> wrong_;
};
using adder_protocol = protocol<int(int)>;

/// Counts its events about peers.
class ears final : public net::peer_listener {
 public:
  std::atomic<int> downs{0}, disconnects{0}, resumes{0}, suspicions{0}, trusts{0};

 private:
  void changed(const peer_identity&, net::peer_change what, const error&) override {
    if (what != net::peer_change::up) ++downs;
  }
  void noticed(const peer_identity&, const net::peer_evidence& what) override {
    if (what.what == kind::disconnected) ++disconnects;
    if (what.what == kind::resumed) ++resumes;
    if (what.what == kind::suspected) ++suspicions;
    if (what.what == kind::trusted) ++trusts;
  }
};

struct place {
  actor_system system{tests::quiet()};
  std::optional<node> self;
  std::shared_ptr<ears> heard = std::make_shared<ears>();

  explicit place(std::uint64_t number) {
    net::node_settings s;
    s.id = {0, number};
    s.incarnation = 100 + number;
    s.insecure = true;
    s.link.session.interval = base::duration::milliseconds(50);
    self.emplace(system, s);
    self->subscribe(heard);
  }
};

/// Two nodes, and the proxy between them.
struct two_nodes {
  place server{1}, client{2};
  std::shared_ptr<std::atomic<int>> wrong = std::make_shared<std::atomic<int>>(0);
  std::optional<tests::switched_proxy> between;
  std::optional<ref<adder_protocol>> there;
  int next = 0;

  two_nodes() {
    REQUIRE(server.self->publish("adder", server.system.spawn<adder>(lent(wrong))).has_value());
    between.emplace(server.self->listen("tcp://127.0.0.1:0").value().port());
    const auto found = client.self->remote<adder_protocol>(
        "tcp://127.0.0.1:" + std::to_string(between->port()), "adder");
    REQUIRE_MESSAGE(found.has_value(), found.error().to_string());
    there = *found;
  }
  /// Asks this many questions at once, and calls `meanwhile` when a part of them is on its way.
  template <class F>
  void ask(int count, F meanwhile) {
    std::vector<decltype(client.system.request(*there, 0))> open;
    const int first = next;
    for (int i = 0; i != count; ++i) {
      if (i == count / 2) meanwhile();
      open.push_back(client.system.request(*there, next++));
    }
    for (int i = 0; i != count; ++i) {
      const result<int> sum = open[static_cast<std::size_t>(i)].get();
      REQUIRE_MESSAGE(sum.has_value(), sum.error().to_string());
      CHECK(*sum == first + i + 1);
    }
  }
};

TEST_CASE("half-open streams: a new connection carries the session on, and nothing is lost") {
  two_nodes n;
  for (int round = 1; round != 4; ++round) {
    n.ask(200, [&] { n.between->stall(); });
    CHECK(n.client.heard->resumes >= round);
  }
  n.ask(10, [] {});
  CHECK(*n.wrong == 0);
  CHECK(n.between->carried() >= 4);
  CHECK(n.client.heard->downs == 0);
  CHECK(n.server.heard->downs == 0);
}

TEST_CASE("half-open streams: the old connection stays if it is the first that answers") {
  two_nodes n;
  n.between->hush(true);
  n.ask(100, [&] {
    n.between->stall();
    // Wait until there is a second connection, by which no answer comes.
    tests::wait_until([&] { return n.between->carried() >= 2 || n.client.heard->downs != 0; });
    n.between->wake();
  });
  n.ask(10, [] {});
  CHECK(n.client.heard->suspicions >= 1);
  CHECK(n.client.heard->trusts >= 1);
  CHECK(n.client.heard->disconnects == 0);
  CHECK(n.server.heard->disconnects == 0);
  // A second connection that brings no answer is given up after a while, and another one is tried.
  n.between->hush(false);
  n.ask(10, [&] { n.between->stall(); });
  CHECK(n.client.heard->resumes >= 1);
  CHECK(*n.wrong == 0);
  CHECK(n.client.heard->downs == 0);
  CHECK(n.server.heard->downs == 0);
}

}  // namespace half_open_streams_test
