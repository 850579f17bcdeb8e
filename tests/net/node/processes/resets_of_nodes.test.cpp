// Nodes in two processes, between which a proxy resets the connection again and again, in
// mid-message. The session goes on each time, so no peer is down, and no message or answer is lost.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <support/quiet.hpp>
#include <support/rounds.hpp>
#include <support/transports.hpp>

#include "net/node/other_process.hpp"
#include "net/node/peer/service.hpp"
#include "net/resetting_proxy.hpp"

namespace resets_of_nodes {

using namespace garrick;
using namespace garrick::tests;
using net::peer_change;
using kind = net::peer_evidence::kind;

constexpr int never = 60'000;  // ms until a silent peer is given up
constexpr std::uint64_t chains = 8;

struct seen {
  std::atomic<std::uint64_t> sent{0}, asked{0}, asked_there{0};
  std::atomic<std::uint64_t> came_back{0};   // numbers that the other process got
  std::atomic<std::uint64_t> handled{0};     // questions handled there
  std::atomic<std::uint64_t> asked_here{0};  // questions of the other process
  std::atomic<std::uint64_t> answered{0}, wrong{0}, errors{0};
  std::atomic<std::uint64_t> downs{0}, exits{0};  // as told to actors
  std::atomic<std::uint64_t> stopped{0};          // chains of messages
  std::atomic<bool> enough{false};
  [[nodiscard]] bool is_settled() const {
    return stopped == chains && answered + errors == asked + asked_there && came_back == sent &&
           handled == asked && asked_here == asked_there;
  }
};

/// Hears from the service of each message of the asker, in its order.
class witness : public actor<witness_type> {
 public:
  explicit witness(seen& s) : seen_(s) {}
  void on(numbered x) { seen_.wrong += x.n != seen_.came_back++; }
  void on(question q) { seen_.wrong += q.n != seen_.handled++; }

 private:
  seen& seen_;
};

/// Answers the service, which asks once for each `ask_there`, in its order.
class asked_from_there : public actor<echo_type> {
 public:
  explicit asked_from_there(seen& s) : seen_(s) {}
  std::uint64_t on(question q) {
    seen_.wrong += q.n != seen_.asked_here++;
    return q.n + 1;
  }

 private:
  seen& seen_;
};

struct step {};

/// Sends and asks enough, in several chains at once, and watches the service.
class asker : public actor<protocol<void(step), void(down), void(exit_signal)>> {
 public:
  asker(ref<service_type> to, ref<echo_type> back, seen& s)
      : to_(std::move(to)), back_(std::move(back)), seen_(s) {}
  void on_start() {
    trap_exit(true);
    monitor(to_);
    link(to_);
    for (std::uint64_t i = 0; i != chains; ++i) send(self(), step{});
  }
  void on(step) {
    if (seen_.enough) {
      ++seen_.stopped;
      return;
    }
    for (int i = 0; i != 3; ++i) send(to_, numbered{1, seen_.sent++});
    if (++steps_ % 2 == 0) {
      const std::uint64_t n = seen_.asked++;
      check(n, request(to_, question{n}));
    } else {
      const std::uint64_t n = seen_.asked_there++;
      check(n, request(to_, ask_there{back_, n}));
    }
  }
  void on(const down&) { ++seen_.downs; }
  void on(const exit_signal&) { ++seen_.exits; }

 private:
  template <class R>
  void check(std::uint64_t n, R asked) {
    std::move(asked).then(
        [this, n](std::uint64_t next) {
          seen_.wrong += next != n + 1;
          ++seen_.answered;
          send(self(), step{});
        },
        [this](const error&) {
          ++seen_.errors;
          send(self(), step{});
        });
  }

  ref<service_type> to_;
  ref<echo_type> back_;
  seen& seen_;
  std::uint64_t steps_ = 0;
};

class ears : public net::peer_listener {
 public:
  void changed(const net::peer_identity&, peer_change what, const error&) override {
    ++(what == peer_change::up ? ups : downs);
  }
  void noticed(const net::peer_identity&, const net::peer_evidence& e) override {
    resumed += e.what == kind::resumed;
  }
  std::atomic<std::uint64_t> ups{0}, downs{0}, resumed{0};
};

TEST_CASE("resets of nodes: the session goes on, all comes once and in order, no peer is down") {
  const std::uint64_t resets = rounds(300);
  other_process other("tcp://127.0.0.1:0", never);
  resetting_proxy proxy(at(other.at).port());
  seen s;
  actor_system system(quiet());
  net::node_settings settings = node_with(never);
  settings.link.session.hello_first = duration::milliseconds(20);
  settings.link.session.reopen_first = duration::milliseconds(1);
  settings.link.session.reopen_most = duration::milliseconds(4);
  net::node here(system, settings);
  const auto heard = std::make_shared<ears>();
  here.subscribe(heard);
  const auto there = here.remote<service_type>("tcp://127.0.0.1:" + std::to_string(proxy.port()),
                                               service_name, duration::seconds(60));
  REQUIRE_MESSAGE(there.has_value(), there.error().to_string());
  send(*there, tell{system.spawn<witness>(lent(s))});
  const auto back = system.spawn<asked_from_there>(lent(s));
  const any_ref held(system.spawn<asker>(*there, back, lent(s)));  // a monitor holds no actor

  const auto has_failed = [&] { return heard->downs + s.wrong + s.errors != 0; };
  wait_until([&] { return proxy.resets() >= resets || has_failed(); });
  s.enough = true;
  proxy.be_kind();
  wait_until([&] { return s.is_settled() || has_failed(); });
  CHECK(heard->ups == 1);
  CHECK(heard->downs == 0);
  CHECK(heard->resumed > resets / 2);
  CHECK(s.downs == 0);
  CHECK(s.exits == 0);
  CHECK(s.errors == 0);
  CHECK(s.wrong == 0);
  CHECK(s.came_back == s.sent);
  CHECK(s.handled == s.asked);
  CHECK(s.asked_here == s.asked_there);
  CHECK(s.answered == s.asked + s.asked_there);
  if (has_failed()) return;
  CHECK(system.request(*there, how_many{1}).get().value() == static_cast<std::int64_t>(s.sent));
  // No release was lost either: the other process has the witness, and is linked with the asker.
  wait_until([&] {
    for (const net::link_count& c : here.counters(here.peers().at(0)))
      if (c.layer == "node" && c.name == "exports") return c.value == 2;
    return false;
  });
  const auto peers = here.peers();
  REQUIRE(peers.size() == 1);
  CHECK(std::to_string(peers[0].incarnation) == other.incarnation);
  other.order("downs");
  CHECK(other.answer() == "0 ");
  MESSAGE("resets " << proxy.resets() << ", resumed " << heard->resumed.load() << ", numbers "
                    << s.sent.load() << ", requests " << s.answered.load());
}

}  // namespace resets_of_nodes
