// Stages that are coroutines: they are suspended where there is no room.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/in_all_ways.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace generator_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using tests::collect;
using tests::in_all_ways;

generator<std::string> repeated(std::string s) {
  for (std::size_t i = 0; i < s.size(); ++i) {
    std::string part = s.substr(i) + " and a text that is no short one";
    if (i % 2 == 0)
      co_yield std::move(part);
    else
      co_yield part;
  }
}
/// Counts how many of it live.
struct counted {
  using garrick_sendable = void;
  static inline int live = 0;
  explicit counted(int v) : value(v) { ++live; }
  counted(const counted& o) : value(o.value) { ++live; }
  counted(counted&& o) noexcept : value(o.value) { ++live; }
  counted& operator=(const counted&) = default;
  ~counted() { --live; }
  int value;
};

}  // namespace

TEST_CASE("a generator gives its values one by one, and then its exception") {
  auto g = [](int n) -> generator<std::unique_ptr<int>> {
    for (int i = 0; i < n; ++i) co_yield std::make_unique<int>(i);
    throw std::runtime_error("over");
  }(3);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(g.next());
    CHECK(*std::exchange(g.value(), nullptr) == i);
  }
  CHECK_THROWS_AS(static_cast<void>(g.next()), std::runtime_error);
  CHECK_FALSE(g.next());
  generator<int> none;
  CHECK_FALSE(none.next());
}

TEST_CASE("a generator is a source") {
  in_all_ways(pipeline(seq([]() -> generator<int> {
                         for (int i = 0; i < 2000; ++i) co_yield i;
                       }),
                       collect<int>()),
              [](const auto& got) {
                REQUIRE(got.value().size() == 2000);
                CHECK(std::is_sorted(got.value().begin(), got.value().end()));
              });
}

TEST_CASE("a generator puts out any number of results for a tuple, in order") {
  const auto source = from(std::vector<std::string>{"garrick", "", "x", "generator"});
  std::vector<std::string> expected;
  for (const std::string s : {"garrick", "", "x", "generator"})
    for (std::size_t i = 0; i < s.size(); ++i)
      expected.push_back(s.substr(i) + " and a text that is no short one");
  const auto check = [&](const auto& got) { REQUIRE(got.value() == expected); };
  in_all_ways(pipeline(source, seq(repeated), collect<std::string>()), check);
  in_all_ways(pipeline(source, farm(repeated).replicas(3).ordered(), collect<std::string>()),
              check);
  in_all_ways(pipeline(source, farm(repeated).replicas(2), collect<std::string>()),
              [&](const auto& got) { CHECK(got.value().size() == expected.size()); });
}

TEST_CASE("an endless output of one tuple needs no more room than the channel") {
  test_system kit(1);
  const auto endless = [](int) -> generator<counted> {
    for (int i = 0;; ++i) co_yield counted(i);
  };
  const auto h = spawn(
      kit, pipeline(from(std::vector{1}), endless, throttle<counted>(1000, 1), seq([](counted) {})),
      {.capacity = 16});
  kit.run();
  kit.run_for(duration::seconds(3));
  CHECK(counted::live <= 64);
  CHECK(counted::live >= 16);
  CHECK(kit.request(h, get_report{}).get().value().stages.back().figures.in == 3001);
  send(h, cancel{});
  kit.run();
  const stream_report r = kit.request(h, get_report{}).get().value();
  CHECK(r.stages[1].figures.dropped >= 1);  // the tuple whose results were not all put out
}

TEST_CASE("an endless generator ends when no stage wants more") {
  in_all_ways(pipeline(
                  from(std::vector{1, 2, 3}),
                  [](int) -> generator<int> {
                    for (int i = 0;; ++i) co_yield i;
                  },
                  take<int>(5000), collect<int>()),
              [](const auto& got) { REQUIRE(got.value().size() == 5000); });
}

TEST_CASE("a loop waits for a generator in it") {
  const auto countdown = [](int n) -> generator<int> {
    for (int i = 0; i < n; ++i) co_yield n - 1;
  };
  std::size_t expected = 3;
  for (std::size_t i = 0, n = 1; i < 5; ++i) expected = 3 * (n *= 5 - i);
  in_all_ways(pipeline(from(std::vector{5, 5, 5}),
                       feedback(countdown, [](const int& n) { return n > 0; }), collect<int>()),
              [&](const auto& got) { REQUIRE(got.value().size() == expected); });
}

TEST_CASE(
    "values that a generator has handed on before it throws stay, and are counted as partial") {
  const auto picky = [](int n) -> generator<int> {
    for (int i = 0; i < 100; ++i) {
      if (i == 60 && n == 2) throw std::runtime_error("sixty");
      co_yield n;
    }
  };
  for (const std::size_t capacity : {8U, 1024U}) {
    CAPTURE(capacity);
    test_system kit(1);
    const auto h = spawn(kit,
                         pipeline(from(std::vector{1, 2, 3}),
                                  seq(picky).on(on_failure::skip).named("picky"), collect<int>()),
                         {.capacity = capacity});
    kit.run();
    const auto got = kit.request(h, join{}).get();
    const stage_report picked = kit.request(h, get_report{}).get().value().stages[1];
    CHECK(picked.name == "picky");
    CHECK(picked.figures.failures == 1);
    CHECK(picked.figures.partial == (capacity == 8 ? 1 : 0));
    const auto twos = std::count(got.value().begin(), got.value().end(), 2);
    CHECK(got.value().size() - static_cast<std::size_t>(twos) == 200);
    CHECK((capacity == 8 ? twos > 0 && twos <= 60 : twos == 0));
  }
}

TEST_CASE("a function that gives an optional is a source until it gives nothing") {
  struct countdown {
    int left;
    std::optional<int> operator()() {
      if (left == 0) return std::nullopt;
      return left--;
    }
  };
  for (const bool named : {false, true}) {
    test_system kit(1);
    const auto sum = fold(0, [](int s, int x) { return s + x; });
    const auto h = named ? spawn(kit, pipeline(generate(countdown{10}), sum))
                         : spawn(kit, pipeline(countdown{10}, sum));
    kit.run();
    CHECK(kit.request(h, join{}).get().value() == 55);
  }
}

}  // namespace generator_test
