// Streams without memory for a result that waits, or for a tuple's copy: the stream ends with an
// error, or the tuple is a failure. No result comes out of order or twice.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/failing_memory.hpp"

namespace channels_no_memory_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

/// So large that its copy, and the room for waiting ones, is an allocation of its own.
struct large {
  using garrick_sendable = void;
  explicit large(int n) : number(n) { ++alive; }
  large(const large& o) : number(o.number) { ++alive; }
  large(large&& o) noexcept : number(o.number) { ++alive; }
  large& operator=(const large&) = delete;
  ~large() { --alive; }

  static inline int alive = 0;
  int number;
  char rest[4000]{};
};
large as_large(int n) { return large(n); }
struct three_times {
  void consume(large l, emit<large> out) {
    for (int i = 0; i < 3; ++i) out(large(l.number));
  }
};
auto numbers() {
  return fold(std::vector<int>(), [](std::vector<int> all, large l) {
    all.push_back(l.number);
    return all;
  });
}

/// Runs the pattern again and again, each time with another allocation that fails. Returns how
/// often that was met.
template <class P>
int with_each_failing(const P& p) {
  constexpr int tuples = 20;
  int met = 0;
  for (int n = 1; n <= 60; ++n) {
    CAPTURE(n);
    {
      test_system kit(7);
      const auto h = spawn(kit, p, {.capacity = 2, .in_place = n % 2 == 0});
      tests::failing_size = sizeof(large);
      tests::failing_allocation = n;
      kit.run();
      const bool was_met = std::exchange(tests::failing_allocation, 0) == 0;
      tests::failing_size = 0;
      const auto got = kit.request(h, join{}).get();
      const auto report = kit.request(h, get_report{}).get();
      if (!report.has_value()) {  // the stream could not be made
        CHECK_FALSE(got.has_value());
        continue;
      }
      if (was_met) ++met;
      std::uint64_t failures = 0;
      for (const stage_report& s : report.value().stages) failures += s.figures.failures;
      if (got.has_value()) {
        CHECK(std::is_sorted(got.value().begin(), got.value().end()));
        CHECK(got.value().size() == 3 * (tuples - failures));
      } else {
        CHECK(failures == 1);
      }
    }
    CHECK(large::alive == 0);
  }
  return met;
}

}  // namespace

TEST_CASE("without memory an ordered farm keeps its order, or its stream ends") {
  for (const on_failure policy : {on_failure::fail, on_failure::skip, on_failure::restart})
    CHECK(with_each_failing(pipeline(counting(0, 20), &as_large,
                                     farm(seq<three_times>().on(policy)).replicas(3).ordered(),
                                     numbers())) > 0);
}

TEST_CASE("without memory a stage fails for one tuple, or its stream ends") {
  for (const on_failure policy : {on_failure::fail, on_failure::skip, on_failure::restart})
    CHECK(with_each_failing(
              pipeline(counting(0, 20), &as_large, seq<three_times>().on(policy), numbers())) > 0);
}

}  // namespace channels_no_memory_test
