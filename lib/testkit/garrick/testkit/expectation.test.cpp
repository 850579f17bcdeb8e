// expect, allow, inject and similar functions: their deliveries, and the texts of their failures.
#include <garrick/base/platform/platform.hpp>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

namespace expectation_test {

using namespace garrick;
using testkit::test_system;

namespace {

struct deposit {
  long cents;
  std::string purpose;
};
struct withdraw {
  long cents;
};
using plus = atom<"plus">;

using account = protocol<void(deposit), result<long>(withdraw)>;

class account_actor : public actor<account> {
 public:
  void on(const deposit& d) { cents += d.cents; }
  result<long> on(const withdraw& w) {
    if (w.cents > cents) return make_error(errc::user, "account", "not enough");
    return cents -= w.cents;
  }
  long cents = 0;
};

struct pay {
  long cents;
};

class customer_actor : public actor<protocol<void(pay), void(plus, int, int)>> {
 public:
  explicit customer_actor(ref<account> a) : account_(std::move(a)) {}
  void on(const pay& p) {
    send(account_, deposit{p.cents, "wages"});
    request(account_, withdraw{p.cents}).then([this](long left_over) { left = left_over; });
  }
  void on(plus, int a, int b) { sum = a + b; }
  long left = -1;
  int sum = 0;

 private:
  ref<account> account_;
};

template <class F>
std::string text_of_failure(F f) {
  try {
    f();
  } catch (const testkit::failure& x) { return x.what(); }
  return {};
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("expect delivers exactly the next message") {
  test_system kit(5);
  const auto acc = kit.spawn<account_actor>();
  const auto bob = kit.spawn<customer_actor>(acc);
  send(bob, pay{10});
  kit.expect<pay>().to(bob).from_outside().with(pay{10});
  CHECK(kit.inspect<account_actor>(acc).cents == 0);
  kit.expect<deposit>().to(acc).from(bob).with([](const deposit& d) { return d.cents == 10; });
  CHECK(kit.inspect<account_actor>(acc).cents == 10);
  kit.expect<withdraw>().to(acc).from(bob);
  CHECK(kit.inspect<account_actor>(acc).cents == 0);
  CHECK(kit.inspect<customer_actor>(bob).left == -1);
  kit.expect<long>().to(bob).from(acc).with(0L);  // the response
  CHECK(kit.inspect<customer_actor>(bob).left == 0);
  kit.expect_none().to(bob);
  kit.expect_none().to(acc);
}

TEST_CASE("a wrong type, sender or content reads well and delivers nothing") {
  test_system kit(5);
  const auto acc = kit.spawn<account_actor>();
  const auto bob = kit.spawn<customer_actor>(acc);
  send(acc, deposit{7, "rent"});
  const std::string type = text_of_failure([&] { kit.expect<withdraw>().to(acc); });
  CHECK(has(type, "expected "));
  CHECK(has(type, "withdraw for "));
  CHECK(has(type, "but the next message is "));
  CHECK(has(type, "7"));
  CHECK(has(type, "rent"));
  CHECK(has(type, "from the test"));
  CHECK(has(type, "GARRICK_SEED=5"));
  CHECK(has(type, "expectation.test.cpp:"));
  CHECK(has(text_of_failure([&] { kit.expect<deposit>().to(acc).from(bob); }), "from the test"));
  CHECK(has(text_of_failure([&] { kit.expect<deposit>().to(acc).with(deposit{8, "rent"}); }), "8"));
  CHECK(has(text_of_failure([&] {
              kit.expect<deposit>().to(acc).with([](const deposit& d) { return d.cents == 8; });
            }),
            "predicate"));
  CHECK(has(text_of_failure([&] { kit.expect<deposit>().to(bob); }), "no message waits there"));
  CHECK(kit.inspect<account_actor>(acc).cents == 0);
  kit.expect<deposit>().to(acc).with(deposit{7, "rent"});
  CHECK(kit.inspect<account_actor>(acc).cents == 7);
}

TEST_CASE("expect takes messages of several parts") {
  test_system kit;
  const auto bob = kit.spawn<customer_actor>(kit.spawn<account_actor>());
  send(bob, plus{}, 1, 2);
  kit.expect<plus, int, int>().to(bob).with([](plus, int a, int b) {
    CHECK(a == 1);
    CHECK(b == 2);
  });
  CHECK(kit.inspect<customer_actor>(bob).sum == 3);
  send(bob, plus{}, 3, 4);
  kit.expect<plus, int, int>().to(bob).with(plus{}, 3, 4);
}

TEST_CASE("the next message is the urgent one") {
  test_system kit;
  const auto acc = kit.spawn<account_actor>();
  send(acc, deposit{1, "a"});
  send_urgent(acc, deposit{2, "b"});
  CHECK(kit.mailbox(acc).size() == 2);
  kit.expect<deposit>().to(acc).with(deposit{2, "b"});
  kit.expect<deposit>().to(acc).with(deposit{1, "a"});
}

TEST_CASE("allow delivers a message that fits and leaves one that does not") {
  test_system kit;
  const auto acc = kit.spawn<account_actor>();
  CHECK_FALSE(kit.allow<deposit>().to(acc));
  send(acc, deposit{1, "a"});
  CHECK_FALSE(kit.allow<withdraw>().to(acc));
  CHECK(kit.allow<deposit>().to(acc));
  CHECK(kit.inspect<account_actor>(acc).cents == 1);
}

TEST_CASE("expect_none looks at the whole mailbox") {
  test_system kit;
  const auto acc = kit.spawn<account_actor>();
  kit.expect_none().to(acc);
  send(acc, deposit{1, "a"});
  kit.expect_none<withdraw>().to(acc);
  CHECK(has(text_of_failure([&] { kit.expect_none().to(acc); }), "expected no message"));
  send(acc, withdraw{1});
  CHECK(has(text_of_failure([&] { kit.expect_none<withdraw>().to(acc); }), "withdraw"));
}

TEST_CASE("inject sends and delivers at once") {
  test_system kit;
  const auto acc = kit.spawn<account_actor>();
  const auto bob = kit.spawn<customer_actor>(acc);
  kit.inject(deposit{5, "gift"}).from(bob).to(acc);
  CHECK(kit.inspect<account_actor>(acc).cents == 5);
  send(acc, deposit{1, "a"});
  CHECK(has(text_of_failure([&] { kit.inject(deposit{5, "gift"}).to(acc); }),
            "another message waits before it"));
}

TEST_CASE("a message that is not handled but set aside is no success") {
  test_system kit;
  const auto acc = kit.spawn<account_actor>();
  const auto waiter = kit.spawn(
      [](dynamic_actor& self, ref<account> a) -> behavior {
        return {[&self, a](int) { self.request(a, withdraw{0}).await([](long) {}); }};
      },
      ref<account>(acc));
  send(waiter, 1);
  kit.expect<int>().to(waiter);
  send(waiter, 2);
  CHECK(has(text_of_failure([&] { kit.expect<int>().to(waiter); }),
            "awaits a response: all else is set aside"));
}

TEST_CASE("expect_down and expect_alive tell the reason") {
  test_system kit;
  const auto acc = kit.spawn<account_actor>();
  kit.run();
  kit.expect_alive(acc);
  CHECK(has(text_of_failure([&] { kit.expect_down(acc); }), "should have ended, but it lives"));
  kit.exit(acc, exit_code::user_shutdown);
  kit.expect_down(acc, exit_code::user_shutdown);
  CHECK(has(text_of_failure([&] { kit.expect_alive(acc); }), "should live, but it ended"));
  CHECK(
      has(text_of_failure([&] { kit.expect_down(acc, exit_code::normal); }), "but it ended with"));
}

TEST_CASE("dead letters are expected one by one") {
  test_system kit;
  const auto acc = kit.spawn<account_actor>();
  kit.kill(acc);
  kit.run();
  send(acc, deposit{3, "late"});
  CHECK(has(text_of_failure([&] { kit.expect_no_dead_letters(); }), "late"));
  CHECK(
      has(text_of_failure([&] { kit.expect_dead_letter(errc::overload); }), "but there are only"));
  const testkit::lost_message m = kit.expect_dead_letter<deposit>(errc::not_handled);
  CHECK(has(m.content, "late"));
  kit.expect_no_dead_letters();
  CHECK(has(text_of_failure([&] { kit.expect_dead_letter(errc::not_handled); }),
            "but there is none"));
}

TEST_CASE("a hundred thousand dead letters are expected in their order, each in a short time") {
  constexpr int letters = 100'000;
  test_system kit;
  const auto acc = kit.spawn<account_actor>();
  kit.kill(acc);
  kit.run();
  for (int i = 0; i != letters; ++i) {
    send(acc, deposit{i, "a"});
    if (i % 100 == 0) send(acc, withdraw{i});
  }
  const std::uint64_t begin = base::platform::thread_cpu_ns();
  for (int i = 0; i != letters; i += 100)
    CHECK(has(kit.expect_dead_letter<withdraw>(errc::not_handled).content,
              std::to_string(i).c_str()));
  const std::string text = text_of_failure([&] { kit.expect_dead_letter(errc::overload); });
  CHECK(has(text, "and 99900 more"));
  for (int i = 0; i != letters; ++i) {
    const testkit::lost_message m = kit.expect_dead_letter<deposit>(errc::not_handled);
    if (i % 1000 == 0) CHECK(has(m.content, std::to_string(i).c_str()));
  }
  kit.expect_no_dead_letters();
  // If each expectation looked at all letters, this would take minutes of processor time.
  CHECK(base::platform::thread_cpu_ns() - begin < 20'000'000'000);
}

TEST_CASE("inspect refuses the wrong type and the dead") {
  test_system kit;
  const auto acc = kit.spawn<account_actor>();
  CHECK(has(text_of_failure([&] { static_cast<void>(kit.inspect<customer_actor>(acc)); }),
            "it is a "));
  kit.kill(acc);
  kit.run();
  CHECK(has(text_of_failure([&] { static_cast<void>(kit.inspect<account_actor>(acc)); }),
            "it has ended"));
}

}  // namespace expectation_test
