// Links, monitors, exit reasons, traps: the actors that are told of an end, the time, and the
// reason.
#include <doctest/doctest.h>
#include <garrick/core/cell/extension.hpp>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace links_and_monitors_test {

namespace {

using namespace garrick;
using testkit::test_system;

struct go {};
struct ping {
  int n;
};
struct watch {
  any_ref whom;
};
struct unwatch {};
struct tie {
  any_ref whom;
};
struct untie {
  any_ref whom;
};
struct trap {
  bool on;
};
struct boom {
  std::string why;
};
struct leave {};
struct fail_with {
  int code;
};
struct history {};

using puppets =
    protocol<void(ping), void(watch), void(unwatch), void(tie), void(untie), void(trap), void(boom),
             void(leave), void(fail_with), std::vector<std::string>(history)>;

/// Obeys the test, and notes its signals.
class puppet : public actor<puppets> {
  std::vector<std::string> log_;
  std::vector<monitor_id> monitors_;

 public:
  void on(ping p) { log_.push_back("ping " + std::to_string(p.n)); }
  void on(const watch& w) { monitors_.push_back(monitor(w.whom)); }
  void on(unwatch) { demonitor(monitors_.back()); }
  void on(const tie& t) { link(t.whom); }
  void on(const untie& t) { unlink(t.whom); }
  void on(trap t) { trap_exit(t.on); }
  void on(const boom& b) { throw std::runtime_error(b.why); }
  void on(leave) { quit(); }
  void on(fail_with f) { quit(make_error(errc::user, "code " + std::to_string(f.code))); }
  std::vector<std::string> on(history) { return log_; }
  void on(const down& d) { log_.push_back("down: " + d.reason.to_string()); }
  void on(const exit_signal& s) { log_.push_back("exit: " + s.reason.to_string()); }
};

struct pair {
  test_system kit{9};
  ref<puppets> a = kit.spawn<puppet>();
  ref<puppets> b = kit.spawn<puppet>();
  std::vector<std::string> log_of(const ref<puppets>& r) {
    return kit.request(r, history{}).get().value();
  }
  template <class M>
  void tell(const ref<puppets>& r, M m) {
    send(r, std::move(m));
    kit.run();
  }
};
using strings = std::vector<std::string>;

}  // namespace

TEST_CASE("a link ends both actors, with the reason of the first, in either order") {
  for (const bool first : {true, false}) {
    pair p;
    p.tell(p.a, tie{any_ref(p.b)});
    p.tell(first ? p.a : p.b, boom{"cup"});
    p.kit.expect_down(p.a, exit_code::unhandled_exception);
    p.kit.expect_down(p.b, exit_code::unhandled_exception);
  }
}

TEST_CASE("a link does not end an actor when its partner quits normally") {
  pair p;
  p.tell(p.a, tie{any_ref(p.b)});
  p.tell(p.b, leave{});
  p.kit.expect_alive(p.a);
  SUBCASE("a trap hears it all the same") {
    auto c = p.kit.spawn<puppet>();
    p.tell(p.a, trap{true});
    p.tell(p.a, tie{any_ref(c)});
    p.tell(c, leave{});
    CHECK(p.log_of(p.a) == strings{"exit: normal"});
  }
}

TEST_CASE("unlink undoes a link in both directions") {
  pair p;
  p.tell(p.a, tie{any_ref(p.b)});
  p.tell(p.b, untie{any_ref(p.a)});
  p.tell(p.a, boom{"x"});
  p.kit.expect_alive(p.b);
}

TEST_CASE("linking an actor that has ended ends the linker with its reason") {
  pair p;
  p.tell(p.b, fail_with{7});
  p.tell(p.a, tie{any_ref(p.b)});
  p.kit.expect_down(p.a, exit_code::failure);
}

TEST_CASE("an actor that traps exits gets them as messages") {
  pair p;
  p.tell(p.a, trap{true});
  p.tell(p.a, tie{any_ref(p.b)});
  p.tell(p.b, boom{"cup"});
  p.kit.exit(p.a);
  p.kit.run();
  CHECK(p.log_of(p.a) ==
        strings{"exit: an exception left a handler: cup", "exit: asked to shut down"});
  p.kit.expect_alive(p.a);
}

TEST_CASE("a kill cannot be trapped, and its links hear the reason") {
  pair p;
  p.tell(p.a, trap{true});
  p.tell(p.b, trap{true});
  p.tell(p.a, tie{any_ref(p.b)});
  p.kit.kill(p.a);
  p.kit.run();
  p.kit.expect_down(p.a, exit_code::kill);
  CHECK(p.log_of(p.b) == strings{"exit: killed"});
}

TEST_CASE("a chain of links ends link by link with the first reason") {
  test_system kit(3);
  std::vector<ref<puppets>> all;
  for (int i = 0; i < 50; ++i) {
    all.push_back(kit.spawn<puppet>());
    if (i > 0) send(all.back(), tie{any_ref(all[static_cast<std::size_t>(i) - 1])});
  }
  kit.run();
  send(all[25], boom{"x"});
  kit.run();
  for (const auto& r : all) kit.expect_down(r, exit_code::unhandled_exception);
}

TEST_CASE("a monitor hears a normal end, a failure with its text, an error and a kill") {
  pair p;
  p.tell(p.a, watch{any_ref(p.b)});
  SUBCASE("normal") {
    p.tell(p.b, leave{});
    CHECK(p.log_of(p.a) == strings{"down: normal"});
  }
  SUBCASE("exception") {
    p.tell(p.b, boom{"out of tea"});
    CHECK(p.log_of(p.a) == strings{"down: an exception left a handler: out of tea"});
  }
  SUBCASE("error") {
    p.tell(p.b, fail_with{3});
    const auto heard = p.log_of(p.a);
    CHECK(heard.size() == 1);
    CHECK(heard[0].find("code 3") != std::string::npos);
  }
  SUBCASE("kill") {
    p.kit.kill(p.b);
    p.kit.run();
    CHECK(p.log_of(p.a) == strings{"down: killed"});
  }
}

TEST_CASE("a monitor fires once for each time it was set") {
  pair p;
  p.tell(p.a, watch{any_ref(p.b)});
  p.tell(p.a, watch{any_ref(p.b)});
  p.tell(p.b, leave{});
  CHECK(p.log_of(p.a) == strings{"down: normal", "down: normal"});
}

TEST_CASE("a watcher hears of several ends in the order in which they happened") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    test_system kit(seed);
    auto ended = std::make_shared<std::vector<int>>();
    auto heard = std::make_shared<std::vector<int>>();
    std::vector<any_ref> watched;
    for (int i = 0; i < 8; ++i)
      watched.push_back(kit.spawn(lent([i, ended](dynamic_actor& self) -> behavior {
        // An actor that quits ends with one of its next turns. Its state goes when it does.
        const std::shared_ptr<void> state(nullptr, [i, ended](void*) { ended->push_back(i); });
        return {[&self, state](int) { self.quit(); }};
      })));
    const auto watcher = kit.spawn(lent([&watched, heard](dynamic_actor& self) -> behavior {
      for (int i = 0; i < 8; ++i)
        self.monitor(watched[static_cast<std::size_t>(i)],
                     [heard, i](const down&) { heard->push_back(i); });
      return {[](int) {}};
    }));
    kit.run();
    for (const any_ref& actor : watched) send(actor, 1);
    kit.run();
    CHECK(heard->size() == 8);
    CHECK(*heard == *ended);
  }
}

TEST_CASE("a monitor that was cancelled does not fire") {
  pair p;
  p.tell(p.a, watch{any_ref(p.b)});
  p.tell(p.a, unwatch{});
  p.tell(p.b, leave{});
  CHECK(p.log_of(p.a).empty());
}

TEST_CASE("a cancelled monitor does not fire even if its down is on its way") {
  pair p;
  p.tell(p.a, watch{any_ref(p.b)});
  send(p.a, unwatch{});
  p.kit.exit(p.b);
  p.kit.expect<unwatch>().to(p.a);
  p.kit.run();
  CHECK(p.log_of(p.a).empty());
}

TEST_CASE("monitoring a dead or never-living address gives the down, too") {
  pair p;
  p.tell(p.b, boom{"long ago"});
  p.tell(p.a, watch{any_ref(p.b)});
  CHECK(p.log_of(p.a) == strings{"down: an exception left a handler: long ago"});
  std::string heard;
  auto w = p.kit.spawn(lent([&heard](dynamic_actor& self) -> behavior {
    self.monitor(address{}, [&heard](const down& d) { heard = d.reason.to_string(); });
    return {[](go) {}};
  }));
  p.kit.run();
  CHECK(heard.find("never lived") != std::string::npos);
}

TEST_CASE("a monitor's callback runs on the watcher's turn, and goes with its actor") {
  test_system kit(1);
  auto token = std::make_shared<int>(0);
  auto b = kit.spawn<puppet>();
  auto w = kit.spawn(lent([&, token](dynamic_actor& self) -> behavior {
    self.monitor(b, [token](const down&) { ++*token; });
    return {[&self](leave) { self.quit(); }};
  }));
  kit.run();
  SUBCASE("it runs") {
    send(b, leave{});
    kit.run();
    CHECK(*token == 1);
  }
  SUBCASE("it goes") {
    send(w, leave{});
    kit.run();
    CHECK(token.use_count() == 1);
  }
}

TEST_CASE("watchers that are gone are forgotten by the actor that they watched") {
  test_system kit(1);
  auto b = kit.spawn<puppet>();
  for (int i = 0; i < 100; ++i) {
    auto w = kit.spawn<puppet>();
    send(w, watch{any_ref(b)});
    send(w, tie{any_ref(b)});
    send(w, leave{});
    kit.run();
  }
  CHECK(core::handle_access::get(b)->ext().watch().watchers.size() == 0);
}

TEST_CASE("down comes after the messages of the actor that ended, which stay in their order") {
  struct telling : actor<protocol<void(go)>> {
    ref<puppets> to;
    explicit telling(ref<puppets> t) : to(std::move(t)) {}
    void on(go) {
      for (int i = 0; i < 3; ++i) send(to, ping{i});
      quit();
    }
  };
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    test_system kit(seed);
    auto a = kit.spawn<puppet>();
    auto t = kit.spawn<telling>(a);
    send(a, watch{any_ref(t)});
    kit.run();
    send(t, go{});
    kit.run();
    CHECK(kit.request(a, history{}).get().value() ==
          strings{"ping 0", "ping 1", "ping 2", "down: normal"});
  }
}

TEST_CASE("an unreachable actor ends with that reason, and its monitor hears it") {
  test_system kit(1);
  auto a = kit.spawn<puppet>();
  {
    auto b = kit.spawn<puppet>();
    send(a, watch{any_ref(b)});
    kit.run();
  }
  kit.run();
  const auto heard = kit.request(a, history{}).get().value();
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].find("unreachable") != std::string::npos);
}

TEST_CASE("linked and monitored spawns") {
  test_system kit(1);
  auto heard = std::make_shared<strings>();
  ref<puppets> linked, monitored;
  auto parent = kit.spawn(lent([&](dynamic_actor& self) -> behavior {
    linked = self.spawn<puppet>(spawn_options{.linked = true});
    monitored = self.spawn<puppet>(spawn_options{.monitored = true});
    return {[heard](const down& d) { heard->push_back(d.reason.to_string()); }};
  }));
  kit.run();
  send(monitored, leave{});
  kit.run();
  CHECK(*heard == strings{"normal"});
  kit.exit(parent);
  kit.run();
  kit.expect_down(linked, exit_code::user_shutdown);
}

TEST_CASE("an exception that is no std::exception has a text, too") {
  test_system kit(1);
  auto a = kit.spawn<puppet>();
  auto b = kit.spawn([](dynamic_actor&) -> behavior { return {[](go) { throw 42; }}; });
  send(a, watch{b});
  kit.run();
  send(b, go{});
  kit.run();
  CHECK(kit.request(a, history{}).get().value() ==
        strings{"down: an exception left a handler: an exception that is not a std::exception"});
}

TEST_CASE("a request to an actor that ends, fails or has ended: each its own error") {
  using slow = protocol<result<int>(go), void(leave), void(boom)>;
  struct holder : actor<slow> {
    std::vector<response_promise<int>> kept;
    result<int> on(go) {
      kept.push_back(make_promise<int>());
      return kept.back();
    }
    void on(leave) { quit(); }
    void on(const boom& b) { throw std::runtime_error(b.why); }
  };
  test_system kit(1);
  auto h = kit.spawn<holder>();
  auto held = kit.request(h, go{});
  kit.run();
  SUBCASE("ended while holding it") {
    send(h, leave{});
    auto unread = kit.request(h, go{});
    CHECK(unread.get().error() == errc::not_handled);
    CHECK(held.get().error() == errc::broken_promise);
  }
  SUBCASE("failed while holding it") {
    send(h, boom{"x"});
    auto unread = kit.request(h, go{});
    CHECK(unread.get().error() == errc::not_handled);
    CHECK(held.get().error() == errc::receiver_failed);
    CHECK(kit.request(h, go{}).get().error() == errc::not_handled);
  }
}

TEST_CASE(
    "a linked actor that has become unreachable ends alone: its partner hears of it only if it "
    "traps exits") {
  test_system kit(1);
  const auto parent = kit.spawn([](dynamic_actor& self) -> behavior {
    static_cast<void>(self.spawn<puppet>(spawn_options{.linked = true}));
    return {[](int x) { return x; }};
  });
  auto heard = std::make_shared<strings>();
  const auto trapping = kit.spawn(lent([heard](dynamic_actor& self) -> behavior {
    self.trap_exit(true);
    static_cast<void>(self.spawn<puppet>(spawn_options{.linked = true}));
    return {[heard](const exit_signal& s) { heard->push_back(s.reason.to_string()); }};
  }));
  kit.run();
  CHECK(kit.living().size() == 2);
  CHECK(kit.request_as<int>(parent, 5).get().value() == 5);
  REQUIRE(heard->size() == 1);
  CHECK(heard->front().find("unreachable") != std::string::npos);
}

TEST_CASE("a link to an empty address ends the actor that sets it, with a reason that says so") {
  test_system kit(1);
  const auto a = kit.spawn([](dynamic_actor& self) -> behavior {
    self.link(address{});
    return {[](int x) { return x; }};
  });
  const error why = kit.request_as<int>(a, 1).get().error();
  CHECK(why.detail().find("empty address") != std::string_view::npos);
}

}  // namespace links_and_monitors_test
