// Blocking actors receive in a loop on a thread of their own; scoped actors let any thread take
// part; detached actors have their own thread from a bounded pool.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace blocking_actors_test {

namespace {

using namespace garrick;
using core::scoped_actor;

TEST_CASE("blocking actor receives in a loop") {
  actor_system system;
  scoped_actor me(system.env());
  const any_ref summer = system.spawn(
      [](blocking_actor& self, const any_ref& to) {
        int sum = 0;
        bool go_on = true;
        self.receive_while([&] { return go_on; }, [&](int x) { sum += x; },
                           [&](const std::string&) { go_on = false; });
        send(to, sum);
      },
      me->self());
  for (int i = 1; i <= 1000; ++i) send(summer, i);
  send(summer, std::string("end"));
  int got = 0;
  me->receive([&](int x) { got = x; });
  CHECK(got == 500'500);
}

TEST_CASE("receive is selective: a message that no case takes stays, in order") {
  actor_system system;
  scoped_actor me(system.env());
  const any_ref self = me->self();
  send(self, 1);
  send(self, std::string("a"));
  send(self, 2);
  send(self, 2.5);
  send(self, 3);
  std::vector<std::string> log;
  me->receive([&](double) { log.push_back("double"); });
  me->receive([&](const std::string& s) { log.push_back(s); });
  for (int i = 0; i < 3; ++i) me->receive([&](int x) { log.push_back(std::to_string(x)); });
  CHECK(log == std::vector<std::string>{"double", "a", "1", "2", "3"});
}

TEST_CASE("receive with a time-out") {
  actor_system system;
  scoped_actor me(system.env());
  bool timed_out = false;
  const instant before = base::real_clock().now();
  CHECK(!me->receive([](int) {}, after(duration::milliseconds(3)) >> [&] { timed_out = true; }));
  CHECK(timed_out);
  CHECK(base::real_clock().now() - before >= duration::milliseconds(3));
  send(me->self(), 5);
  int got = 0;
  CHECK(me->receive([&](int x) { got = x; },
                    after(duration::seconds(100)) >> [] { FAIL("there was a message"); }));
  CHECK(got == 5);
}

TEST_CASE("receive with a time-out of zero looks at the mailbox and returns") {
  actor_system system;
  scoped_actor me(system.env());
  bool timed_out = false;
  CHECK(!me->receive([](int) {}, after(duration()) >> [&] { timed_out = true; }));
  CHECK(timed_out);
  send(me->self(), 1);
  CHECK(me->receive([](int) {}, after(duration()) >> [] { FAIL("there was a message"); }));
}

TEST_CASE("blocking actor waits for answers with get, and other mail stays") {
  actor_system system;
  const any_ref doubler =
      system.spawn([](dynamic_actor&) -> behavior { return {[](int x) { return x * 2; }}; });
  scoped_actor me(system.env());
  send(me->self(), std::string("before"));
  CHECK(me->get(me->request_as<int>(doubler, 21)).value() == 42);
  CHECK(me->get(me->request_as<std::string>(doubler, 21)).error() == errc::unexpected_message);
  CHECK(me->get(me->request_as<int>(doubler, 2.5)).error() == errc::unexpected_message);
  std::string got;
  me->receive([&](const std::string& s) { got = s; });
  CHECK(got == "before");
}

TEST_CASE("get with a time-out") {
  actor_system system;
  const any_ref silent = system.spawn([](dynamic_actor& self) -> behavior {
    self.set_unmatched(unmatched::skip);
    return {[](double) {}};
  });
  scoped_actor me(system.env());
  CHECK(me->get(me->request_as<int>(silent, 1).within(duration::milliseconds(2))).error() ==
        errc::timeout);
}

TEST_CASE("then and await run while a blocking actor receives") {
  actor_system system;
  const any_ref doubler =
      system.spawn([](dynamic_actor&) -> behavior { return {[](int x) { return x * 2; }}; });
  scoped_actor me(system.env());
  std::vector<int> log;
  send(me->self(), 1);
  me->request_as<int>(doubler, 5).await([&](int x) { log.push_back(x); });
  // the await comes first although the message was there before
  me->receive([&](int x) { log.push_back(x); });
  me->request_as<int>(doubler, 6).then([&](int x) {
    log.push_back(x);
    send(me->self(), 2);
  });
  me->receive([&](int x) { log.push_back(x); });
  CHECK(log == std::vector<int>{10, 1, 12, 2});
}

TEST_CASE("blocking actor that is told to end unwinds") {
  actor_system system;
  auto unwound = std::make_shared<std::atomic<int>>(0);
  struct at_end {
    std::shared_ptr<std::atomic<int>> n;
    ~at_end() { ++*n; }
  };
  const any_ref waits = system.spawn(lent([unwound](blocking_actor& self) {
    const at_end a{unwound};
    for (;;) self.receive([](int) {});
  }));
  const any_ref sleeps = system.spawn(lent([unwound](blocking_actor& self) {
    const at_end a{unwound};
    for (;;) self.receive([](int) {}, after(duration::seconds(3600)) >> [] {});
  }));
  const any_ref asks = system.spawn(lent([unwound, waits](blocking_actor& self) {
    const at_end a{unwound};
    static_cast<void>(self.get(self.request_as<int>(waits, 2.5)));
  }));
  system.exit(asks);
  system.exit(waits);
  system.exit(sleeps);
  CHECK(system.await_all().has_value());
  CHECK(*unwound == 3);
}

TEST_CASE("blocking actor that sleeps without a handle to it ends with the system") {
  actor_system system;
  static_cast<void>(system.spawn([](blocking_actor& self) {
    self.receive([](int) {}, after(duration::seconds(3600)) >> [] {});
  }));
  CHECK(system.stop_now(duration::seconds(10)).complete);
}

TEST_CASE("blocking actor that waits for ever without a handle to it is reclaimed") {
  actor_system system;
  static_cast<void>(system.spawn([](blocking_actor& self) { self.receive([](int) {}); }));
  CHECK(system.await_all().has_value());
}

TEST_CASE(
    "exception in a blocking actor ends it with the text; in a scoped actor it reaches its "
    "thread") {
  actor_system system({.log = {.level = system::log_level::off}});
  scoped_actor me(system.env());
  const any_ref a = system.spawn([](blocking_actor& self) {
    self.receive([](int) -> int { throw std::runtime_error("no room"); });
  });
  const error why = me->get(me->request_as<int>(a, 1)).error();
  CHECK(why == errc::receiver_failed);
  CHECK(why.detail().find("no room") != std::string_view::npos);
  send(me->self(), 1);
  CHECK_THROWS_AS(me->receive([](int) { throw std::runtime_error("mine"); }), std::runtime_error);
  send(me->self(), 2);
  CHECK(me->receive([](int) {}));
}

TEST_CASE("scoped actors on many threads talk through one actor") {
  actor_system system;
  const any_ref counter = system.spawn([](dynamic_actor&) -> behavior {
    auto n = std::make_shared<int>(0);
    return {[n](int x) { return *n += x; }};
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      scoped_actor me(system.env());
      for (int i = 0; i < 200; ++i) CHECK(me->get(me->request_as<int>(counter, 1)).has_value());
    });
  for (auto& t : threads) t.join();
  CHECK(system.request_as<int>(counter, 0).get().value() == 1600);
}

TEST_CASE("scoped actor that is told to end gets an exception that says so") {
  actor_system system;
  scoped_actor me(system.env());
  system.exit(me->self());
  CHECK_THROWS_AS(me->receive([](int) {}), std::exception);
}

TEST_CASE("message to a scoped actor that has gone is a dead letter") {
  actor_system system;
  any_ref gone;
  {
    scoped_actor me(system.env());
    gone = me->self();
    send(gone, 1);
  }
  send(gone, 2);
  CHECK(system.dead_letter_count(errc::not_handled) == 2);
}

TEST_CASE(
    "a scoped actor is the sender of its messages, also of those that its cases send; a thread's "
    "own messages have no sender") {
  testkit::test_system kit(1);
  const auto gone = kit.spawn([](dynamic_actor& self) { self.quit(); });
  kit.run();
  scoped_actor me(kit.env());
  const auto sender_of_next = [&] { return kit.expect_dead_letter(errc::not_handled).sender; };
  me->send(gone, 1);
  CHECK(sender_of_next() == me->id());
  send(gone, 2);
  CHECK(sender_of_next() == 0);
  send(me->self(), 3);
  me->receive([&](int x) { send(gone, x); });
  CHECK(sender_of_next() == me->id());
  scoped_actor other(kit.env());
  send(me->self(), 4);
  me->receive([&](int x) {
    other->send(gone, x);
    send(gone, x);
  });
  CHECK(sender_of_next() == other->id());
  CHECK(sender_of_next() == me->id());
  send(gone, 5);
  CHECK(sender_of_next() == 0);
}

TEST_CASE("detached actor runs on a thread of its own, which is reused") {
  settings o;
  o.scheduler.workers = 1;
  actor_system system(o);
  const any_ref worker = system.spawn([](dynamic_actor&) -> behavior {
    return {[](int) { return std::hash<std::thread::id>()(std::this_thread::get_id()); }};
  });
  const auto worker_thread = system.request_as<std::size_t>(worker, 1).get().value();
  std::set<std::size_t> seen;
  for (int i = 0; i < 20; ++i) {
    const any_ref d = system.spawn(spawn_options{.detached = true}, [](dynamic_actor&) -> behavior {
      return {[](int) { return std::hash<std::thread::id>()(std::this_thread::get_id()); }};
    });
    seen.insert(system.request_as<std::size_t>(d, 1).get().value());
    system.exit(d);
    while (system.actor_count() != 1) std::this_thread::yield();
  }
  CHECK(seen.count(worker_thread) == 0);
  CHECK(seen.size() <= 20);
}

TEST_CASE(
    "detached actors beyond the pool's bound are spawn errors, and its threads are given back") {
  settings o;
  o.detached.threads = 2;
  actor_system system(o);
  const auto body = [](blocking_actor& self) { self.receive([](int) {}); };
  const any_ref one = system.spawn(body);
  const any_ref two = system.spawn(body);
  const any_ref three = system.spawn(body);
  CHECK(system.request_as<>(three, 1).get().error() == errc::not_handled);
  const error why = core::handle_access::get(three)->end_reason().as_error();
  CHECK(why == errc::spawn_failed);
  CHECK(why.detail().find("detached.threads is 2, and so many") != std::string_view::npos);
  send(one, 1);
  // its thread comes back a moment after its actor has ended
  any_ref four;
  do { four = system.spawn(body); } while (core::handle_access::get(four)->has_ended());
  send(two, 1);
  send(four, 1);
  CHECK(system.await_all().has_value());
}

}  // namespace

TEST_CASE(
    "scoped actor in a handler on a worker must not wait: an error with advice, no hang; a "
    "detached one may") {
  settings o;
  o.scheduler.workers = 1;
  actor_system system(o);
  const any_ref doubler =
      system.spawn([](dynamic_actor&) -> behavior { return {[](int x) { return x * 2; }}; });
  const auto asks = [&system, doubler](dynamic_actor&) -> behavior {
    return {[&system, doubler](int x) {
              scoped_actor me(system.env());
              const auto answer = me->get(me->request_as<int>(doubler, x));
              return answer.has_value() ? std::to_string(*answer) : answer.error().to_string();
            },
            [&system](const std::string&) {
              scoped_actor me(system.env());
              try {
                me->receive([](int) {}, after(duration()) >> [] {});
              } catch (const std::logic_error& e) { return std::string(e.what()); }
              return std::string("received");
            }};
  };
  const any_ref on_worker = system.spawn(lent(asks));
  for (const std::string& text :
       {system.request_as<std::string>(on_worker, 1).get().value(),
        system.request_as<std::string>(on_worker, std::string()).get().value()}) {
    CHECK(text.find("worker thread") != std::string::npos);
    CHECK(text.find("co_await") != std::string::npos);
  }
  CHECK(system.request_as<int>(doubler, 4).get().value() == 8);
  const any_ref detached = system.spawn(spawn_options{.detached = true}, lent(asks));
  CHECK(system.request_as<std::string>(detached, 3).get().value() == "6");
  CHECK(system.request_as<std::string>(detached, std::string()).get().value() == "received");
}

namespace {

struct notes {
  using garrick_sendable = void;
  std::shared_ptr<std::vector<std::string>> to = std::make_shared<std::vector<std::string>>();
};

class adding : public blocking_actor {
  notes notes_;
  int begin_with_;
  int sum_ = 0;

 public:
  adding(notes n, int begin_with) : notes_(std::move(n)), begin_with_(begin_with) {}
  ~adding() { notes_.to->push_back("gone"); }
  void on_start() { sum_ = begin_with_; }
  void run() {
    struct leave {
      adding& a;
      ~leave() { a.notes_.to->push_back("left with " + std::to_string(a.sum_)); }
    } const guard{*this};
    bool more = true;
    receive_while([&] { return more; }, [&](int x) { sum_ += x; },
                  [&](const std::string&) { more = false; },
                  [](double) { throw std::runtime_error("no fractions"); });
  }
  void on_exit(const exit_reason& why) { notes_.to->push_back(why.to_string()); }
};

using strings = std::vector<std::string>;

}  // namespace

TEST_CASE("class-based blocking actor lives from on_start to the end of run") {
  testkit::test_system kit(1);
  const notes log;
  const auto a = kit.spawn<adding>(log, 100);
  send(a, 1);
  send(a, 2);
  send(a, std::string("enough"));
  kit.run();
  kit.expect_down(a, exit_code::normal);
  CHECK(*log.to == strings{"left with 103", "normal", "gone"});
}

TEST_CASE(
    "class-based blocking actor that is told to end unwinds, one that throws fails, and neither "
    "takes more mail") {
  testkit::test_system kit(1);
  const notes told, failed;
  const auto a = kit.spawn<adding>(told, 1);
  const auto b = kit.spawn<adding>(failed, 2);
  kit.run();
  kit.exit(a);
  send(b, 0.5);
  kit.run();
  kit.expect_down(a, exit_code::user_shutdown);
  kit.expect_down(b, exit_code::unhandled_exception);
  REQUIRE(told.to->size() == 3);
  CHECK(told.to->front() == "left with 1");
  REQUIRE(failed.to->size() == 3);
  CHECK(failed.to->front() == "left with 2");
  CHECK((*failed.to)[1].find("no fractions") != std::string::npos);
  REQUIRE(kit.failures().size() == 1);
}

TEST_CASE("class-based blocking actor under a supervisor is restarted: run begins again") {
  testkit::test_system kit(1);
  const notes log;
  const auto top = kit.spawn<supervisor>();
  const auto a = core::supervise<adding>(top, child_options{.restart = transient}, log, 10);
  send(a, 0.5);
  send(a, 5);
  send(a, std::string("enough"));
  kit.run();
  kit.expect_down(a, exit_code::normal);
  const strings all = *log.to;
  REQUIRE(all.size() == 6);
  CHECK(all[0] == "left with 10");
  CHECK(all[3] == "left with 15");
}

}  // namespace blocking_actors_test
