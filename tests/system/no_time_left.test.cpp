// The meaning of a time of zero or less, wherever a time is taken.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/silent_actor.hpp"

namespace no_time_left_test {

namespace {

using namespace garrick;
using testkit::test_system;
using tests::ask;
using tests::silent;
using tests::silent_actor;

struct go {};

const duration none_left[] = {duration(), duration::nanoseconds(-1), duration::seconds(-3600)};

}  // namespace

TEST_CASE("a request without time is a time-out, if no answer has come") {
  test_system kit(1);
  actor_system system;
  const auto to = kit.spawn<silent_actor>();
  const auto real = system.spawn<silent_actor>();
  for (const duration d : none_left) {
    CAPTURE(d.to_string());
    CHECK(kit.request(to, ask{}, d).get().error() == errc::timeout);
    CHECK(kit.request(to, ask{}).within(d).get().error() == errc::timeout);
    CHECK(system.request(real, ask{}, d).get().error() == errc::timeout);
    error told;
    const any_ref asker = kit.spawn(lent([&, d](dynamic_actor& self) -> behavior {
      return {[&, d](go) {
        self.request(to, ask{}).within(d).then([](int) {}, [&](const error& e) { told = e; });
      }};
    }));
    send(asker, go{});
    kit.run();
    kit.run_for(duration());
    CHECK(told == errc::timeout);
  }
}

TEST_CASE("a delay without time comes as soon as possible, a periodic one is refused") {
  test_system kit(1);
  for (const duration d : none_left) {
    int came = 0;
    std::string refused;
    const any_ref a = kit.spawn(lent([&, d](dynamic_actor& self) -> behavior {
      self.send_after(d, any_ref(self.self()), 1);
      self.delay(d).then([&] { ++came; });
      try {
        self.send_every(d, any_ref(self.self()), 1);
      } catch (const std::invalid_argument& x) { refused = x.what(); }
      return {[&](int) { ++came; }};
    }));
    kit.run_for(duration());
    CHECK(came == 2);
    CHECK(refused.find("must be above zero") != std::string::npos);
  }
}

TEST_CASE("receive without time takes waiting messages, and waits for no other") {
  test_system kit(1);
  core::scoped_actor me(kit.env());
  const any_ref other = kit.spawn(lent([to = me->self()](dynamic_actor& self) -> behavior {
    return {[&self, to](go) { self.send(to, 2); }};
  }));
  for (const duration d : none_left) {
    me->send(me->self(), std::string("not matched"));
    me->send(me->self(), 1);
    CHECK(me->receive([](int n) { CHECK(n == 1); }, after(d) >> [] {}));
    send(other, go{});  // it has not run yet, and is not run for this
    CHECK_FALSE(me->receive([](int) {}, after(d) >> [] {}));
    CHECK(me->receive([](const std::string&) {}, after(d) >> [] {}));
    kit.run();
    CHECK(me->receive([](int n) { CHECK(n == 2); }, after(d) >> [] {}));
  }
}

TEST_CASE("a behavior with a time-out of no time is called whenever nothing waits") {
  test_system kit(1);
  for (const duration d : none_left) {
    int silences = 0;
    const any_ref a = kit.spawn(lent([&, d](dynamic_actor& self) -> behavior {
      return {[](int) {}, after(d) >>
                              [&] {
                                if (++silences == 3) self.quit();
                              }};
    }));
    send(a, 1);
    CHECK(kit.run_until([&] { return silences == 3; }));
    kit.run();
    kit.expect_down(a, exit_code::normal);
  }
}

TEST_CASE("waiting for a system without time only looks") {
  for (const duration d : none_left) {
    actor_system system;
    const auto a = system.spawn<silent_actor>();
    const shutdown_report looked = system.await_all(d);
    CHECK_FALSE(looked.complete);
    CHECK(looked.still_alive.size() == 1);
    // It is told to end, and whether it has ended by then is a matter of chance.
    static_cast<void>(system.shutdown(d));
    static_cast<void>(system.stop_now(d));
    CHECK(system.shutdown(duration::seconds(60)).complete);
    CHECK(system.try_spawn<silent_actor>().error() == errc::shutting_down);
  }
}

TEST_CASE("time in a test does not go back") {
  test_system kit(1);
  const auto begin = kit.now();
  for (const duration d : none_left) {
    static_cast<void>(kit.run_for(d));
    static_cast<void>(kit.advance(d));
    CHECK_FALSE(kit.run_until([] { return false; }, d));
  }
  CHECK(kit.now() == begin);
}

}  // namespace no_time_left_test
