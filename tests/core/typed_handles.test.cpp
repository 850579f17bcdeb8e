// Typed handles to actors behind a wildcard, checked once while the program runs.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <string>

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

/// Refuses what it is asked for, and says why.
class asker : public actor<protocol<result<int>(any_ref)>> {
 public:
  task<int> on(any_ref to) {
    const result<ref<calculator>> typed = co_await request_typed<calculator>(to);
    if (!typed) co_return typed.error();
    const result<int> sum = co_await request<plus>(*typed, 3, 4);
    co_return *sum;
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

TEST_CASE("what an actor does not understand is named") {
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

TEST_CASE("whoever has ended is not handled") {
  testkit::test_system system;
  const any_ref any = system.spawn(calculates);
  system.kill(any);
  system.run();
  CHECK(system.request_typed<adder>(any).get().error() == errc::not_handled);
}
