// The fate of a request when its team is ended half-way: the requester is told, no function is
// called any more, and nothing is left behind.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/explore.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/data_parallel.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace team_life_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

/// Is counted while it is there, so that a leaked one is found.
class element {
 public:
  using garrick_sendable = void;
  element() noexcept { ++alive; }
  element(const element& o) noexcept : value(o.value) { ++alive; }
  element& operator=(const element&) noexcept = default;
  ~element() { --alive; }

  int value = 0;
  static inline std::atomic<int> alive{0};
};
using row = std::vector<element>;

/// All of the functions come here.
tests::gate here;
std::atomic<int> calls{0};
void come_by() noexcept {
  ++calls;
  here.pass();
}

void change(element& x) {
  come_by();
  ++x.value;
}
int value_of(const element& x) {
  come_by();
  return x.value;
}
int plus(int a, int b) { return a + b; }
bool again(const element& x) { return x.value < 2; }

void halves(std::span<element> all, parts& out) {
  out.add(0, all.size() / 2);
  out.add(all.size() / 2, all.size());
}
void nothing_to_merge(std::span<element>, const parts&) {}
void change_one(std::span<element> one) { change(one[0]); }
bool is_short(std::span<const element> some) { return some.size() < 2; }

std::vector<row> halves_of(row all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  return {row(all.begin(), middle), row(middle, all.end())};
}
row joined(std::vector<row> all) {
  all[0].insert(all[0].end(), all[1].begin(), all[1].end());
  return std::move(all[0]);
}
row changed(row one) {
  change(one[0]);
  return one;
}
bool is_one(const row& some) { return some.size() < 2; }

/// Calls `check` with each kind of pattern.
template <class Check>
void for_each_pattern(const Check& check) {
  SUBCASE("map") { check(map(change)); }
  SUBCASE("map to another") { check(map(value_of)); }
  SUBCASE("reduce") { check(reduce(value_of, plus)); }
  SUBCASE("master_worker") { check(master_worker(change, again)); }
  SUBCASE("divide_conquer in place") {
    check(divide_conquer(halves, nothing_to_merge, change_one, is_short));
  }
  SUBCASE("divide_conquer with values") {
    check(divide_conquer(halves_of, joined, changed, is_one));
  }
}

/// A request without disturbance: returns how often its functions come by.
template <class P>
int calls_of(const P& p, std::size_t n) {
  calls = 0;
  test_system kit(1);
  auto answer = kit.request(spawn(kit, p), row(n));
  kit.run();
  CHECK(answer.get().has_value());
  return calls;
}

TEST_CASE("the actor that was asked is killed half-way: the requester is told, and its team ends") {
  for_each_pattern([](const auto& p) {
    constexpr std::size_t n = 20;
    here.open();
    const int all_calls = calls_of(p, n);
    int values = 0, errors = 0;
    testkit::explore(200, [&](test_system& kit) {
      const auto h = spawn(kit, p.replicas(3));
      calls = 0;
      auto answer = kit.request(h, row(n));
      for (std::uint64_t i = 0; i < kit.seed() % 100; ++i) kit.step();
      kit.kill(h);
      kit.run();
      const bool has_value = answer.get().has_value();
      ++(has_value ? values : errors);
      kit.require(has_value == (calls == all_calls), "an answer that does not fit what was done");
      kit.require(kit.actor_count() == 0, "an actor goes on");
      kit.require(element::alive == 0, "an element is left");
    });
    CHECK(values != 0);
    CHECK(errors != 0);
  });
}

TEST_CASE("a system is stopped half-way: the requester is told, and no helper goes on") {
  for_each_pattern([](const auto& p) {
    // more than can be worked on in the turns that are under way
    constexpr std::size_t n = std::size_t{1} << 18;
    const auto is_told = [](const auto& ask) {
      here.close();
      calls = 0;
      {
        actor_system system;
        auto answer = ask(system);
        stop_at(here, system);
        const int until_then = calls;
        CHECK_FALSE(answer.get().has_value());
        CHECK(calls == until_then);
      }
      CHECK(element::alive == 0);
    };
    for (const bool own_threads : {false, true}) {
      CAPTURE(own_threads);
      is_told([&](actor_system& system) {
        const auto q = p.replicas(2);
        return system.request(spawn(system, own_threads ? q.own_threads() : q), row(n));
      });
      is_told([&](actor_system& system) {
        const auto team = accelerator_team().replicas(2);
        return system.request(spawn(system, own_threads ? team.own_threads() : team), p, row(n));
      });
    }
  });
}

}  // namespace

}  // namespace team_life_test
