// Requests that are overdue or withdrawn while they wait: for their turn at the receiver, for room
// on the way, or at an actor that has handed them on.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/testkit/explore_network.hpp>
#include <garrick/net/wire/codec.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "net/node/simulated_machines.hpp"

namespace overdue_requests_test {

using namespace garrick;
using net::testkit::simulated_network;
using tests::listening_machine;
using tests::machine;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

struct nap {
  duration length;
};
struct job {
  std::int64_t n = 0;
};
struct note {};
struct count {};

/// Called while a `meanwhile` is written.
std::function<void()> at_encoding;
class meanwhile {
 public:
  using garrick_sendable = void;
};

}  // namespace overdue_requests_test

template <>
struct garrick::net::codec<overdue_requests_test::meanwhile> {
  static void encode(byte_writer& out, const overdue_requests_test::meanwhile&) {
    out.fixed(std::uint8_t{1});
    if (const auto what = std::exchange(overdue_requests_test::at_encoding, nullptr)) what();
  }
  static void decode(byte_reader& in, overdue_requests_test::meanwhile&) {
    static_cast<void>(in.fixed<std::uint8_t>());
  }
};

namespace overdue_requests_test {

using clerk_type = protocol<void(nap), int(job), void(note), void(meanwhile), int(count)>;

/// Counts the jobs that it has handled. While it naps, all mail waits.
class clerk : public actor<clerk_type> {
 public:
  explicit clerk(int& handled) : handled_(handled) {}
  void on(nap n) {
    delay(n.length).await([] {});
  }
  int on(job) { return ++handled_; }
  void on(note) {}
  void on(const meanwhile&) {}
  int on(count) { return handled_; }

 private:
  int& handled_;
};

/// Passes its jobs to another actor.
class desk : public actor<clerk_type> {
 public:
  explicit desk(ref<clerk_type> to) : to_(std::move(to)) {}
  void on(nap n) { send(to_, n); }
  auto on(job j) { return delegate(to_, j); }
  void on(note n) { send(to_, n); }
  void on(const meanwhile& w) { send(to_, w); }
  auto on(count c) { return delegate(to_, c); }

 private:
  ref<clerk_type> to_;
};

/// Never answers a job.
class silent : public actor<clerk_type> {
 public:
  void on(nap) {}
  result<int> on(job) {
    kept_.push_back(make_promise<int>());
    return kept_.back();
  }
  void on(note) {}
  void on(const meanwhile&) {}
  int on(count) { return static_cast<int>(kept_.size()); }

 private:
  std::vector<response_promise<int>> kept_;
};

/// A clerk on "b", with a handle on "a".
struct clerk_at_b {
  int handled = 0;
  three_machines m;
  ref<clerk_type> to;

  explicit clerk_at_b(net::node_settings of_a = {}, net::node_settings of_b = {})
      : m(std::move(of_a), std::move(of_b)),
        to(m.b.shown_to(m.a, "clerk", m.b.system.spawn<clerk>(lent(handled)))) {}
  void run(duration d) { m.a.system.run_for(d); }
  /// Checks that the clerk handles requests, and has counted none meanwhile.
  void is_well() {
    const int before = handled;
    CHECK(m.a.system.request(to, job{}).get().value() == before + 1);
  }
};

/// A clerk on "c" that "a" reaches by way of "b": by a handle passed on, or by a desk there.
struct clerk_at_c {
  int handled = 0;
  three_machines m;
  ref<clerk_type> far, to;

  explicit clerk_at_c(bool by_desk, net::node_settings of_a = {}, net::node_settings of_b = {})
      : m(std::move(of_a), std::move(of_b)),
        far(m.c.shown_to(m.b, "clerk", m.c.system.spawn<clerk>(lent(handled)))),
        to(m.b.shown_to(m.a, "clerk", by_desk ? ref(m.b.system.spawn<desk>(far)) : far)) {}
  void run(duration d) { m.a.system.run_for(d); }
};

void cut(three_machines& m, const char* x, const char* y) {
  m.net.cut(x, y);
  m.net.cut(y, x);
}
void heal(three_machines& m, const char* x, const char* y) {
  m.net.heal(x, y);
  m.net.heal(y, x);
}

std::uint64_t questions_of(machine& from, machine& to) {
  for (const net::link_count& c : from.node.counters(to.node.self()))
    if (c.name.find("questions") != std::string::npos) return c.value;
  return 0;
}

net::node_settings few_questions() { return {.most_questions = 16}; }
net::node_settings narrow() {
  net::node_settings s;
  s.link.mailbox.messages = 4;
  return s;
}

TEST_CASE("overdue requests: those with a time limit that passes while they wait at the receiver") {
  for (const bool is_cut_off : {false, true}) {  // if cut off, the receiver's clock has to know
    CAPTURE(is_cut_off);
    clerk_at_b n;
    send(n.to, nap{ms(100)});
    auto asked = n.m.a.system.request(n.to, job{}, ms(20));
    n.run(ms(10));
    if (is_cut_off) cut(n.m, "a", "b");
    CHECK(asked.get().error() == errc::timeout);
    n.run(ms(200));
    CHECK(n.handled == 0);
    heal(n.m, "a", "b");
    n.is_well();
  }
}

TEST_CASE("overdue requests: their limit goes along with those in front of a busy link") {
  clerk_at_b n;
  send(n.to, nap{ms(100)});
  core::scoped_actor me(n.m.a.system.env());
  std::vector<pending_response<int>> asked;
  at_encoding = [&] { asked.push_back(me->request(n.to, job{}, ms(20))); };
  send(n.to, meanwhile());
  REQUIRE(asked.size() == 1);
  n.run(ms(10));
  cut(n.m, "a", "b");
  CHECK(me->get(std::move(asked[0])).error() == errc::timeout);
  n.run(ms(200));
  CHECK(n.handled == 0);
  heal(n.m, "a", "b");
  n.is_well();
}

TEST_CASE("overdue requests: their limit goes along with those that wait behind others") {
  for (const std::int64_t limit : {400, 900}) {
    CAPTURE(limit);
    net::node_settings narrow;
    narrow.link.mailbox.messages = 4;
    clerk_at_b n(narrow);
    CHECK(n.m.a.system.request(n.to, count{}).get().value() == 0);
    send(n.to, nap{ms(550)});
    n.run(ms(10));
    cut(n.m, "a", "b");
    for (int i = 0; i < 20; ++i) {
      send(n.to, note{});
      n.run(ms(1));
    }
    at_encoding = [&] { send(n.to, note{}); };
    send(n.to, meanwhile());
    core::scoped_actor me(n.m.a.system.env());
    const auto asked = me->request(n.to, job{}, ms(limit));
    n.run(ms(110));
    heal(n.m, "a", "b");
    n.run(ms(240));  // the stack tries again before that
    cut(n.m, "a", "b");
    n.run(duration::seconds(1));
    CHECK(n.handled == (limit == 400 ? 0 : 1));
    heal(n.m, "a", "b");
  }
}

TEST_CASE("overdue requests: all forms that have a limit at once tell the receiver") {
  clerk_at_b n;
  const any_ref anything(n.to);
  const router<clerk_type> by_router({n.to});
  core::scoped_actor me(n.m.a.system.env());
  send(n.to, nap{ms(100)});
  n.run(ms(10));  // urgent messages come first
  auto a = me->request(n.to, job{}, ms(20));
  auto b = me->request_urgent(n.to, job{}, ms(20));
  auto c = me->request_as<int>(anything, job{}, ms(20));
  auto d = me->request(by_router, job{}, ms(20));
  n.run(ms(10));
  cut(n.m, "a", "b");
  for (auto* asked : {&a, &b, &c, &d}) CHECK(me->get(std::move(*asked)).error() == errc::timeout);
  n.run(ms(200));
  CHECK(n.handled == 0);
  heal(n.m, "a", "b");
  n.is_well();
}

TEST_CASE("overdue requests: a limit after the send is made up for by the cancel") {
  for (const bool is_cut_off : {false, true}) {
    CAPTURE(is_cut_off);
    clerk_at_b n;
    send(n.to, nap{ms(100)});
    auto asked = n.m.a.system.request(n.to, job{});
    asked.within(ms(20));
    n.run(ms(10));
    if (is_cut_off) cut(n.m, "a", "b");
    CHECK(asked.get().error() == errc::timeout);
    n.run(ms(200));
    CHECK(n.handled == (is_cut_off ? 1 : 0));  // as documented
    heal(n.m, "a", "b");
    n.is_well();
  }
}

TEST_CASE("overdue requests: one in time is handled, with a limit and without") {
  clerk_at_b n;
  for (const duration limit : {ms(30), duration::infinite()}) {
    send(n.to, nap{ms(15)});
    CHECK(n.m.a.system.request(n.to, job{}, limit).get().has_value());
    CHECK(counted(n.m.b, n.m.a, "wanted") == 0);
  }
  CHECK(n.handled == 2);
}

TEST_CASE("overdue requests: those that were dropped, or with an ended asker, while they wait") {
  clerk_at_b n;
  send(n.to, nap{ms(100)});
  {
    core::scoped_actor me(n.m.a.system.env());
    const auto dropped = me->request(n.to, job{});
    const auto asks = [](dynamic_actor& self, const ref<clerk_type>& whom) -> behavior {
      self.request(whom, job{}).then([](int) {});
      return {[](int) {}};
    };
    const auto who = n.m.a.system.spawn(asks, n.to);
    n.run(ms(10));
    n.m.a.system.exit(who);
  }
  n.run(ms(200));
  CHECK(n.handled == 0);
  n.is_well();
}

TEST_CASE("overdue requests: one without time does not leave") {
  clerk_at_b n;
  n.is_well();
  const std::uint64_t before = questions_of(n.m.a, n.m.b);
  CHECK(before > 0);
  CHECK(n.m.a.system.request(n.to, job{}, ms(0)).get().error() == errc::timeout);
  CHECK(n.m.a.system.request(n.to, job{}, ms(-5)).get().error() == errc::timeout);
  n.run(ms(50));
  CHECK(questions_of(n.m.a, n.m.b) == before);
  CHECK(n.handled == 1);
}

TEST_CASE("overdue requests: a request handed on to a third node carries the rest of its time") {
  for (const bool by_desk : {false, true}) {
    CAPTURE(by_desk);
    clerk_at_c n(by_desk);
    send(n.to, nap{ms(100)});
    auto asked = n.m.a.system.request(n.to, job{}, ms(30));
    n.run(ms(15));
    cut(n.m, "a", "b");  // the third node cannot be told
    cut(n.m, "b", "c");
    CHECK(asked.get().error() == errc::timeout);
    n.run(ms(200));
    CHECK(n.handled == 0);
    heal(n.m, "a", "b");
    heal(n.m, "b", "c");
    CHECK(n.m.a.system.request(n.to, job{}, ms(500)).get().value() == 1);
  }
}

TEST_CASE("overdue requests: a request handed on to a third node is cancelled there") {
  for (const bool by_desk : {false, true}) {
    CAPTURE(by_desk);
    clerk_at_c n(by_desk);
    send(n.to, nap{ms(100)});
    auto asked = n.m.a.system.request(n.to, job{});
    asked.within(ms(20));
    CHECK(asked.get().error() == errc::timeout);
    n.run(ms(200));
    CHECK(n.handled == 0);
    CHECK(n.m.a.system.request(n.to, job{}).get().value() == 1);
  }
}

TEST_CASE(
    "overdue requests: a request delegated by an actor of the requester's node is cancelled") {
  for (const bool is_dropped : {false, true}) {
    CAPTURE(is_dropped);
    clerk_at_b n;
    const auto near = n.m.a.system.spawn<desk>(n.to);
    send(n.to, nap{ms(100)});
    {
      auto asked = n.m.a.system.request(near, job{});
      n.run(ms(10));
      if (!is_dropped) CHECK(asked.within(ms(20)).get().error() == errc::timeout);
    }
    n.run(ms(200));
    CHECK(n.handled == 0);
    n.is_well();
  }
}

TEST_CASE("overdue requests: those that were handed on and not answered cost no peer anything") {
  constexpr int many = 60;  // a node allows sixteen at a time
  {
    three_machines m(few_questions(), few_questions());
    const auto quiet = m.b.shown_to(m.a, "silent", m.b.system.spawn<silent>());
    const auto near = m.a.system.spawn<desk>(quiet);
    for (int i = 0; i < many; ++i)
      CHECK(m.a.system.request(near, job{i}, ms(20)).get().error() == errc::timeout);
    CHECK(m.a.system.request(near, count{}).get().value() == many);
  }
  for (const bool by_desk : {false, true}) {
    CAPTURE(by_desk);
    three_machines m({}, few_questions());
    const auto quiet = m.c.shown_to(m.b, "silent", m.c.system.spawn<silent>());
    const auto near =
        m.b.shown_to(m.a, "desk", by_desk ? ref(m.b.system.spawn<desk>(quiet)) : quiet);
    for (int i = 0; i < many; ++i) {
      const bool is_said = i % 2 == 0;  // the limit is told to the other node
      auto asked = m.a.system.request(near, job{i}, is_said ? ms(20) : duration::infinite());
      if (!is_said) asked.within(ms(20));
      CHECK(asked.get().error() == errc::timeout);
    }
    CHECK(m.a.system.request(near, count{}).get().value() == many);
    CHECK(counted(m.b, m.a, "wanted") == 0);
  }
}

TEST_CASE("overdue requests: when the asker's node is lost, a request handed on is cancelled") {
  clerk_at_c n(true);
  send(n.to, nap{duration::seconds(60)});
  const auto asked = n.m.a.system.request(n.to, job{});
  n.run(ms(20));
  n.m.net.host("a").crash();
  n.m.b.system.run_for(duration::seconds(100));
  CHECK(n.handled == 0);
  CHECK(n.m.b.system.request(n.far, job{}).get().value() == 1);
}

TEST_CASE("overdue requests: one that times out while it waits for room does not leave") {
  for (const std::int64_t limit : {50, 400}) {
    CAPTURE(limit);
    clerk_at_c n(false, {}, narrow());
    CHECK(n.m.a.system.request(n.to, count{}).get().value() == 0);
    cut(n.m, "b", "c");
    for (int i = 0; i < 20; ++i) {  // the stack takes a few, and no more without an answer
      send(n.far, note{});
      n.run(ms(1));
    }
    const auto asked = n.m.a.system.request(n.to, job{}, ms(limit));
    n.run(ms(10));
    cut(n.m, "a", "b");  // no cancel comes
    n.run(ms(100));
    heal(n.m, "b", "c");
    n.run(ms(250));  // the stack tries again before that
    CHECK(n.handled == (limit == 50 ? 0 : 1));
    heal(n.m, "a", "b");
  }
}

TEST_CASE("overdue requests: the wait for room on the way is part of a request's time") {
  for (const std::int64_t limit : {400, 900}) {
    CAPTURE(limit);
    clerk_at_c n(false, {}, narrow());
    CHECK(n.m.a.system.request(n.to, count{}).get().value() == 0);
    send(n.far, nap{ms(550)});
    n.run(ms(10));
    cut(n.m, "b", "c");
    for (int i = 0; i < 20; ++i) {
      send(n.far, note{});
      n.run(ms(1));
    }
    const auto asked = n.m.a.system.request(n.to, job{}, ms(limit));
    n.run(ms(10));
    cut(n.m, "a", "b");
    n.run(ms(100));
    heal(n.m, "b", "c");
    n.run(ms(240));  // it leaves when most of 400 ms have gone, and the nap is longer
    cut(n.m, "b", "c");
    n.run(duration::seconds(1));
    CHECK(n.handled == (limit == 400 ? 0 : 1));
    heal(n.m, "a", "b");
    heal(n.m, "b", "c");
  }
}

// ---- under seeds --------------------------------------------------------------------------------

struct timed_job {
  std::int64_t n = 0;
};
struct asks_next {};
using slow_type = protocol<int(timed_job)>;

/// The facts about one request, outside of all actors.
struct known {
  duration wanted_until = duration::infinite();  // by the network's time, for the requester
  bool was_dropped = false;
  int handled = 0, values = 0, timeouts = 0, others = 0;
};
struct record {
  simulated_network& net;
  std::minstd_rand random;
  std::vector<known> all{};
  bool was_late = false;

  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random()) % n; }
};

/// Takes a while for each job.
class slow : public actor<slow_type> {
 public:
  explicit slow(record& r) : record_(r) {}
  int on(timed_job j) {
    known& k = record_.all[static_cast<std::size_t>(j.n)];
    ++k.handled;
    // A request is on its way for 5 ms at most, by way of another node, and so is its withdrawal.
    if (record_.net.elapsed() > k.wanted_until + ms(7)) record_.was_late = true;
    delay(ms(record_.below(12))).await([] {});
    return 1;
  }

 private:
  record& record_;
};
class slow_desk : public actor<slow_type> {
 public:
  explicit slow_desk(ref<slow_type> to) : to_(std::move(to)) {}
  auto on(timed_job j) { return delegate(to_, j); }

 private:
  ref<slow_type> to_;
};

/// Asks with limits of all kinds.
class asker : public actor<protocol<void(asks_next)>> {
 public:
  asker(std::vector<ref<slow_type>> whom, int times, record& r)
      : whom_(std::move(whom)), left_(times), record_(r) {}
  void on_start() { send(self(), asks_next{}); }
  void on(asks_next) {
    if (left_-- == 0) return;
    const auto n = static_cast<std::int64_t>(record_.all.size());
    known& k = record_.all.emplace_back();
    const auto& to =
        whom_[static_cast<std::size_t>(record_.below(static_cast<std::int64_t>(whom_.size())))];
    const duration limit = ms(1 + record_.below(60));
    const std::int64_t form = record_.below(4);
    if (form != 3) k.wanted_until = record_.net.elapsed() + limit;
    if (form == 0) {
      wait_for(n, request(to, timed_job{n}, limit));
    } else if (form == 1) {
      wait_for(n, request(to, timed_job{n}).within(limit));
    } else if (form == 2) {
      k.was_dropped = true;
      held_.emplace(n, request(to, timed_job{n}));
      delay(limit).then([this, n] { held_.erase(n); });
    } else {
      wait_for(n, request(to, timed_job{n}));
    }
    send_after(ms(record_.below(12)), self(), asks_next{});
  }

 private:
  void wait_for(std::int64_t n, pending_response<int> asked) {
    record& r = record_;
    const auto at = static_cast<std::size_t>(n);
    std::move(asked).then([&r, at](int) { ++r.all[at].values; },
                          [&r, at](const error& why) {
                            ++(why == errc::timeout ? r.all[at].timeouts : r.all[at].others);
                          });
  }

  std::vector<ref<slow_type>> whom_;
  int left_;
  record& record_;
  std::map<std::int64_t, pending_response<int>> held_;
};

TEST_CASE("overdue requests: whenever one is withdrawn, none is handled late or answered twice") {
  net::testkit::explore_network(net::testkit::seeds(), [&](simulated_network& base) {
    garrick::testkit::test_world world(base.seed());
    simulated_network net(world);
    record r{net, std::minstd_rand(static_cast<unsigned>(base.seed() + 1))};
    for (const auto& [x, y] : {std::pair("a", "b"), std::pair("a", "c"), std::pair("b", "c")})
      net.both(x, y, {.delay = ms(1)});
    listening_machine a(world, net, "a", 1, {.most_questions = 64});
    listening_machine b(world, net, "b", 2, {.most_questions = 64});
    listening_machine c(world, net, "c", 3, {.most_questions = 64});
    const auto worker = b.system.spawn<slow>(lent(r));
    const auto direct = b.shown_to(a, "worker", worker);
    const auto seen_by_c = b.shown_to(c, "also", worker);
    const std::vector<ref<slow_type>> ways = {
        direct, c.shown_to(a, "relayed", seen_by_c),
        c.shown_to(a, "desk", c.system.spawn<slow_desk>(seen_by_c)),
        a.system.spawn<slow_desk>(direct)};
    constexpr int times = 150;
    const auto client = a.system.spawn<asker>(ways, times, lent(r));
    a.system.run_for(duration::seconds(5));
    net.require(!r.was_late, "one was handled although its time was over");
    net.require(r.all.size() == times, "not all were asked");
    int late = 0;
    for (const known& k : r.all) {
      net.require(k.handled <= 1, "one was handled twice");
      net.require(k.others == 0, "one has failed");
      net.require(k.values + k.timeouts == (k.was_dropped ? 0 : 1), "not one answer");
      net.require(k.values <= k.handled, "an answer came from nowhere");
      net.require(!k.wanted_until.is_infinite() || k.values == 1, "one without a limit is lost");
      late += k.handled == 0 ? 1 : 0;
    }
    net.require(late > 0, "nothing was ever late: the test is too slow");
  });
}

}  // namespace overdue_requests_test
