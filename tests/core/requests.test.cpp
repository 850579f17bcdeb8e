// Requests: values, errors, promises and delegations; time-outs; each request error. A requester's
// use of a response is in responses.test.cpp.
#include "support/answering.hpp"

#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace requests_test {

namespace {

using namespace garrick;
using namespace garrick::tests;

TEST_CASE("result may be a value, an error, a promise kept later or elsewhere, or a delegation") {
  actor_system system;
  const auto a = system.spawn<answering>(system.spawn<hundred>());
  CHECK(system.request(a, value{}).get().value() == 1);
  CHECK(system.request(a, failure{}).get().error().detail() == "answering: no");
  auto waits = system.request(a, later{});
  send(a, release{});
  CHECK(waits.get().value() == 42);
  CHECK(system.request(a, elsewhere{}).get().value() == 7);
  CHECK(system.request(a, delegated_away{}).get().value() == 100);
}

TEST_CASE("dropped promise answers broken_promise") {
  actor_system system;
  const auto a = system.spawn<answering>();
  CHECK(system.request(a, dropped{}).get().error() == errc::broken_promise);
}

TEST_CASE("handler that throws answers receiver_failed with the exception's text") {
  actor_system system({.log = {.level = system::log_level::off}});
  const auto a = system.spawn<answering>();
  const error why = system.request(a, thrown{}).get().error();
  CHECK(why == errc::receiver_failed);
  CHECK(why.detail().find("out of tea") != std::string_view::npos);
  REQUIRE(system.await_all().has_value());
  CHECK(system.request(a, value{}).get().error() == errc::not_handled);
}

TEST_CASE(
    "promise held by a failing actor answers receiver_failed, by an ending one broken_promise") {
  actor_system system({.log = {.level = system::log_level::off}});
  const auto a = system.spawn<answering>();
  auto waits = system.request(a, later{});
  CHECK(system.request(a, thrown{}).get().error() == errc::receiver_failed);
  CHECK(waits.get().error() == errc::receiver_failed);
  const auto b = system.spawn<answering>();
  auto also_waits = system.request(b, later{});
  CHECK(system.request(b, value{}).get().has_value());  // now it holds the promise
  system.exit(b);
  CHECK(also_waits.get().error() == errc::broken_promise);
}

TEST_CASE("a request without an answer ends in a time-out") {
  actor_system system;
  const auto a = system.spawn<answering>();
  CHECK(system.request(a, never{}, duration::milliseconds(2)).get().error() == errc::timeout);
  // the last argument may be any chrono duration
  CHECK(system.request(a, value{}, duration::seconds(30)).get().value() == 1);
  // the late answer is ignored
  send(a, release{});
  CHECK(system.request(a, value{}).get().value() == 1);
  CHECK(system.dead_letter_count() == 0);
}

TEST_CASE("a request without time is a time-out, unless its answer is there already") {
  struct outcomes {
    std::vector<std::string> all;
  };
  using asked = protocol<int(value)>;
  struct quick : actor<asked> {
    int on(value) { return 1; }
  };
  struct hurried : actor<protocol<void(release)>> {
    hurried(ref<asked> whom, outcomes* to) : whom_(std::move(whom)), to_(to) {}
    void on_start() {
      for (const duration none : {duration(), duration::seconds(-1)})
        note(request(whom_, value{}, none));
      early_ = std::make_unique<pending_response<int>>(request(whom_, value{}));
    }
    void on(release) { note(std::move(*early_).within(duration())); }

   private:
    void note(pending_response<int>&& answer) {
      std::move(answer).then([this](int) { to_->all.push_back("value"); },
                             [this](const error& why) {
                               to_->all.push_back(why == errc::timeout ? "timeout" : "other");
                             });
    }
    ref<asked> whom_;
    outcomes* to_;
    std::unique_ptr<pending_response<int>> early_;
  };
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    testkit::test_system kit(seed);
    outcomes seen;
    const auto whom = kit.spawn<quick>();
    const auto asker = kit.spawn<hurried>(whom, lent(&seen));
    kit.run();
    send(asker, release{});
    kit.run();
    CHECK(seen.all == std::vector<std::string>{"timeout", "timeout", "value"});
  }
}

using sleeper = protocol<duration(std::string, duration)>;

TEST_CASE("a duration that the protocol takes is an argument, not a time-out") {
  actor_system system;
  const auto a = system.spawn([](typed_actor<sleeper>&) -> typed_behavior<sleeper> {
    return {[](const std::string&, duration d) { return d; }};
  });
  CHECK(system.request(a, std::string("x"), duration::seconds(3)).get().value() ==
        duration::seconds(3));
  CHECK(system.request(a, std::string("x"), duration::seconds(3), duration::seconds(60))
            .get()
            .value() == duration::seconds(3));
}

TEST_CASE("request to an ended actor is not_handled") {
  actor_system system;
  const auto a = system.spawn<answering>();
  system.exit(a);
  REQUIRE(system.await_all().has_value());
  CHECK(system.request(a, value{}).get().error() == errc::not_handled);
  CHECK(system.dead_letter_count(errc::not_handled) == 1);
}

TEST_CASE("request to a full mailbox is overload") {
  testkit::test_system kit(1);
  const any_ref a = kit.spawn(spawn_options{.soft_limit = 4, .hard_limit = 8},
                              [](dynamic_actor& self) -> behavior {
                                self.set_unmatched(unmatched::skip);  // nothing is consumed
                                return {[](double) {}};
                              });
  for (int i = 0; i < 8; ++i) send(a, i);
  kit.run();  // a message that is being looked at does not wait, so leaves room for one
  CHECK(kit.request_as<int>(a, 9).get().error() == errc::overload);
  kit.expect_dead_letter<int>(errc::overload);
}

TEST_CASE("too many outstanding requests of one actor are overload") {
  settings o;
  o.requests.outstanding_limit = 2;
  actor_system system(o);
  const auto target = system.spawn<answering>();
  const any_ref a = system.spawn(
      [](dynamic_actor& self, const ref<answers>& to) -> behavior {
        return {[&self, to](int) {
          auto p = self.make_promise<bool>();
          self.request(to, never{}).then([](int) {}, [](const error&) {});
          self.request(to, never{}).then([](int) {}, [](const error&) {});
          self.request(to, never{})
              .then([](int) {}, [&p](const error& e) { p.deliver(e == errc::overload); });
          return result<bool>(p);
        }};
      },
      target);
  CHECK(system.request_as<bool>(a, 1).get().value());
}

TEST_CASE(
    "answer of another type than a wildcard's requester names is an error, not a wrong cast") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor&) -> behavior {
    return {[](int) { return std::string("a text of some length to be sure"); }};
  });
  CHECK(system.request_as<int>(a, 1).get().error() == errc::unexpected_message);
  const any_ref b = system.spawn(
      [](dynamic_actor& self, const any_ref& to) -> behavior {
        return {[&self, to](int) {
          auto p = std::make_shared<response_promise<bool>>(self.make_promise<bool>());
          self.request_as<int, int>(to, 1).then(
              [p](int, int) { p->deliver(false); },
              [p](const error& e) { p->deliver(e == errc::unexpected_message); });
          return result<bool>(*p);
        }};
      },
      a);
  CHECK(system.request_as<bool>(b, 1).get().value());
}

TEST_CASE(
    "delegation through several actors answers the requester, and a dead end answers "
    "broken_promise, since the request was seen") {
  actor_system system;
  const auto last = system.spawn<hundred>();
  const auto middle = system.spawn(
      [](typed_actor<source>& self, const ref<source>& to) -> typed_behavior<source> {
        return {[&self, to](value) -> result<int> { return self.delegate(to, value{}); }};
      },
      last);
  const auto first = system.spawn<answering>(middle);
  CHECK(system.request(first, delegated_away{}).get().value() == 100);
  system.exit(last);
  while (!core::handle_access::get(last)->has_ended()) std::this_thread::yield();
  CHECK(system.request(first, delegated_away{}).get().error() == errc::broken_promise);
}

TEST_CASE("get on a worker is would_block with advice") {
  actor_system system;
  const auto target = system.spawn<answering>();
  actor_system* const here = &system;
  const any_ref a = system.spawn(lent([here, target](dynamic_actor&) -> behavior {
    return {[here, target](int) {
      auto waits = here->request(target, never{});
      return waits.get().error().to_string();
    }};
  }));
  const std::string text = system.request_as<std::string>(a, 1).get().value();
  CHECK(text.find("then") != std::string::npos);
  CHECK(text.find(error(errc::would_block).message()) != std::string::npos);
}

TEST_CASE("await_all and shutdown on one of the system's own threads are errors") {
  actor_system system;
  actor_system* const here = &system;
  const auto tries = [here](dynamic_actor&) -> behavior {
    return {[here](int) {
      const bool all = here->await_all().error() == errc::would_block;
      const auto limited = here->await_all(duration::seconds(1));
      const auto stop = here->shutdown(duration::seconds(1));
      const auto now = here->stop_now(duration::seconds(1));
      return all && !limited.complete && limited.error == errc::would_block &&
             stop.error == errc::would_block && now.error == errc::would_block;
    }};
  };
  CHECK(system.request_as<bool>(system.spawn(lent(tries)), 1).get().value());
  CHECK(system.request_as<bool>(system.spawn(spawn_options{.detached = true}, lent(tries)), 1)
            .get()
            .value());
}

TEST_CASE("a thread's answer can be taken once") {
  actor_system system;
  const auto target = system.spawn<answering>();
  auto r = system.request(target, value{});
  CHECK(r.get().value() == 1);
  CHECK(r.get().error() == errc::cancelled);
}

TEST_CASE("a thread's time-out that is set after the answer was taken changes nothing") {
  actor_system system;
  const auto other = system.spawn<answering>();
  auto p = system.request(other, value{});
  CHECK(p.within(duration::seconds(60)).get().value() == 1);
  CHECK(p.within(duration::milliseconds(1)).get().error() == errc::cancelled);
}

TEST_CASE("an urgent request overtakes normal mail, and its answer comes as any other") {
  testkit::test_system kit(1);
  std::vector<int> order;
  struct noting : actor<protocol<int(int)>> {
    std::vector<int>* to;
    explicit noting(std::vector<int>* t) : to(t) {}
    int on(int x) {
      to->push_back(x);
      return -x;
    }
  };
  const auto a = kit.spawn<noting>(lent(&order));
  for (int i = 1; i <= 3; ++i) send(a, i);
  CHECK(kit.request_urgent(a, 9).get().value() == -9);
  CHECK(order.front() == 9);
  int answer = 0;
  const auto b = kit.spawn(lent([&answer, a](dynamic_actor& self) -> behavior {
    return {[&answer, a, &self](bool) {
      for (int i = 4; i <= 6; ++i) self.send(a, i);
      self.request_urgent(a, 8, duration::seconds(1)).then([&answer](int x) { answer = x; });
    }};
  }));
  kit.run();
  order.clear();
  send(b, true);
  kit.expect<bool>().to(b);
  kit.run();
  CHECK(order == std::vector<int>{8, 4, 5, 6});
  CHECK(answer == -8);
}

}  // namespace

}  // namespace requests_test
