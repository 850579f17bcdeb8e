// Routers whose members come and go while they are used.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace changing_router_test {

namespace {

using namespace garrick;

struct who {};
struct add_one {};
using member = protocol<std::uint64_t(who), void(add_one)>;

std::atomic<int> handled{0};

class member_actor : public actor<member> {
 public:
  std::uint64_t on(who) { return id(); }
  // order: the test reads it after the system's end
  void on(add_one) { handled.fetch_add(1, std::memory_order_relaxed); }
};

/// Asks a pool, made in the actor, with one member that a message brings.
class front_actor : public actor<protocol<result<std::uint64_t>(who), void(ref<member>)>> {
 public:
  task<std::uint64_t> on(who) {
    const result<std::uint64_t> r = co_await request<who>(pool_);
    if (!r) co_return r.error();
    co_return *r;
  }
  void on(ref<member> m) { pool_.add(std::move(m)); }

 private:
  changing_router<member> pool_{*this};
};

}  // namespace

TEST_CASE("members join and leave a changing router, and the policy goes on") {
  testkit::test_system system;
  const changing_router<member> pool(system);
  const auto a = system.spawn<member_actor>();
  const auto b = system.spawn<member_actor>();
  const auto c = system.spawn<member_actor>();
  CHECK(pool.add(a));
  CHECK(pool.add(b));
  CHECK_FALSE(pool.add(b));
  const auto ask = [&] { return system.request(pool, who{}).get().value(); };
  CHECK(ask() == a.id());
  CHECK(ask() == b.id());
  CHECK(pool.add(c));
  CHECK(ask() == c.id());
  CHECK(pool.remove(a));
  CHECK_FALSE(pool.remove(a));
  CHECK(pool.members() == std::vector<ref<member>>{b, c});
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 4; ++i) seen.insert(ask());
  CHECK(seen == std::set<std::uint64_t>{b.id(), c.id()});
}

TEST_CASE("without members a send is a dead letter and a request is not handled") {
  testkit::test_system system;
  const changing_router<member> pool(system);
  CHECK(pool.members().empty());
  CHECK(system.request(pool, who{}).get().error() == errc::not_handled);
  send(pool, add_one{});
  CHECK(system.dead_letters().size() == 2);
  CHECK(try_send(pool, add_one{}) == errc::not_handled);
  const auto a = system.spawn<member_actor>();
  CHECK(pool.add(a));
  CHECK(system.request(pool, who{}).get().value() == a.id());
  CHECK(pool.remove(a));
  CHECK(system.request(pool, who{}).get().error() == errc::not_handled);
  CHECK_THROWS_AS(pool.add(ref<member>()), std::invalid_argument);
}

TEST_CASE("a member that has ended is no member any more, and one that left may end") {
  testkit::test_system system;
  const changing_router<member> pool(system);
  auto a = system.spawn<member_actor>();
  auto b = system.spawn<member_actor>();
  pool.add(a);
  pool.add(b);
  system.kill(a);
  system.run();
  CHECK(pool.members() == std::vector<ref<member>>{b});
  CHECK(system.request(pool, who{}).get().value() == b.id());
  CHECK(system.actor_count() == 1);
  pool.remove(b);
  b = {};
  system.run();
  CHECK(system.actor_count() == 0);
}

TEST_CASE("a changing broadcast reaches the members of the moment") {
  testkit::test_system system;
  const changing_router<member, broadcast> all(system);
  const auto a = system.spawn<member_actor>();
  const auto b = system.spawn<member_actor>();
  all.add(a);
  CHECK(system.request(all, who{}).get().value().size() == 1);
  all.add(b);
  const auto answers = system.request(all, who{}).get().value();
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].value() == a.id());
  CHECK(answers[1].value() == b.id());
}

TEST_CASE("an actor makes a changing router for itself") {
  testkit::test_system system;
  const auto front = system.spawn<front_actor>();
  const auto a = system.spawn<member_actor>();
  // the front has seen the request, so the error that it passes on says so
  CHECK(system.request(front, who{}).get().error() == errc::broken_promise);
  send(front, a);
  CHECK(system.request(front, who{}).get().value() == a.id());
}

TEST_CASE("nothing that is sent while members come and go is lost") {
  handled = 0;
  constexpr int each = 2000;
  {
    actor_system system;
    const changing_router<member, least_loaded> pool(system);
    std::vector<ref<member>> all;
    for (int i = 0; i < 4; ++i) all.push_back(system.spawn<member_actor>());
    pool.add(all[0]);
    std::vector<std::thread> senders;
    for (int t = 0; t < 2; ++t)
      senders.emplace_back([pool] {
        for (int i = 0; i < each; ++i) send(pool, add_one{});
      });
    for (int round = 0; round < 300; ++round) {
      const auto& m = all[1 + static_cast<std::size_t>(round) % 3];
      pool.add(m);
      pool.remove(m);
    }
    for (std::thread& t : senders) t.join();
  }
  CHECK(handled == 2 * each);
}

}  // namespace changing_router_test
