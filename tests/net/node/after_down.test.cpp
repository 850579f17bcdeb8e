// A partition longer than `down_after`: both nodes say that the other one is down. When it is over,
// the same lives may meet again or may not, as the settings say, and in neither case is any earlier
// message delivered.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/testkit/explore_network.hpp>

#include <string>
#include <vector>

#include "net/node/machine.hpp"

namespace after_down_test {

using namespace garrick;
using garrick::testkit::test_world;
using net::peer_return;
using net::testkit::simulated_network;
using tests::machine;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

struct entry {
  std::uint64_t session = 0;
  std::uint64_t n = 0;
};
struct question {};
using ledger_type = protocol<void(entry), std::uint64_t(question)>;

/// The entries that have come, outside of all actors.
struct seen {
  std::vector<entry> entries;
  [[nodiscard]] std::uint64_t of(std::uint64_t session) const {
    std::uint64_t n = 0;
    for (const entry& e : entries) n += e.session == session;
    return n;
  }
};

class ledger : public actor<ledger_type> {
 public:
  explicit ledger(seen& s) : seen_(s) {}
  void on(const entry& e) { seen_.entries.push_back(e); }
  std::uint64_t on(question) { return seen_.entries.size(); }

 private:
  seen& seen_;
};

struct watch {
  ref<ledger_type> whom;
};
/// Counts the `down` messages that it gets.
class watcher : public actor<protocol<void(watch), void(down)>> {
 public:
  explicit watcher(int& downs) : downs_(downs) {}
  void on(const watch& w) { monitor(w.whom); }
  void on(const down&) { ++downs_; }

 private:
  int& downs_;
};

net::node_settings impatient(peer_return after_down, std::uint64_t incarnation = 0) {
  net::node_settings s;
  s.incarnation = incarnation;
  s.after_down = after_down;
  s.link.session.interval = ms(200);
  s.link.session.resume_window = ms(2000);
  s.link.session.down_after = ms(3000);
  return s;
}

/// "a" has a ledger; "b" writes in it until the two have lost each other.
struct parted {
  test_world world;
  simulated_network net;
  seen what;
  int downs = 0;
  machine a, b;
  std::string at;
  ref<ledger_type> book, before;
  any_ref watching;

  parted(std::uint64_t seed, const std::string& scheme, peer_return after_down)
      : world(seed),
        net(world),
        a(world, net, "a", 1, impatient(after_down)),
        b(world, net, "b", 2, impatient(after_down)),
        at(scheme + "://a:7"),
        book(a.system.spawn<ledger>(lent(what))) {
    // Some datagrams come when their session has ended: a cut would lose those, too.
    net::testkit::path_settings way{.delay = ms(3),
                                    .jitter = ms(3),
                                    .loss = 0.05,
                                    .duplication = 0.1,
                                    .reordering = 0.2,
                                    .late_by = ms(8000)};
    net.both("a", "b", way);
    net.require(a.node.listen(at).has_value(), "a cannot listen");
    net.require(a.node.publish("ledger", book).has_value(), "a cannot publish");
    before = find("the first time");
    const auto w = b.system.spawn<watcher>(lent(downs));
    send(w, watch{before});
    watching = any_ref(w);
    write(before, 1, 60);
    b.system.run_for(ms(2000));
    net.require(what.of(1) > 0, "nothing of the first session has come");
    write(before, 1, 40);  // some of them are still on their way
    way.loss = 1;
    scheme == "tcp" ? net.cut("a", "b") : net.both("a", "b", way);
    write(before, 1, 60);
    for (int i = 0; i < 100 && !(a.node.peers().empty() && b.node.peers().empty()); ++i)
      b.system.run_for(ms(500));
    net.require(a.node.peers().empty() && b.node.peers().empty(), "they are not parted");
    net.require(downs == 1, "a monitor was not told once");
    way.loss = 0.05;
    scheme == "tcp" ? net.heal("a", "b") : net.both("a", "b", way);
  }
  ref<ledger_type> find(const std::string& when) {
    const auto found = b.node.remote<ledger_type>(at, "ledger", duration::seconds(30));
    net.require(found.has_value(), when + ": " + (found ? "" : found.error().to_string()));
    return found.value_or(ref<ledger_type>());
  }
  void write(const ref<ledger_type>& to, std::uint64_t session, std::uint64_t entries) {
    for (std::uint64_t i = 0; i < entries; ++i) {
      send(to, entry{session, next_++});
      b.system.run_for(ms(5));
    }
  }
  /// Checks that entries came once each and in order, those of a session together.
  void require_order() {
    for (std::size_t i = 1; i < what.entries.size(); ++i) {
      net.require(what.entries[i].n > what.entries[i - 1].n, "an entry is old, or came twice");
      net.require(what.entries[i].session >= what.entries[i - 1].session,
                  "something of the first session came in the second");
    }
  }

 private:
  std::uint64_t next_ = 0;
};

TEST_CASE("after down: the same lives meet again, and nothing of before is delivered") {
  for (const std::string scheme : {"tcp", "udp"}) {
    CAPTURE(scheme);
    net::testkit::explore_network(net::testkit::seeds() / 4 + 1, [&](simulated_network& base) {
      parted p(base.seed(), scheme, peer_return::same_life);
      const net::peer_identity same_a = p.a.node.self(), same_b = p.b.node.self();
      const std::uint64_t first = p.what.entries.size();
      const auto again = p.find("after the partition");
      p.net.require(
          p.b.node.peers() == std::vector{same_a} && p.a.node.peers() == std::vector{same_b},
          "they are others");
      p.net.require(again != p.before, "an old handle is a new one");
      p.write(again, 2, 60);
      p.write(p.before, 3, 10);  // by the old handle
      p.net.require(p.b.system.request(p.before, question{}).get().error() == errc::not_handled,
                    "an old handle is asked");
      p.b.system.run_for(duration::seconds(20));  // late messages come by then
      p.net.require(p.b.system.request(again, question{}).get().value() == first + 60,
                    "not everything of the second session came, or more than that");
      p.net.require(p.what.of(3) == 0, "an old handle delivers");
      p.net.require(p.downs == 1, "a monitor was told twice");
      p.require_order();
    });
  }
}

TEST_CASE("after down: with `new_life_only` they do not, and another life is welcome") {
  for (const std::string scheme : {"tcp", "udp"}) {
    CAPTURE(scheme);
    net::testkit::explore_network(net::testkit::seeds() / 8 + 1, [&](simulated_network& base) {
      parted p(base.seed(), scheme, peer_return::new_life_only);
      const std::uint64_t first = p.what.entries.size();
      const auto again = p.b.node.remote<ledger_type>(p.at, "ledger", duration::seconds(30));
      p.net.require(!again.has_value(), "it came back");
      p.net.require(again.error() == net::net_errc::peer_down, again.error().to_string());
      p.net.require(
          again.error().to_string().find("given this incarnation up") != std::string::npos,
          again.error().to_string());
      p.b.system.run_for(duration::seconds(20));
      p.net.require(p.a.node.peers().empty() && p.b.node.peers().empty(), "they are peers");
      p.net.require(p.what.entries.size() == first, "something came late");
      // b, started again.
      machine c(p.world, p.net, "c", 2, impatient(peer_return::new_life_only, 4711));
      const auto found = c.node.remote<ledger_type>(p.at, "ledger", duration::seconds(30));
      p.net.require(found.has_value(), "another life: " + (found ? "" : found.error().to_string()));
      p.net.require(c.system.request(*found, question{}).get().value() == first, "a wrong answer");
      p.require_order();
    });
  }
}

}  // namespace after_down_test
