// A scoped actor and the end of its system: a wait ends, and the actor may live on.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/silent_actor.hpp"

namespace scoped_actors_test {

namespace {

using namespace garrick;
using tests::ask;
using tests::silent;
using tests::silent_actor;
using core::environment;

/// Returns the result of `wait`, or the text of its exception.
template <class Wait>
std::string end_of(Wait wait) {
  try {
    return wait();
  } catch (const blocking_actor_ends& x) { return x.what(); }
}

/// Lets a thread wait in a scoped actor of a system that is destroyed meanwhile.
template <class Wait>
std::string told_at_the_end(Wait wait) {
  std::string told;
  std::optional<actor_system> system(std::in_place);
  std::latch inside(1);
  std::thread waiting([&] {
    core::scoped_actor me(system->env());
    inside.count_down();
    told = end_of([&] { return wait(me); });
  });
  inside.wait();
  system.reset();
  waiting.join();
  return told;
}

constexpr const char* ended = "garrick: this blocking actor was told to end";
constexpr int rounds = 20;  // whether the thread sleeps already is up to the machine

}  // namespace

TEST_CASE("a thread in receive() is woken when the system ends") {
  for (int i = 0; i < rounds; ++i)
    CHECK(told_at_the_end([](core::scoped_actor& me) {
            me->receive([](int) {});
            return "a message";
          }) == ended);
  CHECK(told_at_the_end([](core::scoped_actor& me) {
          me->receive([](int) {}, after(duration::seconds(3600)) >> [] {});
          return "a time-out";
        }) == ended);
}

TEST_CASE("a thread in get() is answered when the system ends, also by another system's actor") {
  actor_system other;
  const auto never_answers = other.spawn<silent_actor>();
  for (int i = 0; i < rounds; ++i) {
    const std::string told = told_at_the_end([&](core::scoped_actor& me) {
      return me->get(me->request(never_answers, ask{})).error().to_string();
    });
    CHECK(told.starts_with(error(errc::cancelled).to_string()));
    CHECK(told.find("told to end") != std::string::npos);
  }
}

TEST_CASE("a thread in get() hears of its own system's actor first, and then that all is over") {
  for (int i = 0; i < rounds; ++i) {
    std::optional<actor_system> system(std::in_place);
    const auto to = system->spawn<silent_actor>();
    std::latch inside(1);
    error first, second;
    std::thread waiting([&] {
      core::scoped_actor me(system->env());
      auto asked = me->request(to, ask{});
      inside.count_down();
      first = me->get(std::move(asked)).error();
      second = me->get(me->request(to, ask{})).error();
    });
    inside.wait();
    system.reset();
    waiting.join();
    const bool answered = first == errc::broken_promise || first == errc::not_handled;
    CHECK(answered);
    const bool too_late = second == errc::not_handled || second == errc::cancelled;
    CHECK(too_late);
  }
}

TEST_CASE("a scoped actor may outlive its system: it sends and asks, and waits for no answer") {
  std::optional<actor_system> system(std::in_place);
  const auto to = system->spawn<silent_actor>();
  std::optional<core::scoped_actor> me(std::in_place, system->env());
  auto asked = (*me)->request(to, ask{}, duration::seconds(3600));
  system.reset();
  send(to, ask{});
  (*me)->send(to, ask{});
  CHECK_FALSE((*me)->get(std::move(asked)).has_value());
  CHECK_FALSE((*me)->get((*me)->request(to, ask{}, duration::seconds(1))).has_value());
  CHECK_FALSE((*me)->get((*me)->delay(duration::seconds(1))).has_value());
  CHECK(end_of([&] {
          (*me)->receive([](int) {}, after(duration::seconds(1)) >> [] {});
          return "a time-out";
        }) == ended);
  CHECK(end_of([&] {
          (*me)->receive([](int) {});
          return "a message";
        }) == ended);
  me.reset();
}

TEST_CASE("a handler that waits as a scoped actor is woken at the deadline, now and again") {
  struct waiting_actor : actor<protocol<void(ask)>> {
    environment* env;
    ref<silent> elsewhere;
    std::vector<std::string>* told;
    std::latch* inside;
    waiting_actor(environment* e, ref<silent> r, std::vector<std::string>* t, std::latch* l)
        : env(e), elsewhere(std::move(r)), told(t), inside(l) {}
    void on(ask) {
      inside->count_down();
      for (int i = 0; i < 3; ++i) {
        core::scoped_actor me(*env);
        told->push_back(end_of([&] {
          me->receive([](int) {});
          return "a message";
        }));
        const error why = me->get(me->request(elsewhere, ask{})).error();
        told->push_back(why == errc::cancelled ? "cancelled" : why.to_string());
      }
    }
  };
  actor_system other;
  const auto never_answers = other.spawn<silent_actor>();
  std::vector<std::string> told;
  std::latch inside(1);
  {
    settings o;
    o.shutdown.deadline = duration::milliseconds(20);
    o.log.level = system::log_level::off;
    actor_system system(o);
    const auto waits =
        system.spawn<waiting_actor>(spawn_options{.detached = true}, lent(&system.env()),
                                    never_answers, lent(&told), lent(&inside));
    send(waits, ask{});
    inside.wait();
  }
  CHECK(told ==
        std::vector<std::string>{ended, "cancelled", ended, "cancelled", ended, "cancelled"});
}

TEST_CASE("a request of a thread may outlive its system") {
  std::optional<actor_system> system(std::in_place);
  const auto to = system->spawn<silent_actor>();
  auto asked = system->request(to, ask{});
  system.reset();
  const error why = asked.get().error();
  const bool told = why == errc::broken_promise || why == errc::not_handled;
  CHECK(told);
}

TEST_CASE("a scoped actor may outlive a test system") {
  std::optional<testkit::test_system> kit(std::in_place, 1);
  const auto to = kit->spawn<silent_actor>();
  std::optional<core::scoped_actor> me(std::in_place, kit->env());
  kit.reset();
  send(to, ask{});
  (*me)->send(to, ask{});
  me.reset();
}

TEST_CASE("scoped actors come and go on many threads while others live") {
  actor_system system;
  struct echo : actor<protocol<int(int)>> {
    int on(int n) { return n; }
  };
  const auto to = system.spawn<echo>();
  std::vector<std::thread> crowd;
  for (int t = 0; t < 4; ++t)
    crowd.emplace_back([&] {
      core::scoped_actor outer(system.env());
      for (int i = 0; i < 100; ++i) CHECK(system.request(to, i).get().value() == i);
      CHECK(outer->get(outer->request(to, 1)).value() == 1);
    });
  for (std::thread& t : crowd) t.join();
}

TEST_CASE("a thread keeps several requests in a vector, and takes the answers in any order") {
  using doubling = protocol<int(int)>;
  struct doubler : actor<doubling> {
    int on(int n) { return 2 * n; }
  };
  actor_system system;
  const auto d = system.spawn<doubler>();
  std::vector<system::blocking_response<int>> asked;
  for (int i = 0; i < 20; ++i) asked.push_back(system.request(d, i));
  asked.erase(asked.begin());  // its answer is not wanted: the others move up
  for (int i = 19; i > 0; --i) CHECK(asked[static_cast<std::size_t>(i) - 1].get().value() == 2 * i);
}

TEST_CASE("a blocking response that was moved from has no answer, and may be dropped or assigned") {
  testkit::test_system kit;
  const auto to = kit.spawn<silent_actor>();
  const auto other =
      kit.spawn([](dynamic_actor&) -> behavior { return {[](int n) { return n; }}; });
  auto first = kit.request_as<int>(other, 7);
  auto second = std::move(first);
  CHECK(first.get().error() == errc::cancelled);
  static_cast<void>(first.within(duration::seconds(1)));  // of nothing
  CHECK(second.get().value() == 7);
  first = kit.request_as<int>(other, 8);
  CHECK(first.get().value() == 8);
  CHECK(first.get().error() == errc::cancelled);  // taken before
  auto third = kit.request_as<int>(other, 9).within(duration::seconds(1));
}

TEST_CASE("a scoped actor that is moved stays the same actor, and the one before it ends") {
  testkit::test_system kit;
  core::scoped_actor first(kit.env());
  const any_ref mine = first->self();
  core::scoped_actor second(std::move(first));
  send(mine, 7);
  int got = 0;
  CHECK(second->receive([&](int n) { got = n; }));
  CHECK(got == 7);
  first = core::scoped_actor(kit.env());
  send(first->self(), 8);
  CHECK(first->receive([&](int n) { got = n; }));
  second = std::move(first);
  kit.expect_down(mine);
  send(second->self(), 9);
  CHECK(second->receive([&](int n) { got = n; }));
  CHECK(got == 9);
  core::scoped_actor& same = second;
  second = std::move(same);
  send(second->self(), 10);
  CHECK(second->receive([&](int n) { got = n; }));
  CHECK(got == 10);
}

TEST_CASE("a blocking response that is assigned to itself keeps its answer") {
  struct doubler : actor<protocol<int(int)>> {
    int on(int n) { return 2 * n; }
  };
  testkit::test_system kit;
  auto asked = kit.request(kit.spawn<doubler>(), 4);
  auto& same = asked;
  asked = std::move(same);
  CHECK(asked.get().value() == 8);
}

}  // namespace scoped_actors_test
