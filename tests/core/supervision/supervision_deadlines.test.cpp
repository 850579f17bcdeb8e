// Supervision in bounded time: a child whose handler does not return holds up neither its group's
// restart nor any other actor's end.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace supervision_deadlines_test {

namespace {

using namespace garrick;
using testkit::test_system;
using lines = std::vector<std::string>;

/// Notes of the events, in order; shared with the test on its one thread.
struct pen {
  using garrick_sendable = void;
  std::shared_ptr<lines> to = std::make_shared<lines>();
  void operator()(std::string s) const { to->push_back(std::move(s)); }
  lines take() const { return std::exchange(*to, {}); }
};

struct fail {};
struct fail_in_two_seconds {};
struct noting : actor<protocol<void(fail), void(fail_in_two_seconds)>> {
  std::string name;
  pen notes;
  noting(std::string n, pen p) : name(std::move(n)), notes(std::move(p)) {}
  ~noting() { notes("-" + name); }
  void on(fail) { throw std::runtime_error("failed"); }
  void on(fail_in_two_seconds) { send_after(duration::seconds(2), self(), fail{}); }
};

struct fail_then_hang {
  any_ref who;  ///< told to fail once this child hangs
};
struct hanging : actor<protocol<void(fail_then_hang)>> {
  test_system* kit;
  pen notes;
  hanging(test_system* k, pen p) : kit(k), notes(std::move(p)) {}
  ~hanging() { notes("-b"); }
  /// Does not return for an hour, while all other actors go on.
  void on(const fail_then_hang& f) {
    send(f.who, fail{});
    core::scoped_actor inside(kit->env());
    inside->receive([](int) {}, after(duration::seconds(3600)) >> [] {});
    notes("b returns");
  }
};
struct listener : actor<protocol<void(any_ref)>> {
  test_system* kit;
  pen notes;
  listener(test_system* k, pen p) : kit(k), notes(std::move(p)) {}
  void on(const any_ref& who) {
    monitor(who, [this, since = kit->now()](const down& d) {
      notes((kit->now() - since).to_string() + ": " + d.reason.to_string());
    });
  }
};

/// A group whose second child will hang, and an actor that watches their supervisor.
template <class Hanging>
struct group_of_three {
  test_system kit{5};
  pen notes;
  ref<supervisor_protocol> top;
  ref<noting::protocol_type> a;
  ref<typename Hanging::protocol_type> b;
  ref<noting::protocol_type> c;
  ref<listener::protocol_type> watcher;

  template <class... More>
  explicit group_of_three(restart_strategy strategy, More... more)
      : top(kit.spawn<supervisor>(
            supervision{.strategy = strategy, .stop_within = duration::seconds(20)})),
        a(supervise<noting>(top, child_options{.name = "a"}, std::string("a"), notes)),
        b(supervise<Hanging>(top, child_options{.name = "b", .stop_within = duration::seconds(3)},
                             lent(&kit), notes, std::move(more)...)),
        c(supervise<noting>(top, child_options{.name = "c"}, std::string("c"), notes)),
        watcher(kit.spawn<listener>(lent(&kit), notes)) {
    send(watcher, any_ref(top));
    kit.run();
    notes.take();
  }
};

}  // namespace

TEST_CASE(
    "a supervisor does not wait for ever for a child that hangs when its group is to be restarted: "
    "it gives up and names it") {
  for (const restart_strategy strategy : {one_for_all, rest_for_one}) {
    group_of_three<hanging> group(strategy);
    auto& [kit, notes, top, a, b, c, watcher] = group;
    send(b, fail_then_hang{any_ref(a)});
    kit.run_for(duration::seconds(3601));
    const lines all = notes.take();
    REQUIRE(all.size() == 5);
    CHECK(lines(all.begin(), all.begin() + 2) == lines{"-a", "-c"});
    CHECK(all[2].starts_with("3s: "));
    CHECK(all[2].find("b#" + std::to_string(b.id()) + " was to be restarted with its group") !=
          std::string::npos);
    CHECK(lines(all.begin() + 3, all.end()) == lines{"b returns", "-b"});
    for (const any_ref& child : {any_ref(a), any_ref(b), any_ref(c)}) kit.expect_down(child);
  }
}

namespace {

struct shared_count {
  using garrick_sendable = void;
  std::shared_ptr<int> n = std::make_shared<int>(0);
};
/// Its second object fails another child while it is built, and does not return from its start for
/// an hour.
struct slow_to_start : actor<protocol<void(fail)>> {
  test_system* kit;
  shared_count built;
  slow_to_start(test_system* k, shared_count c, any_ref victim) : kit(k), built(std::move(c)) {
    if (++*built.n != 2) return;
    send(victim, fail{});
    wait(1);
  }
  void on_start() {
    if (*built.n == 2) wait(3600);
  }
  void on(fail) {}

 private:
  void wait(int seconds) {
    core::scoped_actor inside(kit->env());
    inside->receive([](int) {}, after(duration::seconds(seconds)) >> [] {});
  }
};

}  // namespace

TEST_CASE("another child's end gives one that hangs no more time") {
  test_system kit(5);
  pen notes;
  auto top = kit.spawn<supervisor>(supervision{.strategy = one_for_all});
  auto passing =
      supervise<noting>(top, child_options{.name = "passing", .restart = restart_policy::temporary},
                        std::string("passing"), notes);
  auto a = supervise<noting>(top, child_options{.name = "a"}, std::string("a"), notes);
  auto b = supervise<hanging>(top, child_options{.name = "b", .stop_within = duration::seconds(3)},
                              lent(&kit), notes);
  auto l = kit.spawn<listener>(lent(&kit), notes);
  send(l, any_ref(top));
  kit.run();
  send(passing, fail_in_two_seconds{});
  send(b, fail_then_hang{any_ref(a)});
  kit.run_for(duration::seconds(3601));
  const lines all = notes.take();
  REQUIRE(all.size() == 5);
  CHECK(lines(all.begin(), all.begin() + 2) == lines{"-a", "-passing"});
  CHECK(all[2].starts_with("3s: "));
  for (const any_ref& child : {any_ref(a), any_ref(b), any_ref(passing)}) kit.expect_down(child);
}

TEST_CASE("a child that comes up while it is asked to suspend keeps its deadline") {
  test_system kit(9);
  pen notes;
  auto top = kit.spawn<supervisor>(
      supervision{.strategy = one_for_all, .stop_within = duration::seconds(3)});
  auto a = supervise<noting>(top, child_options{.name = "a"}, std::string("a"), notes);
  auto b = supervise<slow_to_start>(top, child_options{.name = "b"}, lent(&kit), shared_count(),
                                    any_ref(a));
  auto l = kit.spawn<listener>(lent(&kit), notes);
  send(l, any_ref(top));
  kit.run();
  send(a, fail{});
  kit.run_for(duration::seconds(3700));
  const lines all = notes.take();
  REQUIRE(all.size() == 3);
  CHECK(lines(all.begin(), all.begin() + 2) == lines{"-a", "-a"});
  CHECK(all[2].starts_with("3s: "));
  CHECK(all[2].find("b#" + std::to_string(b.id()) + " was to be restarted with its group") !=
        std::string::npos);
}

TEST_CASE(
    "once a group is restarted, no deadline of it is left that would keep the supervisor alive") {
  test_system kit(7);
  pen notes;
  auto top = kit.spawn<supervisor>(supervision{.strategy = one_for_all});
  auto a = supervise<noting>(top, std::string("a"), notes);
  auto b = supervise<noting>(top, std::string("b"), notes);
  send(a, fail{});
  kit.run();
  CHECK(notes.take() == lines{"-a", "-b"});
  CHECK(kit.timers_pending() == 0);
}

namespace {

struct begin {};
/// After one second it starts another child that hangs. After two it stops all children, and notes
/// the result.
struct stopper : actor<protocol<void(begin), void(int)>> {
  test_system* kit;
  pen notes;
  ref<supervisor_protocol> top;
  base::instant began;
  stopper(test_system* k, pen p, ref<supervisor_protocol> t)
      : kit(k), notes(std::move(p)), top(std::move(t)), began(k->now()) {}
  void on(begin) {
    send_after(duration::seconds(1), self(), 1);
    send_after(duration::seconds(2), self(), 2);
  }
  void on(int step) {
    if (step == 1) {
      const auto late = core::supervise<hanging>(
          top, child_options{.name = "c", .stop_within = duration::seconds(9)}, lent(kit), notes);
      return send(late, fail_then_hang{any_ref(self())});
    }
    request(top, stop_children{}).then([this](const stop_report& r) {
      notes((kit->now() - began).to_string());
      for (const std::string& who : r.still_alive) notes(who.substr(0, 1));
    });
  }
};

}  // namespace

TEST_CASE("all children can be stopped while one hangs that is to be restarted with its group") {
  test_system kit(5);
  pen notes;
  auto top = kit.spawn<supervisor>(
      supervision{.strategy = one_for_all, .stop_within = duration::seconds(3)});
  auto a = supervise<noting>(top, child_options{.name = "a"}, std::string("a"), notes);
  auto b = supervise<hanging>(top, child_options{.name = "b"}, lent(&kit), notes);
  auto s = kit.spawn<stopper>(lent(&kit), notes, top);
  kit.run();
  notes.take();
  send(s, begin{});
  send(b, fail_then_hang{any_ref(a)});
  kit.run_for(duration::seconds(4000));
  const lines all = notes.take();
  REQUIRE(all.size() > 4);
  CHECK(lines(all.begin(), all.begin() + 4) == lines{"-a", "14s", "c", "b"});
  kit.expect_alive(top);
}

namespace {

/// Its second constructor does not return for an hour.
struct late_to_rise : actor<protocol<void(fail)>> {
  pen notes;
  late_to_rise(test_system* kit, pen p, std::shared_ptr<int> built) : notes(std::move(p)) {
    if (++*built != 2) return;
    core::scoped_actor inside(kit->env());
    inside->receive([](int) {}, after(duration::seconds(3600)) >> [] {});
    notes("b stands");
  }
  ~late_to_rise() { notes("-b"); }
  void on(fail) {}
};

}  // namespace

TEST_CASE(
    "a supervisor does not wait for ever for a constructor that hangs while its group is "
    "restarted") {
  for (const restart_strategy strategy : {one_for_all, rest_for_one}) {
    group_of_three<late_to_rise> group(strategy, lent(std::make_shared<int>(0)));
    auto& [kit, notes, top, a, b, c, watcher] = group;
    send(a, fail{});
    kit.run_for(duration::seconds(3601));
    const lines all = notes.take();
    REQUIRE(all.size() > 4);
    CHECK(lines(all.begin(), all.begin() + 3) == lines{"-a", "-c", "-b"});
    const std::string gave_up =
        "b#" + std::to_string(b.id()) + " was to be restarted with its group, and its constructor";
    CHECK(std::count_if(all.begin(), all.end(), [&](const std::string& s) {
            return s.starts_with("3s: ") && s.find(gave_up) != std::string::npos;
          }) == 1);
    for (const any_ref& child : {any_ref(a), any_ref(b), any_ref(c)}) kit.expect_down(child);
  }
}

TEST_CASE("once a group has risen again, no deadline of a constructor is left") {
  test_system kit(7);
  pen notes;
  auto top = kit.spawn<supervisor>(supervision{.strategy = one_for_all});
  auto a = supervise<noting>(top, std::string("a"), notes);
  auto b = supervise<late_to_rise>(top, lent(&kit), notes, lent(std::make_shared<int>(5)));
  send(a, fail{});
  kit.run();
  kit.expect_alive(b);
  CHECK(kit.timers_pending() == 0);
}

TEST_CASE("a child that has suspended in time leaves no deadline while its group waits") {
  test_system kit(7);
  pen notes;
  auto top = kit.spawn<supervisor>(
      supervision{.strategy = one_for_all, .delay = {.first = duration::seconds(1), .jitter = 0}});
  auto a = supervise<noting>(top, std::string("a"), notes);
  auto b = supervise<noting>(top, std::string("b"), notes);
  send(a, fail{});
  kit.run();
  CHECK(notes.take() == lines{"-a", "-b"});
  CHECK(kit.timers_pending() == 1);  // the end of the delay
}

TEST_CASE("a child that is stopped while it is to be restarted has one deadline, the new one") {
  test_system kit(7);
  pen notes;
  auto top = kit.spawn<supervisor>(supervision{.strategy = one_for_all});
  auto a = supervise<noting>(top, child_options{.name = "a"}, std::string("a"), notes);
  kit.run();
  send(a, fail{});
  kit.expect<fail>().to(a);
  send(top, stop_child{"a"});
  kit.expect<stop_child>().to(top);  // after it was told of the failure
  CHECK(kit.timers_pending() == 1);
  kit.run();
  kit.expect_down(a);
  CHECK(kit.timers_pending() == 0);
}

namespace {

/// Supervises two, and is in a handler when the answer of the older one comes, and its deadline.
struct late_listener : actor<protocol<void(begin)>> {
  test_system* kit;
  ref<protocol<void(fail)>> older, younger;
  late_listener(test_system* k, pen notes) : kit(k) {
    set_supervision({.strategy = one_for_all, .stop_within = duration::seconds(3)});
    older = supervise<noting>(std::string("a"), notes);
    younger = supervise<noting>(std::string("b"), std::move(notes));
  }
  void on(begin) {
    core::scoped_actor inside(kit->env());
    inside->receive([](int) {}, after(duration::seconds(4)) >> [] {});
  }
};

}  // namespace

TEST_CASE("a deadline that comes after the answer is none for the constructor that follows") {
  test_system kit(7);
  pen notes;
  auto top = kit.spawn<late_listener>(lent(&kit), notes);
  kit.run();
  const auto younger = kit.inspect<late_listener>(top).younger;
  send(younger, fail{});
  kit.expect<fail>().to(younger);
  send(top, begin{});
  kit.run();
  CHECK(notes.take() == lines{"-b", "-a"});
  kit.expect_alive(top);
  CHECK(kit.failures().size() == 1);
}

TEST_CASE(
    "a failure while a group waits begins its delay anew: the end of the old one is ignored") {
  test_system kit(7);
  pen notes;
  auto top = kit.spawn<supervisor>(
      supervision{.strategy = one_for_all, .delay = {.first = duration::seconds(1), .jitter = 0}});
  const auto is_running = [&] {
    return kit.request(top, list_children{}).get().value()[0].running;
  };
  auto a = supervise<noting>(top, std::string("a"), notes);
  send(a, fail{});
  kit.run_for(duration::milliseconds(500));
  auto b = supervise<noting>(top, std::string("b"), notes);
  send(b, fail{});
  kit.run_for(duration::milliseconds(999));
  CHECK_FALSE(is_running());
  kit.run_for(duration::milliseconds(1));
  CHECK(is_running());
}

}  // namespace supervision_deadlines_test
