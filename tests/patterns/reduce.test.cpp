// Reductions: one value, the same to the last bit for every number of replicas; and elements that
// go round until they are done.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/data_parallel.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace reduce_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using tests::answer_in_all_ways;
using tests::numbers;

std::string text_of(const int& x) { return std::to_string(x) + ","; }
std::string joined(std::string a, std::string b) { return std::move(a) + b; }

TEST_CASE("a reduction puts together the results of the elements, in their order") {
  for (const int n : {0, 1, 2, 300, 1000}) {
    CAPTURE(n);
    std::string expected = n == 0 ? "none" : "";
    for (const int x : numbers(n)) expected += text_of(x);
    answer_in_all_ways(reduce(text_of, joined, "none"), numbers(n),
                       [&](const auto& got) { CHECK(got.value() == expected); });
  }
}

TEST_CASE("a reduction is the same to the last bit for every number of replicas") {
  const auto third = [](const double& x) { return x / 3; };
  const auto plus = [](double a, double b) { return a + b; };
  std::vector<double> in;
  for (int i = 0; i < 10'000; ++i) in.push_back(1.0 / (1 + i));
  actor_system system;
  for (const std::size_t chunk : {0U, 17U, 4096U}) {
    CAPTURE(chunk);
    const auto p = chunk == 0 ? reduce(third, plus) : reduce(third, plus).dynamic(chunk);
    const double first = system.request(spawn(system, p.replicas(1)), in).get().value();
    CHECK(first == doctest::Approx(9.787606036 / 3));
    for (const std::size_t replicas : {2U, 3U, 5U, 16U})
      for (int i = 0; i < 20; ++i) {
        const double next = system.request(spawn(system, p.replicas(replicas)), in).get().value();
        CHECK(std::memcmp(&first, &next, sizeof first) == 0);
      }
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      test_system kit(seed);
      auto answer = kit.request(spawn(kit, p.replicas(4)), in);
      kit.run();
      const double next = answer.get().value();
      CHECK(std::memcmp(&first, &next, sizeof first) == 0);
    }
  }
}

TEST_CASE("a reduction with functions that throw fails its request") {
  const auto picky = [](const int& x) {
    if (x == 33) throw std::runtime_error("not this one");
    return x;
  };
  const auto plus = [](int a, int b) { return a + b; };
  const auto limited = [](int a, int b) {
    if (a + b > 1000) throw std::overflow_error("too much");
    return a + b;
  };
  answer_in_all_ways(reduce(picky, plus).named("sum"), numbers(40), [](const auto& got) {
    CHECK(got.error().to_string().find("sum: element 33: not this one") != std::string::npos);
  });
  answer_in_all_ways(reduce([](const int& x) { return x; }, limited), numbers(100),
                     [](const auto& got) {
                       REQUIRE_FALSE(got.has_value());
                       CHECK(got.error().to_string().find("too much") != std::string::npos);
                     });
}

TEST_CASE("a reduction is a stage, and its value a tuple") {
  const auto same = [](const int& x) { return static_cast<std::int64_t>(x); };
  const auto plus = [](std::int64_t a, std::int64_t b) { return a + b; };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    test_system kit(seed);
    const auto h =
        spawn(kit, pipeline(from(std::vector<std::vector<int>>{numbers(10), {}, numbers(100)}),
                            farm(reduce(same, plus).replicas(3)).replicas(2),
                            fold(std::int64_t{0}, plus)));
    kit.run();
    CHECK(kit.request(h, join{}).get().value() == 45 + 4950);
  }
}

TEST_CASE("an element goes round while the predicate holds, each as often as it needs") {
  using walk = std::pair<std::int64_t, int>;
  const auto step = [](walk& w) {
    w.first = w.first % 2 == 0 ? w.first / 2 : 3 * w.first + 1;
    ++w.second;
  };
  const auto is_away = [](const walk& w) { return w.first != 1; };
  std::vector<walk> in, expected;
  for (std::int64_t i = 1; i <= 200; ++i) in.emplace_back(i, 0);
  for (walk w : in) {
    do step(w);
    while (is_away(w));
    expected.push_back(w);
  }
  answer_in_all_ways(master_worker(step, is_away), in,
                     [&](const auto& got) { CHECK(got.value() == expected); });
  const auto less = [](int x) { return x - 1; };
  const auto is_left = [](const int& x) { return x > 0; };
  answer_in_all_ways(master_worker(less, is_left), numbers(50), [](const auto& got) {
    CHECK(got.value()[0] == -1);  // once in any case
    CHECK(got.value()[49] == 0);
  });
}

}  // namespace

}  // namespace reduce_test
