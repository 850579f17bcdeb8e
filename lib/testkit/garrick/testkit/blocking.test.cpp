// Detached and blocking actors under the deterministic system: their own threads, one baton,
// virtual time.
#include <garrick/garrick.hpp>
#include <garrick/testkit/explore.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <thread>

namespace blocking_test {

using namespace garrick;
using testkit::test_system;

namespace {

using adder = protocol<int(int)>;

class adder_actor : public actor<adder> {
 public:
  int on(int x) {
    thread = std::this_thread::get_id();
    return sum += x;
  }
  int sum = 0;
  std::thread::id thread;
};

}  // namespace

TEST_CASE("a blocking actor receives, waits and times out in virtual time") {
  test_system kit(3);
  std::string log;
  const auto b = kit.spawn(lent([&log](blocking_actor& self) {
    self.receive([&](int x) { log += std::to_string(x) + " "; },
                 after(duration::seconds(5)) >> [] {});
    self.receive([&](int x) { log += std::to_string(x) + " "; },
                 after(duration::seconds(5)) >> [&] { log += "late "; });
    self.receive([&](int x) { log += std::to_string(x) + " "; });
  }));
  kit.run();
  send(b, 1);
  kit.run();
  const instant start = kit.now();
  kit.run_for(duration::seconds(5));
  CHECK(log == "1 late ");
  CHECK(kit.now() - start == duration::seconds(5));
  kit.expect_alive(b);
  send(b, 2);
  kit.run();
  CHECK(log == "1 late 2 ");
  kit.expect_down(b, exit_code::normal);
}

TEST_CASE("a blocking actor asks another and gets the answer") {
  test_system kit(3);
  const auto a = kit.spawn<adder_actor>();
  int got = 0;
  const auto b = kit.spawn(lent([&got](blocking_actor& self, ref<adder> to) {
                             for (int i = 1; i <= 3; ++i)
                               got = self.get(self.request(to, i)).value();
                           }),
                           ref<adder>(a));
  kit.run();
  CHECK(got == 6);
  kit.expect_down(b);
}

TEST_CASE("a detached actor runs on a thread of its own, message by message") {
  test_system kit(3);
  const auto a = kit.spawn<adder_actor>(spawn_options{.detached = true});
  CHECK(kit.request(a, 3).get().value() == 3);
  CHECK(kit.request(a, 4).get().value() == 7);
  CHECK(kit.inspect<adder_actor>(a).thread != std::this_thread::get_id());
  for (int i = 0; i < 3; ++i) send(a, 1);
  for (int i = 1; i <= 3; ++i) {
    CHECK(kit.step());
    CHECK(kit.inspect<adder_actor>(a).sum == 7 + i);
  }
}

TEST_CASE(
    "blocking, detached and event-based actors interleave as the seed says, again and again the "
    "same") {
  const auto order_under = [](std::uint64_t seed) {
    test_system kit(seed);
    std::string log;
    std::vector<any_ref> all;
    for (const char name : {'a', 'b'})
      all.push_back(kit.spawn(lent([&log, name](blocking_actor& self) {
        for (int i = 0; i < 3; ++i) self.receive([&](int) { log += name; });
      })));
    for (const char name : {'c', 'd'})
      all.push_back(kit.spawn(spawn_options{.detached = name == 'c'},
                              lent([&log, name](dynamic_actor&) -> behavior {
                                return {[&log, name](int) { log += name; }};
                              })));
    const auto sender = kit.spawn(
        [](dynamic_actor& self, std::vector<any_ref> to) -> behavior {
          return {[&self, to](int n) {
            for (const any_ref& r : to) self.send(r, n);
            if (n < 3) self.send(any_ref(self.self()), n + 1);
          }};
        },
        all);
    send(sender, 1);
    kit.run();
    return log;
  };
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const std::string order = order_under(seed);
    CHECK(order.size() == 12);
    CHECK(order == order_under(seed));
    orders.insert(order);
  }
  CHECK(orders.size() > 10);
}

TEST_CASE("a blocking actor that waits is ended at the end, and its stack is unwound") {
  bool unwound = false;
  {
    test_system kit(1);
    const auto b = kit.spawn(lent([&unwound](blocking_actor& self) {
      struct at_end {
        bool& flag;
        ~at_end() { flag = true; }
      } const guard{unwound};
      self.receive([](int) {});
    }));
    kit.run();
    kit.expect_alive(b);
  }
  CHECK(unwound);
}

TEST_CASE("threads of ended actors are used again") {
  testkit::settings o;
  o.threads = 2;
  test_system kit(o);
  for (int i = 0; i < 20; ++i) {
    int got = 0;
    const auto b =
        kit.spawn(lent([&got](blocking_actor& self) { self.receive([&](int x) { got = x; }); }));
    send(b, i + 1);
    kit.run();
    CHECK(got == i + 1);
    kit.expect_down(b);
  }
}

TEST_CASE("a scoped actor on the test's thread lets the others run while it waits") {
  test_system kit(1);
  const auto a = kit.spawn<adder_actor>();
  core::scoped_actor self(kit.env());
  auto first = self->request(a, 1);
  auto second = self->request(a, 2);
  CHECK(self->get(std::move(second)).value() == 3);
  CHECK(self->get(std::move(first)).value() == 1);
  bool late = false;
  self->receive([](std::string) {}, after(duration::seconds(9)) >> [&] { late = true; });
  CHECK(late);
}

}  // namespace blocking_test
