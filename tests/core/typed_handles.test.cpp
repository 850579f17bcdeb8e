// Typed handles to actors behind a wildcard, checked once while the program runs.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace typed_handles_test {

namespace {

using namespace garrick;

struct plus {
  int a;
  int b;
};
struct clear {};
using calculator = protocol<int(plus), void(clear)>;
using adder = protocol<int(plus)>;
using speaker = protocol<std::string(plus)>;

behavior calculates(dynamic_actor& self) {
  return {[](plus p) { return p.a + p.b; }, [](clear) {},
          [&self](std::string) { self.become([](clear) {}); }};
}

/// Refuses each request, and says why.
class asker : public actor<protocol<result<int>(any_ref)>> {
 public:
  task<int> on(any_ref to) {
    const result<ref<calculator>> typed = co_await request_typed<calculator>(to);
    if (!typed) co_return typed.error();
    const result<int> sum = co_await request<plus>(*typed, 3, 4);
    co_return *sum;
  }
};

using question = decltype(std::declval<testkit::test_system&>().request_typed<adder>(any_ref()));

/// Its handler makes a request itself, before it fails.
struct lent_question {
  using garrick_sendable = void;
  testkit::test_system* system;
  const any_ref* to;
  std::unique_ptr<question>* asked;
};

struct fragile : dynamic_actor {
  void on_start() {
    become([](plus p) { return p.a + p.b; }, [](clear) { throw std::runtime_error("cleared"); },
           [](const lent_question& q) {
             q.asked->reset(new question(q.system->request_typed<adder>(*q.to)));
             throw std::runtime_error("asked");
           });
  }
};

}  // namespace

TEST_CASE("a dynamic actor that understands a protocol gets a typed handle") {
  testkit::test_system system;
  const any_ref any = system.spawn(calculates);
  const result<ref<calculator>> typed = system.request_typed<calculator>(any).get();
  REQUIRE(typed.has_value());
  CHECK(*typed == any);
  CHECK(system.request(*typed, plus{1, 2}).get().value() == 3);
  CHECK(system.request_typed<adder>(any).get().has_value());
  CHECK(system.request(system.spawn<asker>(), any).get().value() == 7);
}

TEST_CASE("a message that an actor does not understand is named") {
  testkit::test_system system;
  const any_ref any = system.spawn([](dynamic_actor&) -> behavior { return {[](clear) {}}; });
  const result<ref<calculator>> none = system.request_typed<calculator>(any).get();
  REQUIRE(!none.has_value());
  CHECK(none.error() == errc::unexpected_message);
  CHECK(none.error().to_string().find("plus") != std::string::npos);
  CHECK(none.error().to_string().find("with int") != std::string::npos);
}

TEST_CASE("an answer of another type is not understood") {
  testkit::test_system system;
  const any_ref any = system.spawn(calculates);
  CHECK(system.request_typed<speaker>(any).get().error() == errc::unexpected_message);
}

TEST_CASE("cases with values and a catch-all count by the types that they take and give") {
  testkit::test_system system;
  const any_ref any = system.spawn([](dynamic_actor&) -> behavior {
    return {on(42) >> [] { return std::string("the answer"); },
            otherwise >> [](const message&) { return 1; }};
  });
  using by_value = protocol<std::string(int)>;
  using by_rest = protocol<int(plus), int(clear)>;
  CHECK(system.request_typed<by_value>(any).get().has_value());
  CHECK(system.request_typed<by_rest>(any).get().has_value());
  CHECK(system.request_typed<calculator>(any).get().error() == errc::unexpected_message);
}

TEST_CASE("the check is of the present behavior, and is made once") {
  testkit::test_system system;
  const any_ref any = system.spawn(calculates);
  const ref<calculator> typed = system.request_typed<calculator>(any).get().value();
  send(any, std::string("forget plus"));
  system.run();
  CHECK(system.request_typed<calculator>(any).get().error() == errc::unexpected_message);
  CHECK(system.request(typed, plus{1, 2}).get().error() == errc::unexpected_message);
}

TEST_CASE("an actor of a class is asked for its protocol") {
  struct sums : actor<calculator> {
    int on(plus p) { return p.a + p.b; }
    void on(clear) {}
  };
  testkit::test_system system;
  const any_ref any(system.spawn<sums>());
  CHECK(system.request_typed<adder>(any).get().has_value());
  CHECK(system.request_typed<speaker>(any).get().error() == errc::unexpected_message);
}

TEST_CASE("a signature without an answer that is missing is named as it is written") {
  testkit::test_system system;
  const any_ref any = system.spawn([](dynamic_actor&) -> behavior { return {[](plus) {}}; });
  const error why = system.request_typed<protocol<void(clear)>>(any).get().error();
  CHECK(why == errc::unexpected_message);
  CHECK(why.to_string().ends_with("clear with void"));
}

TEST_CASE("an actor that awaits in its start is asked when it has its behavior") {
  struct late : dynamic_actor {
    task<> on_start() {
      static_cast<void>(co_await delay(duration::milliseconds(5)));
      become([](plus p) { return p.a + p.b; });
    }
  };
  testkit::test_system system;
  const any_ref any = system.spawn<late>();
  CHECK(system.request_typed<adder>(any).get().has_value());
  const any_ref other = system.spawn<late>();
  CHECK(system.request_typed<calculator>(other).get().error() == errc::unexpected_message);
}

TEST_CASE("a child that waits for its restart is asked when it lives again") {
  testkit::test_system system;
  const auto top = system.spawn<supervisor>(supervision{
      .max_restarts = 100,
      .delay = {.first = duration::milliseconds(5), .longest = duration::milliseconds(5)}});
  const any_ref child = supervise<fragile>(top, child_options{});
  while (system.step()) {}
  send(child, clear{});
  while (system.step()) {}  // time does not advance: it waits now
  const result<ref<adder>> typed = system.request_typed<adder>(child).get();
  REQUIRE(typed.has_value());
  CHECK(system.request(*typed, plus{1, 2}).get().value() == 3);
}

TEST_CASE("an actor asked while it fails answers when it lives again, or turns the question away") {
  for (const bool restarts : {true, false}) {
    testkit::test_system system;
    const auto top = system.spawn<supervisor>(supervision{.max_restarts = restarts ? 100u : 0u});
    const any_ref child = supervise<fragile>(top, child_options{});
    std::unique_ptr<question> asked;
    send(child, lent_question{&system, &child, &asked});
    system.run();
    REQUIRE(asked != nullptr);
    const result<ref<adder>> typed = asked->get();
    CHECK(typed.has_value() == restarts);
    if (!restarts) CHECK(typed.error() == errc::not_handled);
  }
}

TEST_CASE("a question to an actor that quits or fails in its start is not handled") {
  struct fails : actor<adder> {
    void on_start() { throw std::runtime_error("no start"); }
    int on(plus p) { return p.a + p.b; }
  };
  testkit::test_system system;
  const any_ref quits = system.spawn([](dynamic_actor& self) { self.quit(); });
  CHECK(system.request_typed<adder>(quits).get().error() == errc::not_handled);
  const any_ref throws =
      system.spawn([](dynamic_actor&) -> behavior { throw std::runtime_error("no behavior"); });
  CHECK(system.request_typed<adder>(throws).get().error() == errc::not_handled);
  const any_ref class_based(system.spawn<fails>());
  CHECK(system.request_typed<adder>(class_based).get().error() == errc::not_handled);
}

TEST_CASE("a question to an actor that has ended is not handled") {
  testkit::test_system system;
  const any_ref any = system.spawn(calculates);
  system.kill(any);
  system.run();
  CHECK(system.request_typed<adder>(any).get().error() == errc::not_handled);
}

}  // namespace typed_handles_test
