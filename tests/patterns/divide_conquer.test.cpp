// Divide and conquer, in place and with values, with any division of the work.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/data_parallel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace divide_conquer_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using tests::numbers;

void split_at_pivot(std::span<int> all, parts& out) {
  const int pivot = all[all.size() / 2];
  const auto middle = std::partition(all.begin(), all.end(), [=](int x) { return x < pivot; });
  const auto behind = std::partition(middle, all.end(), [=](int x) { return x == pivot; });
  out.add(0, static_cast<std::size_t>(middle - all.begin()));
  out.add(static_cast<std::size_t>(behind - all.begin()), all.size());
}
void nothing_to_merge(std::span<int>, const parts&) {}
void sort_few(std::span<int> few) { std::sort(few.begin(), few.end()); }
template <std::size_t N>
bool is_below(std::span<const int> some) {
  return some.size() < N;
}
/// Sorted halves, side by side.
void split_in_thirds(std::span<int> all, parts& out) {
  const std::size_t n = all.size();
  out.add(0, n / 3);
  out.add(n / 3, n / 3 * 2);
  out.add(n / 3 * 2, n);
}
void merge_parts(std::span<int> all, const parts& of) {
  for (const parts::part& p : of)
    std::inplace_merge(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(p.begin),
                       all.begin() + static_cast<std::ptrdiff_t>(p.end));
}
std::vector<int> mixed(int n) {
  std::vector<int> v = numbers(n);
  std::uint32_t state = 7;
  for (int& x : v) {
    state = state * 1664525 + 1013904223;
    x = static_cast<int>(state >> 24);
  }
  return v;
}

/// Gives `check` the answer of the pattern: with one replica and several, in twenty orders of a
/// test system and in real ones.
template <class P, class In, class Check>
void in_all_orders(const P& p, const In& in, const Check& check) {
  for (const std::size_t replicas : {1U, 2U, 3U, 8U}) {
    CAPTURE(replicas);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(seed);
      test_system kit(seed);
      auto answer = kit.request(spawn(kit, p.replicas(replicas)), in);
      kit.run();
      check(answer.get());
      CHECK(kit.actor_count() == 0);
    }
    actor_system system;
    check(system.request(spawn(system, p.replicas(replicas)), in).get());
    check(system.request(spawn(system, p.replicas(replicas).own_threads()), in).get());
  }
}

TEST_CASE("quicksort and merge sort in place give the same as std::sort") {
  for (const int n : {0, 1, 2, 100, 1000}) {
    CAPTURE(n);
    std::vector<int> expected = mixed(n);
    std::sort(expected.begin(), expected.end());
    const auto check = [&](const auto& got) { CHECK(got.value() == expected); };
    in_all_orders(divide_conquer(split_at_pivot, nothing_to_merge, sort_few, is_below<10>),
                  mixed(n), check);
    in_all_orders(divide_conquer(split_in_thirds, merge_parts, sort_few, is_below<10>), mixed(n),
                  check);
  }
}

struct stretch {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

TEST_CASE("divide and conquer with values puts the parts together in their order") {
  const auto halves = [](stretch s) {
    const std::int64_t middle = (s.from + s.to) / 2;
    return std::vector<stretch>{{s.from, middle}, {middle, s.to}};
  };
  const auto join_all = [](std::vector<std::string> some) {
    std::string all = "(";
    for (const std::string& s : some) all += s;
    return all + ")";
  };
  const auto as_text = [](stretch s) { return std::to_string(s.from); };
  const auto is_one = [](const stretch& s) { return s.to - s.from <= 1; };
  in_all_orders(divide_conquer(halves, join_all, as_text, is_one), stretch{0, 8},
                [](const auto& got) { CHECK(got.value() == "(((01)(23))((45)(67)))"); });
}

TEST_CASE("a part that throws fails the request, and nothing is left behind") {
  const auto picky = [](std::span<int> few) {
    for (const int x : few)
      if (x == 77) throw std::runtime_error("not this one");
  };
  in_all_orders(divide_conquer(split_in_thirds, merge_parts, picky, is_below<5>).named("picky"),
                numbers(200), [](const auto& got) {
                  REQUIRE_FALSE(got.has_value());
                  const std::string text = got.error().to_string();
                  CAPTURE(text);
                  CHECK(text.find("picky: part at 77: not this one") != std::string::npos);
                });
  const auto bad_merge = [](std::span<int>, const parts&) { throw std::runtime_error("no merge"); };
  in_all_orders(divide_conquer(split_in_thirds, bad_merge, sort_few, is_below<5>), numbers(50),
                [](const auto& got) {
                  const std::string text = got.error().to_string();
                  CAPTURE(text);
                  CHECK(text.find("divide_conquer: merge at ") != std::string::npos);
                  CHECK(text.find("merge at depth") == std::string::npos);
                  CHECK(text.find(": no merge") != std::string::npos);
                });
}

TEST_CASE("with values a part that throws is named by its depth") {
  const auto halves = [](stretch s) {
    const std::int64_t middle = (s.from + s.to) / 2;
    return std::vector<stretch>{{s.from, middle}, {middle, s.to}};
  };
  const auto picky = [](stretch s) {
    if (s.from == 5) throw std::runtime_error("not this one");
    return s.from;
  };
  const auto sum = [](std::vector<std::int64_t> some) {
    return std::accumulate(some.begin(), some.end(), std::int64_t{0});
  };
  const auto no_sum = [](std::vector<std::int64_t>) -> std::int64_t {
    throw std::runtime_error("no merge");
  };
  const auto from = [](stretch s) { return s.from; };
  const auto is_one = [](const stretch& s) { return s.to - s.from <= 1; };
  const auto says = [](const char* what) {
    return [what](const auto& got) {
      REQUIRE_FALSE(got.has_value());
      const std::string text = got.error().to_string();
      CAPTURE(text);
      CHECK(text.find(what) != std::string::npos);
    };
  };
  in_all_orders(divide_conquer(halves, sum, picky, is_one), stretch{0, 8},
                says("divide_conquer: part at depth 3: not this one"));
  in_all_orders(divide_conquer(halves, no_sum, from, is_one), stretch{0, 8},
                says("divide_conquer: merge at depth 2: no merge"));
}

TEST_CASE("parts that overlap, lie outside or do not get smaller fail the request") {
  const auto overlapping = [](std::span<int> all, parts& out) {
    out.add(0, all.size() / 2 + 1);
    out.add(all.size() / 2, all.size());
  };
  const auto outside = [](std::span<int> all, parts& out) { out.add(1, all.size() + 1); };
  const auto whole = [](std::span<int> all, parts& out) { out.add(0, all.size()); };
  const auto check = [](const auto& got) {
    CHECK(got.error().to_string().find("parts::add()") != std::string::npos);
  };
  in_all_orders(divide_conquer(overlapping, nothing_to_merge, sort_few, is_below<5>), numbers(20),
                check);
  in_all_orders(divide_conquer(outside, nothing_to_merge, sort_few, is_below<5>), numbers(20),
                check);
  in_all_orders(divide_conquer(whole, nothing_to_merge, sort_few, is_below<5>), numbers(20), check);
}

TEST_CASE("a problem may be far deeper than a stack, also if its deepest part throws") {
  const auto peel = [](std::span<int> all, parts& out) {
    out.add(0, 1);
    out.add(1, all.size());
  };
  const auto picky = [](std::span<int> few) {
    if (few[0] == 29'999) throw std::runtime_error("the last one");
  };
  settings s;
  s.scheduler.workers = 2;
  actor_system system(s);
  const auto p = divide_conquer(peel, nothing_to_merge, picky, is_below<2>);
  const auto h = spawn(system, p);
  CHECK(system.request(h, numbers(29'999)).get().has_value());
  CHECK(system.request(h, numbers(30'000)).get().error().to_string().find("the last one") !=
        std::string::npos);
}

/// At the bottom of a tree that is too deep for a stack of 8 MB, also if the compiler optimises.
tests::gate at_the_bottom;
constexpr int levels_in_place = 400'000;
constexpr int levels_with_values = 150'000;
void solve_one(std::span<int> few) {
  if (few[0] == levels_in_place - 1) at_the_bottom.pass();
}
std::int64_t solve_value(stretch s) {
  if (s.to == levels_with_values) at_the_bottom.pass();
  return s.from;
}
std::vector<stretch> peel_value(stretch s) { return {{s.from, s.from + 1}, {s.from + 1, s.to}}; }
std::int64_t sum(std::vector<std::int64_t> some) {
  return std::accumulate(some.begin(), some.end(), std::int64_t{0});
}
bool is_one(const stretch& s) { return s.to - s.from <= 1; }

/// Stops a system when its problem is divided and nothing is solved.
template <class P, class In>
void stops_half_way(const P& p, const In& in) {
  at_the_bottom.close();
  actor_system system;
  auto answer = system.request(spawn(system, p.replicas(1)), in);
  stop_at(at_the_bottom, system);
  CHECK_FALSE(answer.get().has_value());
}

TEST_CASE("a system may be stopped while a problem is divided far deeper than a stack") {
  const auto peel = [](std::span<int> all, parts& out) {
    out.add(0, 1);
    out.add(1, all.size());
  };
  stops_half_way(divide_conquer(peel, nothing_to_merge, solve_one, is_below<2>),
                 numbers(levels_in_place));
  stops_half_way(divide_conquer(peel_value, sum, solve_value, is_one),
                 stretch{0, levels_with_values});
}

TEST_CASE("a stream may be cancelled while a problem is divided far deeper than a stack") {
  at_the_bottom.close();
  settings s;
  s.scheduler.workers = 2;  // one of them is held up
  actor_system system(s);
  const auto p = divide_conquer(peel_value, sum, solve_value, is_one).replicas(1);
  const auto h = spawn(system, pipeline(from(std::vector<stretch>{{0, levels_with_values}}), p,
                                        discard<std::int64_t>()));
  at_the_bottom.wait_for_somebody();
  send(h, cancel{});
  static_cast<void>(system.request(h, get_report{}).get());  // it was told of it
  at_the_bottom.open();
  CHECK(system.request(h, join{}).get().error() == errc::cancelled);
}

TEST_CASE("a problem that is divided into nothing is merged at once") {
  const auto none = [](std::span<int>, parts&) {};
  const auto clear = [](std::span<int> all, const parts& of) {
    CHECK(of.size() == 0);
    std::fill(all.begin(), all.end(), 5);
  };
  in_all_orders(divide_conquer(none, clear, sort_few, is_below<2>), numbers(3),
                [](const auto& got) { CHECK(got.value() == std::vector<int>(3, 5)); });
}

TEST_CASE("a divide and conquer is a stage") {
  const auto p = divide_conquer(split_at_pivot, nothing_to_merge, sort_few, is_below<4>);
  const auto count_sorted = [](int n, std::vector<int> v) {
    return n + (std::is_sorted(v.begin(), v.end()) ? 1 : 0);
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    test_system kit(seed);
    const auto h = spawn(kit, pipeline(from(std::vector<std::vector<int>>(10, mixed(50))),
                                       farm(p.replicas(3)).replicas(2), fold(0, count_sorted)));
    kit.run();
    CHECK(kit.request(h, join{}).get().value() == 10);
  }
}

}  // namespace

}  // namespace divide_conquer_test
