// Supervision: the children that are restarted, the effects of a restart, the limit at which a
// supervisor gives up.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace supervision_test {

namespace {

using namespace garrick;
using testkit::test_system;

struct add {
  int n;
};
struct total {};
struct fail {
  std::string why;
};
struct leave {};
struct keep_request {};
struct tick_later {};

using counting = protocol<void(add), int(total), void(fail), void(leave), result<int>(keep_request),
                          void(tick_later)>;

/// Notes of the events, in order; shared with the test on its one thread.
struct journal {
  std::vector<std::string> lines;
  std::vector<std::string> take() { return std::exchange(lines, {}); }
};
struct pen {
  using garrick_sendable = void;
  std::shared_ptr<journal> to = std::make_shared<journal>();
  void operator()(std::string s) const { to->lines.push_back(std::move(s)); }
};

class counter : public actor<counting> {
  std::string name_;
  pen pen_;
  int sum_ = 0;
  std::vector<response_promise<int>> kept_;

 public:
  counter(std::string name, pen p) : name_(std::move(name)), pen_(std::move(p)) {}
  ~counter() { pen_("-" + name_); }
  void on_start() { pen_("+" + name_); }
  void on(add a) { sum_ += a.n; }
  int on(total) const { return sum_; }
  void on(const fail& f) { throw std::runtime_error(f.why); }
  void on(leave) { quit(); }
  result<int> on(keep_request) {
    kept_.push_back(make_promise<int>());
    return kept_.back();
  }
  void on(tick_later) { send_after(duration::seconds(1), self(), add{1000}); }
};

using lines = std::vector<std::string>;

struct trio {
  test_system kit{7};
  pen notes;
  ref<supervisor_protocol> top;
  ref<counting> a, b, c;

  explicit trio(supervision how) {
    top = kit.spawn<supervisor>(how);
    a = supervise<counter>(top, child_options{.name = "a"}, std::string("a"), notes);
    b = supervise<counter>(top, child_options{.name = "b"}, std::string("b"), notes);
    c = supervise<counter>(top, child_options{.name = "c"}, std::string("c"), notes);
    kit.run();
    CHECK(notes.to->take().size() == 3);
  }
  int total_of(const ref<counting>& r) { return kit.request(r, total{}).get().value(); }
};

}  // namespace

TEST_CASE(
    "one_for_one restarts the child that failed, which keeps its address and loses its state") {
  trio t(supervision{.strategy = one_for_one});
  send(t.a, add{1});
  send(t.b, add{2});
  t.kit.run();
  const auto id = t.b.id();
  send(t.b, fail{"once"});
  t.kit.run();
  CHECK(t.notes.to->take() == lines{"-b", "+b"});
  CHECK(t.b.id() == id);
  CHECK(t.total_of(t.a) == 1);
  CHECK(t.total_of(t.b) == 0);
}

TEST_CASE("a restart keeps the child's unread mail, in order") {
  trio t(supervision{});
  send(t.b, fail{"first"});
  send(t.b, add{5});
  send(t.b, fail{"second"});
  send(t.b, add{7});
  t.kit.run();
  CHECK(t.total_of(t.b) == 7);  // the 5 went with the second incarnation
  CHECK(t.notes.to->take() == lines{"-b", "+b", "-b", "+b"});
}

TEST_CASE("one_for_all takes all children down, youngest first, and brings them up, oldest first") {
  trio t(supervision{.strategy = one_for_all});
  send(t.a, add{1});
  t.kit.run();
  send(t.b, fail{"x"});
  t.kit.run();
  CHECK(t.notes.to->take() == lines{"-b", "-c", "-a", "+a", "+b", "+c"});
  CHECK(t.total_of(t.a) == 0);
}

TEST_CASE("rest_for_one restarts the failed child and those started after it") {
  trio t(supervision{.strategy = rest_for_one});
  send(t.a, add{1});
  t.kit.run();
  send(t.b, fail{"x"});
  t.kit.run();
  CHECK(t.notes.to->take() == lines{"-b", "-c", "+b", "+c"});
  CHECK(t.total_of(t.a) == 1);
  send(t.a, fail{"x"});
  t.kit.run();
  CHECK(t.notes.to->take() == lines{"-a", "-c", "-b", "+a", "+b", "+c"});
}

TEST_CASE("one_for_all keeps or drops the unread mail of those it restarts") {
  for (const bool keep : {true, false}) {
    CAPTURE(keep);
    trio t(supervision{.strategy = one_for_all, .keep_mail = keep});
    send(t.b, fail{"x"});
    t.kit.expect<fail>().to(t.b);
    send(t.b, add{3});
    t.kit.run();
    CHECK(t.total_of(t.b) == (keep ? 3 : 0));
    if (!keep) t.kit.expect_dead_letter<add>(errc::not_handled);
  }
}

TEST_CASE("the message that kills a child is a dead letter with its type and reason") {
  trio t(supervision{});
  send(t.a, fail{"out of tea"});
  t.kit.run();
  const auto letter = t.kit.expect_dead_letter<fail>(errc::receiver_failed);
  CHECK(letter.receiver == t.a.id());
  CHECK(letter.reason.to_string().find("out of tea") != std::string::npos);
}

TEST_CASE("a request that the failed child held gets receiver_failed") {
  trio t(supervision{});
  auto held = t.kit.request(t.a, keep_request{});
  t.kit.run();
  send(t.a, fail{"x"});
  t.kit.run();
  CHECK(held.get().error() == errc::receiver_failed);
}

TEST_CASE("a restart cancels the child's timers") {
  trio t(supervision{});
  send(t.a, tick_later{});
  send(t.b, tick_later{});
  t.kit.run();
  send(t.a, fail{"x"});
  t.kit.run_for(duration::seconds(5));
  CHECK(t.total_of(t.a) == 0);
  CHECK(t.total_of(t.b) == 1000);
}

TEST_CASE("a late response from before the restart is ignored") {
  struct slow_ask {};
  using asking = protocol<void(slow_ask), void(fail), int(total)>;
  struct late : actor<counting> {
    response_promise<int> kept;
    void on(add) { kept.deliver(1); }
    int on(total) { return 0; }
    void on(const fail&) {}
    void on(leave) {}
    result<int> on(keep_request) {
      kept = make_promise<int>();
      return kept;
    }
    void on(tick_later) {}
  };
  struct asker : actor<asking> {
    ref<counting> whom;
    pen notes;
    asker(ref<counting> w, pen p) : whom(std::move(w)), notes(std::move(p)) {}
    void on(slow_ask) {
      request(whom, keep_request{})
          .then([this](int) { notes("answered"); }, [this](const error&) { notes("error"); });
    }
    void on(const fail&) { throw std::runtime_error("x"); }
    int on(total) { return 0; }
  };
  test_system kit(3);
  pen notes;
  auto top = kit.spawn<supervisor>(supervision{});
  auto slow = kit.spawn<late>();
  auto a = supervise<asker>(top, slow, notes);
  send(a, slow_ask{});
  kit.run();
  send(a, fail{});
  kit.run();
  send(slow, add{1});
  kit.run();
  CHECK(notes.to->lines.empty());
}

TEST_CASE("links and monitors fire only when the supervisor gives up") {
  trio t(supervision{.max_restarts = 2, .window = duration::seconds(10)});
  std::string heard;
  auto watcher = t.kit.spawn(lent([&heard, b = t.b, top = t.top](dynamic_actor& self) -> behavior {
    self.monitor(b, [&heard](const down& d) { heard += "b: " + d.reason.to_string() + "\n"; });
    self.monitor(top, [&heard](const down& d) { heard += "top: " + d.reason.to_string() + "\n"; });
    return {[](leave) {}};
  }));
  t.kit.run();
  send(t.b, fail{"one"});
  t.kit.run();
  send(t.b, fail{"two"});
  t.kit.run();
  CHECK(heard.empty());
  send(t.b, fail{"three"});
  t.kit.run();
  CHECK(heard.find("b: an exception left a handler: three") == 0);
  CHECK(heard.find("top: ") != std::string::npos);
  CHECK(heard.find("gave up after more than 2 failures within 10s") != std::string::npos);
  t.kit.expect_down(t.a);
  t.kit.expect_down(t.c);
}

TEST_CASE("failures further apart than the window do not add up") {
  trio t(supervision{.max_restarts = 1, .window = duration::seconds(10)});
  for (int i = 0; i < 5; ++i) {
    send(t.a, fail{"x"});
    t.kit.run_for(duration::seconds(11));
  }
  t.kit.expect_alive(t.a);
  t.kit.expect_alive(t.top);
  CHECK(t.total_of(t.a) == 0);
}

TEST_CASE("mail that comes during the backoff waits for the restart, and senders do not") {
  trio t(supervision{.delay = {.first = duration::seconds(1), .jitter = 0}});
  send(t.a, fail{"x"});
  t.kit.run();
  for (int i = 0; i < 2000; ++i) send(t.a, add{1});
  t.kit.run();
  CHECK(t.kit.mailbox(t.a).size() == 2000);
  CHECK(t.notes.to->take() == lines{"-a"});
  t.kit.run_for(duration::seconds(2));
  CHECK(t.total_of(t.a) == 2000);
}

TEST_CASE("permanent, transient and temporary children") {
  test_system kit(5);
  pen notes;
  auto top = kit.spawn<supervisor>(supervision{.max_restarts = 100});
  const auto start = [&](const char* name, restart_policy p) {
    return supervise<counter>(top, child_options{.name = name, .restart = p}, std::string(name),
                              notes);
  };
  auto p = start("p", permanent);
  auto t = start("t", transient);
  auto t2 = start("t2", transient);
  auto e = start("e", temporary);
  kit.run();
  notes.to->take();
  SUBCASE("quit") {
    for (const auto& r : {p, t, e}) send(r, leave{});
    kit.run();
    kit.expect_alive(p);
    kit.expect_down(t, exit_code::normal);
    kit.expect_down(e, exit_code::normal);
  }
  SUBCASE("fail") {
    for (const auto& r : {p, t, e}) send(r, fail{"x"});
    kit.run();
    kit.expect_alive(p);
    kit.expect_alive(t);
    kit.expect_down(e, exit_code::unhandled_exception);
  }
  SUBCASE("asked to end") {
    for (const auto& r : {p, t, e}) kit.exit(r);
    kit.run();
    kit.expect_alive(p);
    kit.expect_down(t, exit_code::user_shutdown);
    kit.expect_down(e, exit_code::user_shutdown);
  }
  SUBCASE("killed") {
    for (const auto& r : {p, t, e}) kit.kill(r);
    kit.run();
    kit.expect_alive(p);
    kit.expect_alive(t);
    kit.expect_down(e, exit_code::kill);
  }
  kit.expect_alive(t2);
  kit.expect_alive(top);
}

TEST_CASE("a constructor that throws on a restart is a failure again") {
  struct fragile : actor<counting> {
    std::shared_ptr<int> builds;
    explicit fragile(std::shared_ptr<int> n) : builds(std::move(n)) {
      ++*builds;
      if (*builds == 2 || *builds == 3) throw std::runtime_error("not ready");
    }
    void on(add) {}
    int on(total) { return *builds; }
    void on(const fail& f) { throw std::runtime_error(f.why); }
    void on(leave) {}
    result<int> on(keep_request) { return 0; }
    void on(tick_later) {}
  };
  test_system kit(5);
  auto builds = std::make_shared<int>(0);
  auto top = kit.spawn<supervisor>(supervision{.max_restarts = 3});
  auto f = supervise<fragile>(top, lent(std::shared_ptr(builds)));
  kit.run();
  send(f, fail{"x"});
  kit.run();
  CHECK(*builds == 4);
  kit.expect_alive(f);
  CHECK(kit.request(f, total{}).get().value() == 4);
  SUBCASE("and too many are too many") {
    *builds = 1;
    send(f, fail{"x"});
    kit.run();
    kit.expect_down(f);
    kit.expect_down(top);
  }
}

TEST_CASE("every start gets copies of the arguments of its own") {
  test_system kit(1);
  auto top = kit.spawn<supervisor>();
  std::vector<std::size_t> seen;
  auto f = supervise(top, lent([&seen](dynamic_actor&, std::vector<int> v) -> behavior {
                       seen.push_back(v.size());
                       v.clear();
                       return {[](fail x) { throw std::runtime_error(x.why); }};
                     }),
                     std::vector<int>{1, 2, 3});
  kit.run();
  send(f, fail{"x"});
  kit.run();
  CHECK(seen == std::vector<std::size_t>{3, 3});
}

TEST_CASE("function-based and stateful children start with a fresh state") {
  struct state {
    int n = 0;
  };
  test_system kit(1);
  auto top = kit.spawn<supervisor>();
  auto f = supervise(top, [](stateful<state>& self) -> behavior {
    return {[&self](add a) { self.state.n += a.n; }, [&self](total) { return self.state.n; },
            [](fail x) { throw std::runtime_error(x.why); }};
  });
  send(f, add{4});
  kit.run();
  CHECK(kit.request_as<int>(f, total{}).get().value() == 4);
  send(f, fail{"x"});
  send(f, add{2});
  kit.run();
  CHECK(kit.request_as<int>(f, total{}).get().value() == 2);
}

TEST_CASE(
    "a supervisor's static children start in order and stop in reverse at its last handle's end") {
  test_system kit(2);
  pen notes;
  {
    auto top = kit.spawn<supervisor>(
        supervision{}, child<counter>(child_options{.name = "x"}, std::string("x"), notes),
        child<counter>(std::string("y"), notes),
        child([](dynamic_actor&) -> behavior { return {[](add) {}}; }));
    kit.run();
    CHECK(notes.to->take() == lines{"+x", "+y"});
    CHECK(kit.request(top, list_children{}).get().value().size() == 3);
    const any_ref x = kit.request(top, find_child{"x"}).get().value();
    send(x, fail{"x"});
    kit.run();
    CHECK(notes.to->take() == lines{"-x", "+x"});
    CHECK(kit.request(top, find_child{"nobody"}).get().error() == errc::not_found);
  }
  kit.run();
  CHECK(notes.to->take() == lines{"-y", "-x"});
  CHECK(kit.actor_count() == 0);
}

TEST_CASE("a nested supervisor that gives up is restarted by its own") {
  test_system kit(2);
  pen notes;
  const supervision strict{.max_restarts = 0};
  auto top = kit.spawn<supervisor>(
      supervision{.max_restarts = 2},
      child<supervisor>(child_options{.name = "inner"}, strict,
                        child<counter>(child_options{.name = "x"}, std::string("x"), notes)));
  kit.run();
  const auto x = [&] {
    auto inner = kit.request(top, find_child{"inner"}).get().value();
    return kit.request_as<any_ref>(inner, find_child{"x"}).get().value();
  };
  notes.to->take();
  for (int i = 0; i < 2; ++i) {
    send(x(), fail{"x"});
    kit.run();
    CHECK(notes.to->take() == lines{"-x", "+x"});
  }
  send(x(), fail{"x"});
  kit.run();
  CHECK(notes.to->take() == lines{"-x"});
  kit.expect_down(top);
}

TEST_CASE("any actor can supervise, and hears of its children if it wants to") {
  struct start {};
  using protocol_type = protocol<ref<counting>(start), std::string(total)>;
  struct boss : actor<protocol_type> {
    pen notes;
    ref<counting> worker;
    std::string heard;
    explicit boss(pen p) : notes(std::move(p)) {}
    void on_start() {
      set_supervision({.max_restarts = 1});
      worker = supervise<counter>(child_options{.name = "w"}, std::string("w"), notes);
    }
    ref<counting> on(start) { return worker; }
    std::string on(total) { return heard; }
    void on(const core::signals::child_failed& f) { heard += f.reason.to_string() + ";"; }
  };
  test_system kit(4);
  pen notes;
  auto b = kit.spawn<boss>(notes);
  auto w = kit.request(b, start{}).get().value();
  send(w, fail{"cup"});
  kit.run();
  CHECK(kit.request(b, total{}).get().value() == "an exception left a handler: cup;");
  CHECK(notes.to->take() == lines{"+w", "-w", "+w"});
  SUBCASE("it ends: its children end before it") {
    kit.exit(b);
    kit.run();
    CHECK(notes.to->take() == lines{"-w"});
    kit.expect_down(w, exit_code::user_shutdown);
    kit.expect_down(b, exit_code::user_shutdown);
  }
  SUBCASE("it gives up") {
    send(w, fail{"saucer"});
    kit.run();
    kit.expect_down(b, exit_code::failure);
  }
}

TEST_CASE("stop_child and stop_children answer when the children have ended") {
  trio t(supervision{});
  CHECK(t.kit.request(t.top, stop_child{"b"}).get().has_value());
  t.kit.expect_down(t.b);
  CHECK(t.kit.request(t.top, stop_child{"b"}).get().error() == errc::not_found);
  CHECK(t.kit.request(t.top, stop_children{}).get().value().still_alive.empty());
  CHECK(t.notes.to->take() == lines{"-b", "-c", "-a"});
  t.kit.expect_alive(t.top);
}

TEST_CASE("a child that a supervisor gets too late ends") {
  test_system kit(1);
  pen notes;
  auto top = kit.spawn<supervisor>();
  kit.exit(top);
  kit.run();
  auto a = supervise<counter>(top, std::string("a"), notes);
  kit.run();
  kit.expect_down(a);
}

TEST_CASE("a first constructor that throws is an ended child, and the supervisor goes on") {
  struct broken : actor<protocol<void(add)>> {
    broken() { throw std::runtime_error("no disk"); }
    void on(add) {}
  };
  test_system kit(1);
  auto top = kit.spawn<supervisor>();
  auto b = supervise<broken>(top);
  kit.run();
  kit.expect_down(b);
  kit.expect_alive(top);
  SUBCASE("but a static child that cannot start fails its supervisor") {
    auto other = kit.spawn<supervisor>(supervision{}, child<broken>());
    kit.run();
    kit.expect_down(other, exit_code::unhandled_exception);
  }
}

TEST_CASE(
    "a kill or an exit that finds a child suspended does not end it, the supervisor's stop does") {
  trio t(supervision{.delay = {.first = duration::seconds(1), .jitter = 0}});
  send(t.a, fail{"x"});
  t.kit.run();
  t.kit.exit(t.a);
  t.kit.kill(t.a);
  t.kit.run_for(duration::seconds(2));
  t.kit.expect_alive(t.a);
  send(t.a, fail{"x"});
  t.kit.run();
  CHECK(t.kit.request(t.top, stop_child{"a"}).get().has_value());
  t.kit.expect_down(t.a, exit_code::unhandled_exception);  // its own reason stays
}

TEST_CASE(
    "a second child of the same name is refused by name, from inside and from outside; children "
    "without a name may be alike") {
  trio t(supervision{});
  const auto again =
      supervise<counter>(t.top, child_options{.name = "b"}, std::string("second b"), t.notes);
  t.kit.run();
  t.kit.expect_down(again);
  const error why = t.kit.request(again, total{}).get().error();
  CHECK(why.detail().find("b: its supervisor has another child of this name") !=
        std::string_view::npos);
  t.kit.expect_alive(t.b);
  CHECK(t.kit.request(t.top, list_children{}).get().value().size() == 3);
  CHECK(t.kit.request(t.top, stop_child{"b"}).get().has_value());
  const auto next =
      supervise<counter>(t.top, child_options{.name = "b"}, std::string("next b"), t.notes);
  const auto plain = supervise<counter>(t.top, std::string("x"), t.notes);
  const auto alike = supervise<counter>(t.top, std::string("y"), t.notes);
  t.kit.run();
  for (const auto& r : {next, plain, alike}) t.kit.expect_alive(r);
  const auto twice = t.kit.spawn<supervisor>(
      supervision{}, child<counter>(child_options{.name = "twin"}, std::string("first"), t.notes),
      child<counter>(child_options{.name = "twin"}, std::string("second"), t.notes));
  t.kit.run();
  t.kit.expect_down(twice, exit_code::unhandled_exception);
}

}  // namespace supervision_test
