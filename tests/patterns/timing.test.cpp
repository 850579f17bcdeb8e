// Stages that go by the clock, in virtual time and in a real system.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/in_all_ways.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace timing_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using tests::collect;

duration ms(std::int64_t n) { return duration::milliseconds(n); }

/// Puts out something as many milliseconds after a number as that says.
struct reminder {
  instant now{};
  instant due = instant::never();
  void time_is(instant t) { now = t; }
  [[nodiscard]] instant deadline() const { return due; }
  void on_time(instant /*now*/, emit<int> out) {
    out(0);
    due = instant::never();
  }
  void consume(int in_ms, emit<int> /*out*/) { due = now + ms(in_ms); }
};

template <class P>
auto outcome(test_system& kit, const P& p, stream_options o = {}) {
  auto h = spawn(kit, p, o);
  kit.run_for(duration::seconds(100));
  return kit.request(h, join{}).get();
}
template <class P>
auto real_outcome(const P& p, stream_options o = {}) {
  actor_system system;
  auto h = spawn(system, p, o);
  return system.request(h, join{}).get();
}

}  // namespace

TEST_CASE("ticks come at the end of each period") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const instant begin = kit.now();
    const auto got = outcome(kit, pipeline(ticks(ms(10), 50), collect<tick>()));
    REQUIRE(got.has_value());
    REQUIRE(got.value().size() == 50);
    for (std::uint64_t i = 0; i < 50; ++i)
      CHECK(got.value()[i] == tick{i + 1, begin + ms(10 * static_cast<std::int64_t>(i + 1))});
  }
  const auto got = real_outcome(pipeline(ticks(ms(1), 20), collect<tick>()));
  REQUIRE_FALSE(got.value().empty());
  CHECK(got.value().back().number <= 20);
  for (std::size_t i = 1; i < got.value().size(); ++i)
    CHECK(got.value()[i - 1].number < got.value()[i].number);
}

TEST_CASE("ticks for which there was no time are left out") {
  test_system kit(3);
  const auto h = spawn(kit, pipeline(ticks(ms(10), 10), collect<tick>()));
  kit.run();
  kit.advance(ms(55));
  kit.run_for(ms(100));
  const auto got = kit.request(h, join{}).get();
  REQUIRE(got.value().size() == 6);
  CHECK(got.value()[0].number == 5);
  CHECK(got.value()[1].number == 6);
}

TEST_CASE("an endless source of ticks ends when it is cancelled, and leaves no timer") {
  test_system kit(3);
  const auto h = spawn(kit, pipeline(ticks(ms(10)), discard<tick>()));
  kit.run_for(ms(95));
  send(h, cancel{});
  kit.run();
  CHECK(kit.request(h, join{}).get().error() == errc::cancelled);
  CHECK(kit.timers_pending() == 0);
}

TEST_CASE("a batch is put out when it is full, when its time has come and at the end") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto h = spawn(kit, pipeline(batch<int>(3, ms(10)), collect<std::vector<int>>()));
    const auto feed = [&](int first, int n) {
      for (int i = 0; i < n; ++i) send(h, first + i);
      kit.run();
    };
    feed(0, 7);
    kit.run_for(ms(9));  // 6 waits
    feed(7, 1);
    kit.run_for(ms(1));
    feed(8, 1);
    send(h, end_of_stream{});
    kit.run();
    const auto got = kit.request(h, join{}).get();
    REQUIRE(got.has_value());
    CHECK(got.value() == std::vector<std::vector<int>>{{0, 1, 2}, {3, 4, 5}, {6, 7}, {8}});
    CHECK(kit.timers_pending() == 0);
  }
}

TEST_CASE("batches hold every tuple once, in every system") {
  for (const std::size_t capacity : {1U, 4U, 1024U}) {
    CAPTURE(capacity);
    const auto p = pipeline(counting(0, 5000), farm(batch<int>(7, ms(1))).replicas(2),
                            flat_map([](std::vector<int> b) { return b; }),
                            fold(0L, [](long sum, int x) { return sum + x; }));
    CHECK(real_outcome(p, {.capacity = capacity}).value() == 4999L * 2500);
    test_system kit(capacity);
    CHECK(outcome(kit, p, {.capacity = capacity}).value() == 4999L * 2500);
  }
}

TEST_CASE("tuples in a batch need not be copied") {
  test_system kit(1);
  const auto h = spawn(
      kit, pipeline(
               counting(0, 20), [](int x) { return std::make_unique<int>(x); },
               batch<std::unique_ptr<int>>(7, duration::seconds(1)),
               [](std::vector<std::unique_ptr<int>> some) { return static_cast<int>(some.size()); },
               fold(0, [](int n, int x) { return n * 10 + x; })));
  kit.run();
  CHECK(kit.request(h, join{}).get().value() == 776);
}

TEST_CASE("a loop waits for the tuples that a batch in it holds") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto halve = pipeline(batch<int>(10, ms(5)), flat_map([](std::vector<int> b) {
                                  for (int& x : b) x /= 2;
                                  return b;
                                }));
    const auto got =
        outcome(kit, pipeline(counting(0, 103), feedback(halve, [](const int& x) { return x > 0; }),
                              collect<int>()));
    REQUIRE(got.value().size() == 103);
    CHECK(std::accumulate(got.value().begin(), got.value().end(), 0) == 0);
    // fewer than a batch: in each round all of them are held until the loop gives them up
    const auto few =
        outcome(kit, pipeline(counting(5, 8), feedback(halve, [](const int& x) { return x > 0; }),
                              collect<int>()));
    CHECK(few.value() == std::vector<int>{0, 0, 0});
  }
}

TEST_CASE("the time that a stage waits for may come nearer") {
  test_system kit(1);
  const auto h = spawn(kit, pipeline(seq<reminder>(), discard<int>()));
  for (const int in_ms : {50, 5}) {
    send(h, int{in_ms});
    kit.run();
  }
  kit.run_for(ms(6));
  CHECK(kit.request(h, get_report{}).get().value().stages.back().figures.in == 1);
  send(h, end_of_stream{});
  kit.run();
}

TEST_CASE("tuples that a batch holds when its stream is cancelled are counted as dropped") {
  test_system kit(1);
  const auto h = spawn(kit, pipeline(batch<int>(10, ms(10)), discard<std::vector<int>>()));
  for (int i = 0; i < 14; ++i) send(h, i);
  kit.run();
  send(h, cancel{});
  kit.run();
  const stream_report r = kit.request(h, get_report{}).get().value();
  std::uint64_t dropped = 0;
  for (const stage_report& s : r.stages) dropped += s.figures.dropped;
  CHECK(dropped == 4);
}

TEST_CASE("tuples that a batch loses because a key behind it throws are counted as dropped") {
  const auto key = [](const std::vector<int>& b) {
    if (b.front() == 3) throw std::runtime_error("a bad batch");
    return b.front();
  };
  for (const on_failure policy : {on_failure::skip, on_failure::restart}) {
    test_system kit(1);
    const auto h =
        spawn(kit, pipeline(batch<int>(3, ms(10)).on(policy),
                            farm([](std::vector<int> b) { return b; }).replicas(2).by_key(key),
                            discard<std::vector<int>>()));
    for (int i = 0; i < 6; ++i) send(h, i);  // 5 is a dead letter, with it 3 and 4 are lost
    kit.run();
    send(h, 3);
    send(h, 8);
    kit.run_for(ms(10));  // both are lost when their time has come
    send(h, end_of_stream{});
    kit.run();
    const stream_report r = kit.request(h, get_report{}).get().value();
    std::uint64_t dropped = 0;
    std::uint64_t failures = 0;
    for (const stage_report& s : r.stages) {
      dropped += s.figures.dropped;
      failures += s.figures.failures;
    }
    CHECK(failures == 2);
    CHECK(dropped == 4);
    CHECK(kit.dead_letters().size() == 1);
  }
}

TEST_CASE("a throttle spreads tuples evenly") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto h = spawn(kit, pipeline(counting(0, 1000), throttle<int>(100, 5), discard<int>()));
    const auto passed = [&] {
      return kit.request(h, get_report{}).get().value().stages.back().figures.in;
    };
    kit.run();
    CHECK(passed() == 5);
    kit.run_for(ms(1000));
    CHECK(passed() == 105);
    kit.run_for(ms(9000));
    CHECK(kit.request(h, join{}).get().has_value());
    CHECK(passed() == 1000);
  }
}

TEST_CASE("after a pause no more pass a throttle together than it lets") {
  test_system kit(1);
  const auto h = spawn(kit, pipeline(throttle<int>(100, 5), discard<int>()));
  kit.run_for(ms(1000));
  for (int i = 0; i < 50; ++i) send(h, i);
  kit.run();
  CHECK(kit.request(h, get_report{}).get().value().stages.back().figures.in == 5);
  send(h, cancel{});
  kit.run();
}

TEST_CASE("a throttle of a high rate hands on bunches, no more in all than it may") {
  test_system kit(1);
  const auto h = spawn(kit, pipeline(counting(0L, 1L << 40), throttle<long>(1e6), discard<long>()));
  kit.run();
  kit.run_for(ms(20));
  const std::uint64_t n = kit.request(h, get_report{}).get().value().stages.back().figures.in;
  CHECK(n <= 30'000);
  CHECK(n >= 29'000);
  send(h, cancel{});
  kit.run();
}

TEST_CASE("a throttle delays a real stream") {
  actor_system system;
  const auto h = spawn(system, pipeline(counting(0, 30), throttle<int>(1000, 1), discard<int>()));
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(system.request(h, join{}).get().has_value());
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(29));
}

TEST_CASE("sources stop when a stage behind them has enough") {
  for (const std::size_t capacity : {1U, 8U, 1024U}) {
    const stream_options o{.capacity = capacity};
    const auto p =
        pipeline(counting(0, 1 << 30), [](int x) { return x + 1; }, take<int>(100), collect<int>());
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      test_system kit(seed);
      const auto got = outcome(kit, p, o);
      REQUIRE(got.value().size() == 100);
      CHECK(got.value().back() == 100);
    }
    CHECK(real_outcome(p, o).value().size() == 100);
    CHECK(real_outcome(
              pipeline(counting(0, 1 << 30), farm([](int x) { return x; }).replicas(3).ordered(),
                       feedback([](int x) { return x; }, [](const int&) { return false; }),
                       take<int>(10), collect<int>()),
              o)
              .value()
              .size() == 10);
  }
  test_system kit(1);
  CHECK(outcome(kit, pipeline(ticks(ms(10)), take<tick>(3), collect<tick>())).value().size() == 3);
}

TEST_CASE("times and sizes without sense are refused") {
  CHECK_THROWS_AS(static_cast<void>(batch<int>(0, ms(1))), std::invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(batch<int>(1, ms(0))), std::invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(throttle<int>(0)), std::invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(throttle<int>(-1)), std::invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(ticks(ms(0))), std::invalid_argument);
}

TEST_CASE("a throttle of one tuple in many years holds the next one back, and turns no wheel") {
  test_system kit(1);
  const auto h = spawn(kit, pipeline(counting(0, 3), throttle<int>(1e-12), discard<int>()));
  kit.run_for(duration::seconds(1000));
  const stream_report r = kit.request(h, get_report{}).get().value();
  CHECK_FALSE(r.ended);
  CHECK(r.stages.back().figures.in == 1);
  send(h, cancel{});
  kit.run();
}

}  // namespace timing_test
