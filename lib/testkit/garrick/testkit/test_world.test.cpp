// Several systems under one seed: equal seeds give equal runs of all systems together, turns of
// different systems are interleaved, and the end of one system does not end the others.
#include <garrick/core/actor.hpp>
#include <garrick/core/blocking.hpp>
#include <garrick/core/dynamic_actor.hpp>
#include <garrick/testkit/explore.hpp>
#include <garrick/testkit/test_world.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <doctest/doctest.h>

namespace test_world_test {

namespace {

using namespace garrick::core;
using garrick::base::duration;
using garrick::base::errc;
using garrick::testkit::test_system;
using garrick::testkit::test_world;

struct hit {
  int left;
};
struct note {
  int who;
};
struct total {};

using player = protocol<void(hit)>;
using journal = protocol<void(note), std::string(total)>;

/// Notes the arrivals, in their order.
class writer : public actor<journal> {
 public:
  void on(note n) { text_ += static_cast<char>('a' + n.who); }
  std::string on(total) { return text_; }

 private:
  std::string text_;
};

/// Sends its name to the journal, `left` times.
class speaker : public actor<player> {
 public:
  speaker(int who, ref<journal> to) : who_(who), to_(std::move(to)) {}
  void on(hit h) {
    send(to_, note{who_});
    if (h.left > 1) send(self(), hit{h.left - 1});
  }

 private:
  int who_;
  ref<journal> to_;
};

/// Two systems with actors that talk to the journal of a third one.
std::string written_under(std::uint64_t seed) {
  const test_world world(seed);
  test_system paper(world), left(world), right(world);
  const auto book = paper.spawn<writer>();
  send(left.spawn<speaker>(0, book), hit{6});
  send(right.spawn<speaker>(1, book), hit{6});
  send(right.spawn<speaker>(2, book), hit{6});
  left.run();
  return right.request(book, total{}).get().value();
}

}  // namespace

TEST_CASE(
    "equal seeds give equal orders of all systems together, different ones different orders") {
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string once = written_under(seed);
    CHECK(once.size() == 18);
    CHECK(once == written_under(seed));
    orders.insert(once);
  }
  CHECK(orders.size() > 15);
}

TEST_CASE("a system of its own runs as the only one of a world with its seed") {
  const auto run_in = [](test_system& kit) {
    const auto book = kit.spawn<writer>();
    for (int who = 0; who < 3; ++who) send(kit.spawn<speaker>(who, book), hit{4});
    kit.run();
    return kit.request(book, total{}).get().value();
  };
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    test_system alone(seed);
    const std::string text = run_in(alone);
    const test_world world(seed);
    test_system only(world, {.seed = 77});
    CHECK(only.seed() == seed);
    CHECK(run_in(only) == text);
  }
}

namespace {

/// Posts a note `left` seconds after a `hit`.
class delayer : public actor<protocol<void(hit)>> {
 public:
  explicit delayer(ref<journal> to) : to_(std::move(to)) {}
  void on(hit h) { send_after(duration::seconds(h.left), to_, note{4}); }

 private:
  ref<journal> to_;
};

struct broken : std::exception {
  const char* what() const noexcept override { return "broken"; }
};
class breaking : public actor<player> {
 public:
  void on(hit) { throw broken(); }
};

}  // namespace

TEST_CASE("systems of one world share their time, and a timer of one wakes actors of the other") {
  const test_world world(3);
  test_system one(world), other(world);
  const auto book = other.spawn<writer>();
  const auto clock = one.spawn<delayer>(book);
  send(clock, hit{5});
  other.run_for(duration::seconds(4));
  CHECK(one.now() == other.now());
  CHECK(other.timers_pending() == 1);
  CHECK(one.request(book, total{}).get().value().empty());
  one.run_for(duration::seconds(2));
  CHECK(one.request(book, total{}).get().value() == "e");
}

TEST_CASE("actors are numbered through a world, and names, losses and failures are each system's") {
  const test_world world(3);
  test_system one(world), other(world);
  const auto a = one.spawn<writer>();
  const auto b = other.spawn<writer>();
  const auto c = one.spawn<breaking>();
  CHECK(a.id() == 1);
  CHECK(b.id() == 2);
  CHECK(c.id() == 3);
  CHECK(one.living().size() == 2);
  CHECK(other.living().size() == 1);
  REQUIRE(one.registry().put("book", a).has_value());
  CHECK(!other.registry().get<journal>("book").has_value());
  send(c, hit{1});
  other.run();
  CHECK(one.failures().size() == 1);
  CHECK(other.failures().empty());
  one.expect_dead_letter(errc::receiver_failed);
  other.expect_no_dead_letters();
}

TEST_CASE("detached and blocking actors of several systems take their turns in one order") {
  const auto play = [](std::uint64_t seed) {
    const test_world world(seed);
    test_system one(world), other(world);
    const auto book = one.spawn<writer>(spawn_options{.detached = true});
    for (int who = 0; who < 3; ++who) {
      const auto say = [](blocking_actor& self, int me, const ref<journal>& to) {
        for (int i = 0; i < 3; ++i) {
          self.send(to, note{me});
          self.receive(after(duration::milliseconds(1)) >> [] {});
        }
      };
      test_system& its = who % 2 == 0 ? one : other;
      its.spawn(say, who, ref<journal>(book));
    }
    one.run_for(duration::seconds(1));
    return other.request(book, total{}).get().value();
  };
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const std::string once = play(seed);
    CHECK(once.size() == 9);
    CHECK(once == play(seed));
    orders.insert(once);
  }
  CHECK(orders.size() > 3);
}

TEST_CASE("the end of one system is not the end of the others, which find its actors gone") {
  const test_world world(5);
  test_system stays(world);
  std::optional<ref<journal>> gone;
  {
    test_system ends(world);
    gone = ends.spawn<writer>();
    const auto clock = ends.spawn<delayer>(*gone);
    ends.spawn(spawn_options{.detached = true},
               [](blocking_actor& self) { self.receive([](int) {}); });
    send(clock, hit{3});
    ends.run();
    CHECK(ends.finish().cycles.empty());
  }
  const auto speaks = stays.spawn<speaker>(0, *gone);
  send(speaks, hit{2});
  stays.run_for(duration::seconds(10));
  CHECK(stays.request(*gone, total{}).get().error() == errc::not_handled);
  CHECK(stays.idle());
  test_system later(world);
  CHECK(later.spawn<writer>().id() > speaks.id());
  gone.reset();
}

TEST_CASE("a world outlives its systems, and a system its world's handle") {
  auto world = std::make_unique<test_world>(5);
  auto kit = std::make_unique<test_system>(*world);
  world.reset();
  const auto book = kit->spawn<writer>();
  send(book, note{0});
  CHECK(kit->request(book, total{}).get().value() == "a");
  const test_world again = kit->world();
  kit.reset();
  send(book, note{0});
  test_system next(again);
  CHECK(next.request(book, total{}).get().error() == errc::not_handled);
}

TEST_CASE("an actor that another system of the world holds is no leak") {
  const test_world world(5);
  test_system holds(world);
  test_system ends(world);
  struct keeper : actor<protocol<void(ref<journal>)>> {
    ref<journal> kept;
    void on(ref<journal> r) { kept = std::move(r); }
  };
  const auto k = holds.spawn<keeper>();
  send(k, ends.spawn<writer>());
  holds.run();
  CHECK(ends.finish().cycles.empty());
}

TEST_CASE("a cycle over two systems of a world is named with all its actors") {
  const test_world world(5);
  test_system a(world);
  test_system b(world);
  struct keeper : actor<protocol<void(any_ref)>> {
    any_ref kept;
    void on(any_ref r) { kept = std::move(r); }
  };
  {
    const auto first = a.spawn<keeper>();
    const auto second = b.spawn<keeper>();
    send(first, any_ref(second));
    send(second, any_ref(first));
    a.run();
  }
  const auto cycles = a.finish().cycles;
  REQUIRE(cycles.size() == 1);
  CHECK(cycles[0].find("#1, ") != std::string::npos);
  CHECK(cycles[0].find("#2") != std::string::npos);
  CHECK(b.finish().cycles.empty());
}

TEST_CASE("explore tries orders across systems: a race between two of them is found and replayed") {
  const auto race = [](test_system& kit) {
    test_system other(kit.world());
    const auto book = kit.spawn<writer>();
    send(kit.spawn<speaker>(0, book), hit{1});
    send(other.spawn<speaker>(1, book), hit{1});
    kit.run();
    kit.require(kit.request(book, total{}).get().value() == "ab", "the other was first");
  };
  const auto found = garrick::testkit::find_failure(100, race);
  REQUIRE(found.has_value());
  CHECK(found->replays);
  CHECK(found->text.find("the other was first") != std::string::npos);
}

}  // namespace test_world_test
