// The deterministic system: order from a seed, virtual time, requests, blocking and detached
// actors, leaks.
#include <garrick/garrick.hpp>
#include <garrick/testkit/explore.hpp>

#include <doctest/doctest.h>

#include <set>
#include <stdexcept>
#include <string>

namespace test_system_test {

using namespace garrick;
using testkit::test_system;

namespace {

struct deposit {
  long cents;
};
struct balance {};
struct tick {};
struct note {
  std::string text;
};

using account = protocol<void(deposit), long(balance)>;

class account_actor : public actor<account> {
 public:
  void on(const deposit& d) { cents += d.cents; }
  long on(const balance&) const { return cents; }
  long cents = 0;
};

using journal = protocol<void(note)>;

class journal_actor : public actor<journal> {
 public:
  void on(const note& n) { text += n.text; }
  std::string text;
};

/// Fails at a `tick`.
class failing_actor : public actor<protocol<void(tick), void(note)>> {
 public:
  void on(const tick&) { throw std::runtime_error("out of ink"); }
  void on(const note& n) { text += n.text; }
  std::string text;
};

/// Writes into a journal at each `tick`.
class writer_actor : public actor<protocol<void(tick)>> {
 public:
  writer_actor(ref<journal> to, std::string what) : to_(std::move(to)), what_(std::move(what)) {}
  void on(const tick&) { send(to_, note{what_}); }

 private:
  ref<journal> to_;
  std::string what_;
};

std::string order_under(std::uint64_t seed) {
  test_system kit(seed);
  const auto book = kit.spawn<journal_actor>();
  for (const char* name : {"a", "b", "c", "d"}) {
    const auto w = kit.spawn<writer_actor>(book, lent(name));
    send(w, tick{});
    send(w, tick{});
  }
  kit.run();
  return kit.inspect<journal_actor>(book).text;
}

class ticking_actor : public actor<protocol<void(tick)>> {
 public:
  void on_start() { beat_ = send_every(duration::seconds(1), self(), tick{}); }
  void on(const tick&) {
    ++ticks;
    last = now();
  }
  void stop() { beat_.cancel(); }
  int ticks = 0;
  instant last;

 private:
  timer beat_;
};

class holder_actor : public actor<protocol<void(any_ref)>> {
 public:
  void on(const any_ref& other) { held_ = other; }

 private:
  any_ref held_;
};

}  // namespace

TEST_CASE("equal seeds give equal orders, different seeds different ones") {
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string order = order_under(seed);
    CHECK(order == order_under(seed));
    CHECK(order.size() == 8);
    orders.insert(order);
  }
  CHECK(orders.size() > 25);
}

TEST_CASE("a step is one message of one actor") {
  test_system kit(7);
  const auto a = kit.spawn<account_actor>();
  const auto b = kit.spawn<account_actor>();
  for (int i = 0; i < 10; ++i) send(i % 2 == 0 ? a : b, deposit{1});
  for (int i = 1; i <= 10; ++i) {
    CHECK(kit.step());
    CHECK(kit.inspect<account_actor>(a).cents + kit.inspect<account_actor>(b).cents == i);
  }
  CHECK_FALSE(kit.step());
  CHECK(kit.idle());
}

TEST_CASE("run goes on until no actor can run, and says how many messages were handled") {
  test_system kit(1);
  const auto a = kit.spawn<account_actor>();
  for (int i = 0; i < 100; ++i) send(a, deposit{1});
  CHECK(kit.run() == 100);
  CHECK(kit.run() == 0);
}

TEST_CASE("an endless exchange of messages is reported as a livelock") {
  testkit::settings o;
  o.turn_limit = 1000;
  test_system kit(o);
  const auto a = kit.spawn([](dynamic_actor& self) -> behavior {
    return {[&self](int x) { self.send(any_ref(self.self()), x); }};
  });
  send(a, 1);
  CHECK_THROWS_AS(kit.run(), testkit::failure);
  kit.kill(a);
  kit.run();
  kit.expect_down(a);
}

TEST_CASE("virtual time stands still until it is moved, and timers fire exactly at their time") {
  test_system kit(1);
  const auto t = kit.spawn<ticking_actor>();
  kit.run();
  const instant start = kit.now();
  CHECK(kit.inspect<ticking_actor>(t).ticks == 0);
  kit.run_for(duration::milliseconds(3500));
  CHECK(kit.inspect<ticking_actor>(t).ticks == 3);
  CHECK(kit.inspect<ticking_actor>(t).last - start == duration::seconds(3));
  CHECK(kit.now() - start == duration::milliseconds(3500));
  kit.run_for(duration::seconds(3600 * 24));
  CHECK(kit.inspect<ticking_actor>(t).ticks == 3 + 3600 * 24);
}

TEST_CASE("the mailbox of a suspended child shows the messages that wait for its next object") {
  test_system kit;
  const auto top =
      kit.spawn<supervisor>(supervision{.delay = {.first = duration::seconds(10), .jitter = 0}});
  const auto child = supervise<failing_actor>(top);
  send(child, tick{});
  kit.run();  // it has failed, and its supervisor waits before the restart
  send(child, note{"first"});
  send(child, note{"second"});
  kit.run();
  const auto waiting = kit.mailbox(child);
  REQUIRE(waiting.size() == 2);
  CHECK(waiting[0].find("first") != std::string::npos);
  CHECK(waiting[1].find("second") != std::string::npos);
  kit.run_for(duration::seconds(11));
  CHECK(kit.mailbox(child).empty());
  CHECK(kit.inspect<failing_actor>(child).text == "firstsecond");
}

TEST_CASE("advance puts due messages into mailboxes and lets no actor run") {
  test_system kit(1);
  const auto t = kit.spawn<ticking_actor>();
  kit.run();
  CHECK(kit.advance(duration::seconds(2)) == 2);
  CHECK(kit.inspect<ticking_actor>(t).ticks == 0);
  CHECK(kit.mailbox(t).size() == 2);
  kit.run();
  CHECK(kit.inspect<ticking_actor>(t).ticks == 2);
}

TEST_CASE("run_until moves time only as far as it must") {
  test_system kit(1);
  const auto t = kit.spawn<ticking_actor>();
  const instant start = kit.now();
  CHECK(kit.run_until([&] { return kit.inspect<ticking_actor>(t).ticks == 5; }));
  CHECK(kit.now() - start == duration::seconds(5));
  CHECK_FALSE(kit.run_until([&] { return kit.inspect<ticking_actor>(t).ticks == 100; },
                            duration::seconds(10)));
}

TEST_CASE("a request from the test runs the system until the answer is there") {
  test_system kit(1);
  const auto a = kit.spawn<account_actor>();
  send(a, deposit{5});
  CHECK(kit.request(a, balance{}).get().value() == 5);
}

TEST_CASE("a request with a time-out gets it in virtual time") {
  test_system kit(1);
  const auto silent =
      kit.spawn([](typed_actor<protocol<int(int)>>&) -> typed_behavior<protocol<int(int)>> {
        static std::vector<response_promise<int>> kept;
        kept.clear();
        return {[](int) -> int { return 1; }};
      });
  CHECK(kit.request(silent, 1).get().value() == 1);

  class never_actor : public actor<protocol<int(int)>> {
   public:
    result<int> on(int) {
      kept_.push_back(make_promise<int>());
      return std::move(kept_.back());
    }

   private:
    std::vector<response_promise<int>> kept_;
  };
  const auto never = kit.spawn<never_actor>();
  const instant start = kit.now();
  CHECK(kit.request(never, 1, duration::seconds(30)).get().error() == errc::timeout);
  CHECK(kit.now() - start == duration::seconds(30));
}

TEST_CASE("a request that no actor will ever answer is an error, not a hang") {
  class never_actor : public actor<protocol<int(int)>> {
   public:
    result<int> on(int) {
      kept_.push_back(make_promise<int>());
      return std::move(kept_.back());
    }

   private:
    std::vector<response_promise<int>> kept_;
  };
  test_system kit(1);
  const auto never = kit.spawn<never_actor>();
  CHECK(kit.request(never, 1).get().error() == errc::would_block);
}

TEST_CASE("a receive that no actor can end ends the test with the reason") {
  test_system kit(1);
  garrick::scoped_actor me(kit.env());
  try {
    me->receive([](int) {});
    FAIL("it received");
  } catch (const garrick::blocking_actor_ends& x) {
    CHECK(std::string(x.what()).find("the wait would never end") != std::string::npos);
  }
}

TEST_CASE("ids and names of actors are the same in every run") {
  for (int i = 0; i < 2; ++i) {
    test_system kit(1);
    const auto a = kit.spawn(spawn_options{.name = "cashier"},
                             [](dynamic_actor&) -> behavior { return {[](int) {}}; });
    const auto b = kit.spawn<account_actor>();
    CHECK(a.to_string() == "cashier#1");
    CHECK(b.id() == 2);
  }
}

TEST_CASE("a handler that fails is recorded with its text") {
  test_system kit(1);
  const auto a = kit.spawn([](dynamic_actor&) -> behavior {
    return {[](int) { throw std::runtime_error("no paper"); }};
  });
  send(a, 1);
  kit.run();
  kit.expect_down(a, exit_code::unhandled_exception);
  REQUIRE(kit.failures().size() == 1);
  CHECK(kit.failures().front().find("no paper") != std::string::npos);
  kit.expect_dead_letter<int>(errc::receiver_failed);
}

TEST_CASE("actors that only each other's handles keep alive are named as a leak") {
  test_system kit(1);
  {
    const auto x = kit.spawn<holder_actor>();
    const auto y = kit.spawn<holder_actor>();
    const auto alone = kit.spawn<holder_actor>();
    send(x, any_ref(y));
    send(y, any_ref(x));
    send(alone, any_ref(alone));
  }
  const testkit::leak_report report = kit.finish();
  REQUIRE(report.cycles.size() == 2);
  CHECK(report.cycles[0].find("#1, ") != std::string::npos);
  CHECK(report.cycles[0].find("#2") != std::string::npos);
  CHECK(report.cycles[1].find("#3") != std::string::npos);
  CHECK(kit.actor_count() == 0);
}

TEST_CASE(
    "actors that the test holds, directly or through others, and actors with a timer are no leak") {
  test_system kit(1);
  const auto root = kit.spawn<holder_actor>();
  {
    const auto x = kit.spawn<holder_actor>();
    const auto y = kit.spawn<holder_actor>();
    send(root, any_ref(x));
    send(x, any_ref(y));
    send(y, any_ref(x));
    kit.spawn<ticking_actor>();
  }
  kit.run();
  CHECK(kit.actor_count() == 4);
  CHECK(kit.finish().cycles.empty());
}

TEST_CASE("an actor without handles is gone without a leak") {
  test_system kit(1);
  {
    const auto x = kit.spawn<holder_actor>();
    send(x, any_ref(kit.spawn<holder_actor>()));
  }
  kit.run();
  CHECK(kit.actor_count() == 0);
  CHECK(kit.finish().cycles.empty());
}

TEST_CASE("handles may outlive the system") {
  ref<account> left;
  {
    test_system kit(1);
    left = kit.spawn<account_actor>();
  }
  send(left, deposit{1});
}

TEST_CASE("a sender runs its full receiver in place where that is switched on") {
  for (const bool on : {false, true}) {
    test_system kit(
        testkit::settings{.mailbox = {.soft_limit = 4, .in_place = on, .full_wait = {}}});
    base::this_thread.free_sends = 0;  // an earlier test may have left some
    bool in_handler = false;
    int handled = 0;
    int in_place = 0;
    const auto to = kit.spawn(lent([&](dynamic_actor&) -> behavior {
      return {[&](int) {
        ++handled;
        if (in_handler) ++in_place;
      }};
    }));
    const auto from = kit.spawn(lent([&](dynamic_actor&) -> behavior {
      return {[&](tick) {
        in_handler = true;
        for (int i = 0; i < 10; ++i) send(to, i);
        in_handler = false;
      }};
    }));
    kit.run();
    send(from, tick{});
    kit.run();
    CHECK(handled == 10);
    CHECK(in_place == (on ? 8 : 0));
  }
}

TEST_CASE("only an actor's send can run another in place, not the test") {
  test_system kit(1);
  const auto to = kit.spawn<account_actor>();
  kit.run();
  send(to, deposit{1});
  core::cell& queued = *core::handle_access::get(to);
  CHECK_FALSE(queued.home_executor().claim(queued));
  CHECK(kit.run() == 1);
}

TEST_CASE("a spawn after the end is refused, and so is one that an end brings") {
  struct heir : actor<protocol<void(tick)>> {
    ref<account>* left;
    explicit heir(ref<account>* to) : left(to) {}
    void on_exit(const exit_reason&) { *left = spawn<account_actor>(); }
    void on(const tick&) {}
  };
  ref<account> left;
  test_system kit(1);
  const auto dying = kit.spawn<heir>(lent(&left));
  kit.run();
  CHECK(kit.finish().cycles.empty());
  const auto refused = [&](const ref<account>& who) {
    return core::handle_access::get(who)->end_reason().as_error() == errc::shutting_down;
  };
  kit.expect_down(left);
  CHECK(refused(left));
  const auto late = kit.spawn<account_actor>();
  kit.expect_down(late);
  CHECK(refused(late));
}

}  // namespace test_system_test
