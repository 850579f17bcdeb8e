// The promises of nodes, under seeds: order, each message once, one answer for each request, one
// `down` for each monitor, under any faults of the network.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/testkit/explore_network.hpp>
#include <garrick/net/testkit/faults.hpp>

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "net/node/machine.hpp"

namespace node_guarantees_test {

using namespace garrick;
using net::node;
using garrick::testkit::test_world;
using net::testkit::simulated_network;
using tests::machine;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

/// Returns the seeds for each of three programs (streams, datagrams, a node that is gone): together
/// as many as are wanted. As many for each would take 8 s, too long for a part of the short run.
std::uint64_t seeds_of_each() { return net::testkit::seeds() / 3 + 1; }

struct thanks {};
using guest_type = protocol<void(thanks)>;
struct entry {
  std::uint32_t who = 0;
  std::uint64_t n = 0;
  std::vector<ref<guest_type>> guests{};
};
struct question {
  std::uint32_t who = 0;
  std::uint64_t n = 0;
};
struct step {};
using ledger_type = protocol<void(entry), std::uint64_t(question)>;

/// The observations of a program, outside of all actors.
struct seen {
  std::map<std::uint32_t, std::uint64_t> next;               // the next entry of each sender
  std::map<std::uint32_t, std::set<std::uint64_t>> handled;  // the questions of each asker
  bool in_order = true;
  struct client {
    std::uint64_t sent = 0;
    std::uint64_t asked = 0;
    std::uint64_t values = 0;
    std::uint64_t errors = 0;
    std::uint64_t in_doubt = 0;             // errors that leave a doubt
    std::set<std::uint64_t> never_handled;  // questions with an error that says so
    std::uint64_t wrong = 0;
    int downs = 0;
    int exits = 0;  // of the ledger, to which it is linked
    std::string why;
    int invited = 0;  // guests; each must be thanked once
    int thanked = 0;
  };
  int guests = 0;  // living ones
  std::array<client, 3> clients;
};

class ledger : public actor<ledger_type> {
 public:
  explicit ledger(seen& s) : seen_(s) {}
  void on(const entry& e) {
    if (e.n != seen_.next[e.who]++) seen_.in_order = false;
    for (const auto& guest : e.guests) send(guest, thanks{});
  }
  std::uint64_t on(question q) {
    seen_.handled[q.who].insert(q.n);
    return q.n * 2;
  }

 private:
  seen& seen_;
};

/// Lives as long as an entry with its handle, or its thanks, are on their way.
class guest : public actor<guest_type> {
 public:
  guest(int& alive, int& thanked) : alive_(alive), thanked_(thanked) { ++alive_; }
  guest(const guest&) = delete;
  guest& operator=(const guest&) = delete;
  ~guest() { --alive_; }
  void on(thanks) { ++thanked_; }

 private:
  int& alive_;
  int& thanked_;
};

class client : public actor<protocol<void(step), void(down), void(exit_signal)>> {
 public:
  client(ref<ledger_type> to, std::uint32_t me, std::uint64_t steps, seen& s)
      : to_(std::move(to)), me_(me), steps_(steps), seen_(s) {}
  void on_start() {
    trap_exit(true);
    monitor(to_);
    link(to_);
    send(self(), step{});
  }
  void on(step) {
    seen::client& mine = seen_.clients[me_];
    if (mine.downs != 0 || mine.sent >= steps_) return;
    speak(mine);
    send_after(ms(7), self(), step{});
  }
  void on(const down& d) {
    ++seen_.clients[me_].downs;
    seen_.clients[me_].why = d.reason.to_string();
    speak(seen_.clients[me_]);  // to the ended actor
  }
  void on(const exit_signal&) { ++seen_.clients[me_].exits; }

 private:
  void speak(seen::client& mine) {
    for (int i = 0; i < 3; ++i) {
      entry e{me_, mine.sent++};
      if (e.n % 10 == 0) {
        e.guests.push_back(spawn<guest>(lent(seen_.guests), lent(mine.thanked)));
        ++mine.invited;
      }
      send(to_, std::move(e));
    }
    const std::uint64_t n = mine.asked++;
    request(to_, question{me_, n})
        .then(
            [&mine, n](std::uint64_t twice) {
              ++mine.values;
              mine.wrong += twice != 2 * n;
            },
            [&mine, n](const error& why) {
              ++mine.errors;
              mine.in_doubt += why == net::net_errc::perhaps_delivered;
              if (why == errc::not_handled) mine.never_handled.insert(n);
            });
  }
  ref<ledger_type> to_;
  std::uint32_t me_;
  std::uint64_t steps_;
  seen& seen_;
};

/// A ledger on "a", and clients on "b" and "c".
struct three_nodes {
  test_world world;
  simulated_network net;
  seen what;
  machine a, b, c;
  std::vector<any_ref> clients;
  std::uint64_t told_never = 0;  // entries
  std::uint64_t told_in_doubt = 0;

  explicit three_nodes(std::uint64_t seed)
      : world(seed),
        net(world),
        a(world, net, "a", 1 + seed % 3),
        b(world, net, "b", 1 + (seed + 1) % 3),
        c(world, net, "c", 1 + (seed + 2) % 3) {}
  void begin(const std::string& scheme, std::uint64_t steps) {
    for (const auto& [x, y] : {std::pair("a", "b"), std::pair("a", "c"), std::pair("b", "c")})
      net.both(x, y, {.delay = ms(3), .loss = scheme == "udp" ? 0.02 : 0.0});
    const std::string at = scheme + "://a:7";
    net.require(a.node.listen(at).has_value(), "a cannot listen");
    const auto book = a.system.spawn<ledger>(lent(what));
    net.require(a.node.publish("ledger", book).has_value(), "a cannot publish");
    std::uint32_t n = 1;
    for (machine* m : {&b, &c}) {
      const auto found = m->node.remote<ledger_type>(at, "ledger");
      net.require(found.has_value(), "not found: " + (found ? "" : found.error().to_string()));
      clients.emplace_back(any_ref(m->system.spawn<client>(*found, n++, steps, lent(what))));
    }
  }
  /// Requires that no table has an entry left.
  void require_empty_tables() {
    require_empty(a.node, b.node);
    require_empty(a.node, c.node);
    require_empty(b.node, a.node);
    require_empty(c.node, a.node);
  }
  void require_empty(const node& at, const node& of) {
    for (const net::link_count& x : at.counters(of.self()))
      for (const char* const table : {"exports", "proxies", "spawned", "questions", "asked",
                                      "unanswered", "wanted", "monitors", "links", "under_way"})
        net.require(x.layer != "node" || x.name != table || x.value == 0,
                    "a table is not empty: " + std::string(x.name));
  }
  /// Requires that each entry is in the ledger or a dead letter at its sender, or both, and that an
  /// entry told as never delivered did not come.
  void require_losses_told() {
    std::uint32_t i = 1;
    for (machine* m : {&b, &c}) {
      std::uint64_t told = 0, never = 0, in_doubt = 0;
      for (const auto& letter : m->system.dead_letters()) {
        if (letter.type.find("entry") == std::string::npos) continue;  // a question
        ++told;
        never += letter.reason == errc::not_handled;
        in_doubt += letter.reason == net::net_errc::perhaps_delivered;
      }
      const std::uint64_t sent = what.clients[i].sent;
      net.require(what.next[i] <= sent && sent - what.next[i] <= told,
                  "of " + std::to_string(sent) + " entries " + std::to_string(what.next[i]) +
                      " came, and " + std::to_string(told) + " were told");
      net.require(told <= sent, "an entry was told twice");
      net.require(never + in_doubt == told, "an entry was told for another reason");
      // Entries come in order, so the missing ones are the last.
      net.require(never <= sent - what.next[i], "an entry that came was told to have come never");
      told_never += never;
      told_in_doubt += in_doubt;
      ++i;
    }
  }
  /// Requires that the errors of questions are true.
  void require_honest_errors() {
    for (std::uint32_t i = 1; i < 3; ++i) {
      const seen::client& x = what.clients[i];
      net.require(x.in_doubt + x.never_handled.size() == x.errors, "a request failed otherwise");
      for (const std::uint64_t n : x.never_handled)
        net.require(!what.handled[i].contains(n), "a request that was handled is said not to be");
    }
  }
  void require_answers() {
    for (std::size_t i = 1; i < 3; ++i) {
      const seen::client& x = what.clients[i];
      net.require(x.values + x.errors == x.asked, "a request has no answer, or two");
      net.require(x.wrong == 0, "an answer belongs to another request");
    }
  }
};

TEST_CASE(
    "node guarantees: order, each once, each answered, while streams break and ways are cut") {
  for (const std::string scheme : {"tcp", "udp"}) {
    CAPTURE(scheme);
    net::testkit::explore_network(seeds_of_each(), [&](simulated_network& base) {
      three_nodes n(base.seed());
      n.begin(scheme, 600);
      net::testkit::plan_faults(n.net, {.hosts = {"a", "b", "c"},
                                        .cuts = 2,
                                        .one_way_cuts = 1,
                                        .resets = 3,
                                        .half_opens = 1,
                                        .pauses = 1,
                                        .jumps = 1,
                                        .rates = 1,
                                        .storms = 1,
                                        .from = n.net.elapsed(),
                                        .until = n.net.elapsed() + duration::seconds(2)});
      n.b.system.run_for(duration::seconds(30));
      n.net.require(n.what.in_order, "an entry was lost, doubled or out of order");
      for (std::uint32_t i = 1; i < 3; ++i) {
        n.net.require(n.what.next[i] == n.what.clients[i].sent,
                      "entries are missing: " + std::to_string(n.what.next[i]) + " of " +
                          std::to_string(n.what.clients[i].sent) + ", answers " +
                          std::to_string(n.what.clients[i].values) + " of " +
                          std::to_string(n.what.clients[i].asked));
        n.net.require(n.what.clients[i].errors == 0, "a request failed");
        n.net.require(n.what.clients[i].downs + n.what.clients[i].exits == 0,
                      "the ledger was said to be down");
        n.net.require(n.what.clients[i].thanked == n.what.clients[i].invited,
                      "a guest was not thanked once");
      }
      n.require_answers();
      n.net.require(n.b.system.dead_letters().empty() && n.c.system.dead_letters().empty(),
                    "a message that came was said to be lost");
      n.net.require(n.what.guests == 0, "a guest is held whom nobody knows any more");
      // The clients' monitors hold no actor.
      n.net.require(n.a.node.unpublish("ledger"), "the ledger had lost its name");
      n.clients.clear();
      n.b.system.run_for(duration::seconds(1));
      n.require_empty_tables();
    });
  }
}

TEST_CASE("node guarantees: when a node is gone, each request is answered and each monitor told") {
  std::uint64_t letters_never = 0, letters_in_doubt = 0, never = 0, in_doubt = 0;
  net::testkit::explore_network(seeds_of_each(), [&](simulated_network& base) {
    three_nodes n(base.seed());
    n.begin(base.seed() % 2 == 0 ? "udp" : "tcp", 100'000);
    n.b.system.run_for(ms(static_cast<std::int64_t>(100 + base.seed() % 50)));
    n.net.host("a").crash(base.seed() % 4 < 2 ? net::testkit::crash_kind::process
                                              : net::testkit::crash_kind::machine);
    n.b.system.run_for(duration::seconds(40));
    for (std::size_t i = 1; i < 3; ++i) {
      n.net.require(n.what.clients[i].downs == 1, "a monitor was not told once");
      n.net.require(n.what.clients[i].exits == 1, "a link was not told once");
      n.net.require(n.what.clients[i].thanked <= n.what.clients[i].invited,
                    "a guest was thanked twice");
      n.net.require(n.what.clients[i].why.find("node is down") != std::string::npos,
                    "told another reason: " + n.what.clients[i].why);
    }
    n.net.require(n.what.in_order, "an entry was lost, doubled or out of order");
    n.require_answers();
    n.require_losses_told();
    n.require_honest_errors();
    n.net.require(n.b.node.peers().empty(), "a peer that is gone is listed");
    n.net.require(n.what.guests == 0, "a guest is held by a node that is gone");
    letters_never += n.told_never;
    letters_in_doubt += n.told_in_doubt;
    for (const seen::client& x : n.what.clients) {
      never += x.never_handled.size();
      in_doubt += x.in_doubt;
    }
  });
  // Both kinds of losses must have occurred, or the program has told none apart.
  CHECK(letters_never > 0);
  CHECK(letters_in_doubt > 0);
  CHECK(never > 0);
  CHECK(in_doubt > 0);
}

}  // namespace node_guarantees_test
