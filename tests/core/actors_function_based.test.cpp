// Actors made of functions: dynamic, typed, stateful; behaviors that are returned or set; become,
// unbecome, keep_behavior.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

namespace actors_function_based_test {

namespace {

using namespace garrick;

TEST_CASE("function-based actor returns its behavior") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor&) -> behavior {
    return {[](int x) { return x + 1; }, [](const std::string& s) { return s + "!"; }};
  });
  CHECK(system.request_as<int>(a, 41).get().value() == 42);
  CHECK(system.request_as<std::string>(a, std::string("hi")).get().value() == "hi!");
}

behavior adder(dynamic_actor&, int offset) {
  return {[offset](int x) { return x + offset; }};
}

TEST_CASE("function-based actor is made from a plain function with arguments") {
  actor_system system;
  const any_ref a = system.spawn(adder, 10);
  CHECK(system.request_as<int>(a, 5).get().value() == 15);
}

TEST_CASE("function-based actor needs no self") {
  actor_system system;
  const any_ref a = system.spawn([]() -> behavior { return {[](int x) { return -x; }}; });
  CHECK(system.request_as<int>(a, 5).get().value() == -5);
}

TEST_CASE("function-based actor sets its behavior with become") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor& self) {
    self.become([&self](int x) {
      self.become([](int y) { return y * 100; });
      return x;
    });
  });
  CHECK(system.request_as<int>(a, 3).get().value() == 3);
  CHECK(system.request_as<int>(a, 3).get().value() == 300);
}

namespace {
behavior doubles(dynamic_actor&) noexcept {
  return {[](int x) { return 2 * x; }};
}
behavior triples() noexcept {
  return {[](int x) { return 3 * x; }};
}
}  // namespace

TEST_CASE("function-based actor: functions that are noexcept, with and without self") {
  actor_system system;
  CHECK(system.request_as<int>(system.spawn(doubles), 2).get().value() == 4);
  CHECK(system.request_as<int>(system.spawn(triples), 2).get().value() == 6);
  CHECK(system
            .request_as<int>(system.spawn([](dynamic_actor&) noexcept -> behavior {
              return {[](int x) { return x; }};
            }),
                             2)
            .get()
            .value() == 2);
}

TEST_CASE("function-based actor without a behavior ends after its function") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor&) {});
  REQUIRE(system.await_all().has_value());
  CHECK(system.request_as<int>(a, 1).get().error() == errc::not_handled);
}

TEST_CASE("keep_behavior and unbecome form a stack; an empty stack ends the actor") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor& self) {
    const auto upper = [&self](int) {
      self.unbecome();
      return 2;
    };
    const auto lower = [&self, upper](int) {
      self.become(keep_behavior, behavior(upper));
      return 1;
    };
    self.become(lower, [&self](const std::string&) { self.unbecome(); });
  });
  CHECK(system.request_as<int>(a, 0).get().value() == 1);
  CHECK(system.request_as<int>(a, 0).get().value() == 2);
  CHECK(system.request_as<int>(a, 0).get().value() == 1);
  CHECK(system.request_as<int>(a, 0).get().value() == 2);
  CHECK(system.request_as<>(a, std::string("end")).get().has_value());
  CHECK(system.await_all().has_value());
}

TEST_CASE("behaviors below return one after the other") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor& self) {
    const auto level = [&self](int n) {
      return behavior([n](int) { return n; }, [&self](const std::string&) { self.unbecome(); });
    };
    self.become(level(1));
    for (int n = 2; n <= 4; ++n) self.become(keep_behavior, level(n));
    self.become(level(5));  // in the place of the fourth
  });
  for (const int expected : {5, 3, 2, 1}) {
    CHECK(system.request_as<int>(a, 0).get().value() == expected);
    send(a, std::string("back"));
  }
  CHECK(system.await_all().has_value());
}

TEST_CASE("an empty behavior takes the present one away") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor& self) {
    self.become([](int) { return 1; });
    self.become(keep_behavior, [](int) { return 2; });
    self.become(keep_behavior, behavior());
    self.become(keep_behavior, [&self](int) {
      self.become(behavior());
      return 3;
    });
  });
  CHECK(system.request_as<int>(a, 0).get().value() == 3);
  CHECK(system.request_as<int>(a, 0).get().value() == 2);
}

/// Counts its objects that hold something: moved ones do not.
struct counted {
  explicit counted(std::atomic<int>* of) : living(of) { ++*living; }
  counted(const counted& o) : living(o.living) { ++*living; }
  counted(counted&& o) noexcept : living(std::exchange(o.living, nullptr)) {}
  ~counted() {
    if (living != nullptr) --*living;
  }
  std::atomic<int>* living;
};

TEST_CASE("a behavior that its own case replaces lives until the case is done") {
  static std::atomic<int> living{0};
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor& self) {
    const auto watch = [](int) { return living.load(); };
    self.become(watch);
    self.become(
        keep_behavior,
        [&self, watch, c = counted(&living)](const std::string& how) {
          if (how == "replace") self.become(watch);
          if (how == "return") self.unbecome();
          if (how == "keep and return twice") {
            self.become(keep_behavior, watch);
            self.unbecome();
            self.unbecome();
          }
          return c.living->load();
        },
        watch);
  });
  SUBCASE("replaced") {
    CHECK(system.request_as<int>(a, std::string("replace")).get().value() == 1);
  }
  SUBCASE("taken away") {
    CHECK(system.request_as<int>(a, std::string("return")).get().value() == 1);
  }
  SUBCASE("kept, then taken away") {
    CHECK(system.request_as<int>(a, std::string("keep and return twice")).get().value() == 1);
  }
  SUBCASE("unchanged") {
    CHECK(system.request_as<int>(a, std::string("")).get().value() == 1);
    CHECK(system.request_as<int>(a, 0).get().value() == 1);
    send(a, std::string("return"));
  }
  CHECK(system.request_as<int>(a, 0).get().value() == 0);
}

TEST_CASE("a behavior that actors share lives as long as one of them has it") {
  static std::atomic<int> living{0};
  {
    actor_system system;
    std::vector<any_ref> all;
    {
      const behavior shared([c = counted(&living)](int) { return c.living->load(); });
      for (int i = 0; i < 8; ++i)
        all.push_back(system.spawn(lent([shared](dynamic_actor& self) {
          self.become([](int) { return -1; });
          self.become(keep_behavior, shared);
        })));
    }
    while (!all.empty()) {
      CHECK(system.request_as<int>(all.back(), 0).get().value() == 1);
      all.pop_back();
    }
  }
  CHECK(living == 0);
}

TEST_CASE("a behavior that a time-out replaces lives until the time-out's function is done") {
  static std::atomic<int> living{0};
  actor_system system;
  core::scoped_actor me(system.env());
  const any_ref a = system.spawn(
      [](dynamic_actor& self, const any_ref& to) -> behavior {
        return {[](int) {}, after(duration::milliseconds(1)) >>
                                [&self, to, c = counted(&living)] {
                                  self.become([](int) { return living.load(); });
                                  send(to, c.living->load());
                                }};
      },
      me->self());
  me->receive([&](int n) { CHECK(n == 1); });
  CHECK(system.request_as<int>(a, 0).get().value() == 0);
}

using counter = protocol<void(int), long(std::string)>;

TEST_CASE("typed function-based actor keeps its protocol") {
  actor_system system;
  const ref<counter> a = system.spawn(
      [](typed_actor<counter>&, long start) -> typed_behavior<counter> {
        auto sum = std::make_shared<long>(start);
        return {[sum](int x) { *sum += x; }, [sum](const std::string&) { return *sum; }};
      },
      1000L);
  send(a, 20);
  send(a, 22);
  CHECK(system.request(a, std::string("sum")).get().value() == 1042);
}

TEST_CASE("typed function-based actor changes its behavior, the protocol stays") {
  actor_system system;
  const ref<counter> a = system.spawn([](typed_actor<counter>& self) -> typed_behavior<counter> {
    return {[&self](int x) {
              self.become(
                  typed_behavior<counter>([](int) {}, [x](const std::string&) { return long{x}; }));
            },
            [](const std::string&) { return 0L; }};
  });
  CHECK(system.request(a, std::string("?")).get().value() == 0);
  send(a, 7);
  CHECK(system.request(a, std::string("?")).get().value() == 7);
}

struct tally {
  int count = 0;
  std::vector<int> seen;
};

TEST_CASE("stateful actor has members") {
  actor_system system;
  const any_ref a = system.spawn([](stateful<tally>& self) -> behavior {
    return {[&self](int x) {
              self.state.seen.push_back(x);
              return ++self.state.count;
            },
            [&self](const std::string&) { return self.state.seen; }};
  });
  CHECK(system.request_as<int>(a, 5).get().value() == 1);
  CHECK(system.request_as<int>(a, 6).get().value() == 2);
  CHECK(system.request_as<std::vector<int>>(a, std::string("all")).get().value() ==
        std::vector<int>{5, 6});
}

TEST_CASE("stateful actor may be typed") {
  actor_system system;
  const ref<counter> a =
      system.spawn([](stateful<tally, counter>& self) -> typed_behavior<counter> {
        return {[&self](int x) { self.state.count += x; },
                [&self](const std::string&) { return long{self.state.count}; }};
      });
  send(a, 4);
  send(a, 5);
  CHECK(system.request(a, std::string("")).get().value() == 9);
}

class lamp : public dynamic_actor {
  int switched_ = 0;
  behavior off() {
    return {[this](const std::string&) {
      become(on_behavior());
      return ++switched_;
    }};
  }
  behavior on_behavior() {
    return {[this](const std::string&) {
      become(off());
      return -++switched_;
    }};
  }

 public:
  lamp() { become(off()); }
};

TEST_CASE("dynamic class sets its behavior in the constructor") {
  actor_system system;
  const any_ref a = system.spawn<lamp>();
  CHECK(system.request_as<int>(a, std::string("switch")).get().value() == 1);
  CHECK(system.request_as<int>(a, std::string("switch")).get().value() == -2);
  CHECK(system.request_as<int>(a, std::string("switch")).get().value() == 3);
}

TEST_CASE("typed and dynamic actors talk to each other") {
  actor_system system;
  const ref<counter> typed = system.spawn([](typed_actor<counter>&) -> typed_behavior<counter> {
    return {[](int) {}, [](const std::string& s) { return static_cast<long>(s.size()); }};
  });
  const any_ref dynamic = system.spawn(
      [](dynamic_actor& self, const ref<counter>& to) -> behavior {
        return {[&self, to](const std::string& s) {
          auto p = self.make_promise<long>();
          self.request(to, s).then([p = std::move(p)](long n) mutable { p.deliver(n); });
          return result<long>(p);
        }};
      },
      typed);
  CHECK(system.request_as<long>(dynamic, std::string("four")).get().value() == 4);
  // the wildcard handle of a typed actor takes the messages of its protocol and refuses the rest
  const any_ref wild(typed);
  CHECK(system.request_as<long>(wild, std::string("abc")).get().value() == 3);
  CHECK(system.request_as<long>(wild, 2.5).get().error() == errc::unexpected_message);
}

TEST_CASE("default handling: report is a dead letter and unexpected_message") {
  actor_system system;
  const any_ref a =
      system.spawn([](dynamic_actor&) -> behavior { return {[](int x) { return x; }}; });
  CHECK(system.request_as<int>(a, std::string("?")).get().error() == errc::unexpected_message);
  CHECK(system.dead_letter_count(errc::unexpected_message) == 1);
  send(a, 2.5);
  CHECK(system.request_as<int>(a, 1).get().value() == 1);
  CHECK(system.dead_letter_count(errc::unexpected_message) == 2);
}

TEST_CASE("default handling: drop forgets the message but answers a request") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor& self) -> behavior {
    self.set_unmatched(unmatched::drop);
    return {[](int x) { return x; }};
  });
  send(a, 2.5);
  CHECK(system.request_as<int>(a, std::string("?")).get().error() == errc::unexpected_message);
  CHECK(system.dead_letter_count() == 0);
}

TEST_CASE(
    "default handling: bounce answers a request without a dead letter, other messages are dead "
    "letters") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor& self) -> behavior {
    self.set_unmatched(unmatched::bounce);
    return {[](int x) { return x; }};
  });
  CHECK(system.request_as<int>(a, std::string("?")).get().error() == errc::unexpected_message);
  CHECK(system.dead_letter_count() == 0);
  send(a, 2.5);
  CHECK(system.request_as<int>(a, 1).get().value() == 1);
  CHECK(system.dead_letter_count(errc::unexpected_message) == 1);
}

TEST_CASE("default handling: skip keeps messages in order and tries them again after become") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor& self) -> behavior {
    self.set_unmatched(unmatched::skip);
    auto log = std::make_shared<std::vector<int>>();
    return {[&self, log](const std::string&) {
      self.become([log](int x) { log->push_back(x); }, [log](double) { return *log; });
    }};
  });
  send(a, 1);
  send(a, 2);
  send(a, 3);
  send(a, std::string("open"));
  send(a, 4);
  CHECK(system.request_as<std::vector<int>>(a, 0.5).get().value() == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE("skipped messages are dead letters when their actor ends") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor& self) -> behavior {
    self.set_unmatched(unmatched::skip);
    return {[&self](const std::string&) { self.quit(); }};
  });
  send(a, 1);
  auto waiting = system.request_as<int>(a, 2);
  send(a, std::string("end"));
  CHECK(waiting.get().error() == errc::not_handled);
  REQUIRE(system.await_all().has_value());
  CHECK(system.dead_letter_count(errc::not_handled) == 2);
}

TEST_CASE("receive time-out runs when nothing arrives") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor& self) -> behavior {
    auto beats = std::make_shared<int>(0);
    return {[](int x) { return x; }, after(duration::milliseconds(1)) >>
                                         [&self, beats] {
                                           if (++*beats == 3) self.quit();
                                         }};
  });
  CHECK(system.await_all().has_value());
}

TEST_CASE("receive time-out ends with the behavior that asked for it") {
  actor_system system;
  core::scoped_actor me(system.env());
  const any_ref a = system.spawn(
      [](dynamic_actor& self, any_ref to) -> behavior {
        return {[](int x) { return x; }, after(duration::milliseconds(1)) >>
                                             [&self, to] {
                                               self.become([](int x) { return x * 2; });
                                               send(to, 1);
                                             }};
      },
      me->self());
  int beats = 0;
  me->receive([&](int) { ++beats; });
  CHECK(system.request_as<int>(a, 4).get().value() == 8);
  CHECK(!me->receive([&](int) { ++beats; }, after(duration::milliseconds(5)) >> [] {}));
  CHECK(beats == 1);
}

}  // namespace

}  // namespace actors_function_based_test
