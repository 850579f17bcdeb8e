// Sessions, windows of a number of tuples, and windows by the clock.
#include <doctest/doctest.h>
#include <patterns/windows/windows_reference.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace window_kinds_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using namespace std::chrono_literals;
using namespace tests;
using testkit::test_system;

any_windows sessions_of(std::int64_t gap, std::int64_t disorder, std::size_t replicas) {
  const auto w =
      window(sessions(gap)).by(&event::key).event_time(&event::at, out_of_order(disorder));
  if (replicas == 0) return w.fold(ids(), add, both);
  return w.replicas(replicas).fold(ids(), add, both);
}
any_windows counted_of(std::size_t n, std::size_t slide, bool spread) {
  const auto w = window(tuples(n)).by(&event::key);
  if (n != slide) return window(tuples(n).sliding(slide)).by(&event::key).fold(ids(), add, both);
  if (spread) return w.replicas(3).fold(ids(), add);
  return w.fold(ids(), add);
}

}  // namespace

TEST_CASE(
    "sessions hold the tuples of a sequential reference, in any disorder and with any replicas") {
  std::size_t late = 0;
  std::size_t windows = 0;
  testkit::explore(120, [&](test_system& kit) {
    const std::uint64_t seed = kit.seed();
    const auto gap = static_cast<std::int64_t>(1 + seed % 17);
    const auto jitter = static_cast<std::int64_t>(seed % 23);
    const auto disorder = seed % 4 == 0 ? jitter : static_cast<std::int64_t>(seed % 11);
    const events in = disordered(seed, 300, 1 + static_cast<int>(seed % 9), jitter);
    const expected want = sessions(in, gap, disorder);
    late += want.late.size();
    windows += want.windows.size();
    if (disorder >= jitter) REQUIRE(want.late.empty());
    for (const std::size_t replicas : {0U, 1U, 3U}) {
      CAPTURE(replicas);
      require_as_expected(run(kit, in, sessions_of(gap, disorder, replicas),
                              {.capacity = seed % 3 == 0 ? 1U : 64U}),
                          want);
    }
  });
  CHECK(late > 0);
  CHECK(windows > 0);
}

TEST_CASE("a tuple between two sessions makes one of them, and a gap parts them") {
  test_system kit(1);
  const events in{{0, 1, 0}, {1, 1, 9}, {2, 1, 14}, {3, 1, 24}, {4, 1, 5}};
  // 0 and 9, 9 and 14 are less than 10 apart; 14 and 24 are not
  CHECK(sorted(run(kit, in, sessions_of(10, 100, 0)).windows.value()) ==
        all_found{{1, 0, 24, {0, 1, 2, 4}}, {1, 24, 34, {3}}});
  const events apart{{0, 1, 0}, {1, 1, 15}, {2, 1, 8}};
  CHECK(run(kit, apart, sessions_of(10, 100, 0)).windows.value() ==
        all_found{{1, 0, 25, {0, 2, 1}}});  // the earlier session first
}

TEST_CASE("sessions are put out in the order of their ends, also at the end of the stream") {
  test_system kit(1);
  // that of key 1 begins first, and has grown beyond the other
  const events in{{0, 1, 0}, {1, 2, 3}, {2, 1, 8}};
  CHECK(run(kit, in, sessions_of(10, 100, 0)).windows.value() ==
        all_found{{2, 3, 13, {1}}, {1, 0, 18, {0, 2}}});
}

TEST_CASE("windows of so many tuples are those of a sequential reference") {
  testkit::explore(60, [&](test_system& kit) {
    const std::uint64_t seed = kit.seed();
    const events in = disordered(seed, 200, 1 + static_cast<int>(seed % 7), 5);
    const std::size_t n = 1 + seed % 12;
    const std::size_t slide = 1 + seed / 3 % n;
    CAPTURE(n);
    CAPTURE(slide);
    require_as_expected(run(kit, in, counted_of(n, slide, false), {.capacity = 1 + seed % 3}),
                        counted(in, n, slide));
    require_as_expected(run(kit, in, counted_of(n, n, true)), counted(in, n, n));
  });
}

TEST_CASE("the panes of sliding windows of so many tuples have a bound") {
  const auto last_ten = [](std::size_t at_most) -> any_windows {
    return window(tuples(10).sliding(1)).at_most(at_most).by(&event::key).fold(ids(), add, both);
  };
  events in;
  for (int i = 0; i < 60; ++i) in.push_back({i, i % 2, 0});
  test_system kit(1);
  // two keys with nine panes each, and the tenth of one of them
  require_as_expected(run(kit, in, last_ten(21)), counted(in, 10, 1));
  const outcome<> failed = run(kit, in, last_ten(20));
  REQUIRE_FALSE(failed.windows.has_value());
  CHECK(failed.windows.error().to_string().find("20 pieces of windows are open") !=
        std::string::npos);
}

TEST_CASE("a key of windows of so many tuples stays, and at_most is the most keys there may be") {
  const auto twos = [](std::size_t at_most) -> any_windows {
    return window(tuples(2)).at_most(at_most).by(&event::key).fold(ids(), add);
  };
  events in;  // of each key a whole window, and another one later
  for (int i = 0; i < 44; ++i) in.push_back({i, i / 2 % 11, 0});
  test_system kit(1);
  require_as_expected(run(kit, in, twos(11)), counted(in, 2, 2));
  const outcome<> failed = run(kit, in, twos(10));
  REQUIRE_FALSE(failed.windows.has_value());
  CHECK(failed.windows.error().to_string().find("10 pieces of windows are open") !=
        std::string::npos);
}

TEST_CASE("open sessions have a bound") {
  const auto at_most = [](std::size_t n) {
    return window(sessions(10)).by(&event::key).event_time(&event::at, out_of_order(50)).at_most(n);
  };
  const auto fails = [](test_system& kit, const events& in, const any_windows& w) {
    const outcome<> failed = run(kit, in, w);
    REQUIRE_FALSE(failed.windows.has_value());
    CHECK(failed.windows.error().to_string().find("pieces of windows are open") !=
          std::string::npos);
  };
  test_system kit(1);
  // four keys with three sessions each, none of which is over; their tuples come in two rounds
  events in;
  for (int i = 0; i < 24; ++i) in.push_back({i, i % 4, i / 4 % 3 * 15 + i / 12});
  require_as_expected(run(kit, in, at_most(12).fold(ids(), add, both)), sessions(in, 10, 50));
  fails(kit, in, at_most(11).fold(ids(), add, both));
  // with `all` each tuple is a piece
  require_as_expected(run(kit, in, at_most(24).all(numbers_of)), sessions(in, 10, 50));
  fails(kit, in, at_most(23).all(numbers_of));
  // and closed sessions make room, however long the stream
  events more;
  for (int i = 0; i < 4000; ++i) more.push_back({i, i % 5, i * 4});
  require_as_expected(run(kit, more, at_most(25).fold(ids(), add, both)), sessions(more, 10, 50));
}

TEST_CASE("open sliding windows of time have a bound") {
  const auto at_most = [](std::size_t n) {
    return window(sliding(20, 10))
        .by(&event::key)
        .event_time(&event::at, out_of_order(30))
        .at_most(n);
  };
  const auto fails = [](test_system& kit, const events& in, const any_windows& w) {
    const outcome<> failed = run(kit, in, w);
    REQUIRE_FALSE(failed.windows.has_value());
    CHECK(failed.windows.error().to_string().find("pieces of windows are open") !=
          std::string::npos);
  };
  test_system kit(1);
  // three keys in each of four panes of ten, all of them open
  events in;
  for (int i = 0; i < 24; ++i) in.push_back({i, i % 3, i / 3 % 4 * 10});
  require_as_expected(run(kit, in, at_most(12).fold(ids(), add, both)),
                      time_windows(in, 20, 10, 30));
  fails(kit, in, at_most(11).fold(ids(), add, both));
  require_as_expected(run(kit, in, at_most(24).all(numbers_of)), time_windows(in, 20, 10, 30));
  fails(kit, in, at_most(23).all(numbers_of));
  // also if each pane has one key alone
  const events alone{{0, 1, 0}, {1, 2, 10}, {2, 3, 20}, {3, 4, 30}};
  require_as_expected(run(kit, alone, at_most(4).fold(ids(), add, both)),
                      time_windows(alone, 20, 10, 30));
  fails(kit, alone, at_most(3).fold(ids(), add, both));
  // the panes of 50 ticks are open, and the one that has just begun
  events more;
  for (int i = 0; i < 4000; ++i) more.push_back({i, i % 3, i * 3});
  require_as_expected(run(kit, more, at_most(18).fold(ids(), add, both)),
                      time_windows(more, 20, 10, 30));
}

namespace {

/// Counts how often it is moved.
struct mover {
  static inline int moves = 0;
  mover() = default;
  mover(const mover&) = default;
  mover(mover&&) noexcept { ++moves; }
  mover& operator=(const mover&) = default;
  mover& operator=(mover&&) noexcept = default;
  ~mover() = default;
};

}  // namespace

TEST_CASE("a window is put together from many pieces without moving each tuple for each of them") {
  const auto size = [](std::span<const mover> all) { return all.size(); };
  patterns::detail::whole<mover, std::size_t, decltype(+size)> all(+size);
  std::vector<mover> state = all.begin(mover());
  for (int i = 0; i < 2000; ++i) all.merge(state, all.begin(mover()));
  CHECK(all.give(std::move(state)) == 2001);
  CHECK(mover::moves < 5 * 2000);
}

TEST_CASE("a window of so many tuples is put out with its last one") {
  test_system kit(1);
  const auto h = spawn(kit, pipeline(counted_of(3, 1, false), into_vector<found>()));
  const auto out = [&](int number) {
    send(h, event{number, 1, 0});
    kit.run();
    return kit.request(h, get_report{}).get().value().stages.back().figures.in;
  };
  CHECK(out(0) == 0);
  CHECK(out(1) == 0);
  CHECK(out(2) == 1);
  CHECK(out(3) == 2);
  send(h, end_of_stream{});
  kit.run();
  CHECK(kit.request(h, join{}).get().value() ==
        all_found{{1, 0, 3, {0, 1, 2}}, {1, 1, 4, {1, 2, 3}}, {1, 2, 4, {2, 3}}, {1, 3, 4, {3}}});
}

namespace {

using by_clock = window_of_ids<duration>;
using any_by_clock = any_of<event, by_clock>;

/// Returns the results of windows by the clock for events that come at these times.
std::vector<by_clock> at_times(test_system& kit, const any_by_clock& w,
                               const std::vector<std::pair<std::int64_t, event>>& in,
                               bool to_the_end = true) {
  // windows begin at multiples of their length
  const std::int64_t unit = duration(100ms).count();
  kit.run_for(duration::nanoseconds(unit - kit.now().since_beginning().count() % unit));
  const instant begin = kit.now();
  const auto h = spawn(kit, pipeline(w, into_vector<by_clock>()));
  for (const auto& [at_ms, e] : in) {
    kit.run_for(begin + duration::milliseconds(at_ms) - kit.now());
    send(h, event(e));
    kit.run();
  }
  if (to_the_end) kit.run_for(100s);
  const auto out = kit.request(h, get_report{}).get().value().stages.back().figures.in;
  send(h, end_of_stream{});
  kit.run();
  auto got = kit.request(h, join{}).get().value();
  if (to_the_end) CHECK(got.size() == out);  // their time has put them out, not the end
  CHECK(kit.timers_pending() == 0);
  for (by_clock& b : got) {
    b.begin = b.begin - begin.since_beginning();
    b.end = b.end - begin.since_beginning();
  }
  return sorted(got);
}

}  // namespace

TEST_CASE("windows by the clock close when their time has come, also if no tuple comes") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    test_system kit(seed);
    const auto w = window(tumbling(100ms)).by(&event::key);
    const std::vector<std::pair<std::int64_t, event>> in{
        {10, {0, 1, 0}}, {20, {1, 2, 0}}, {99, {2, 1, 0}}, {100, {3, 1, 0}}, {350, {4, 2, 0}}};
    const std::vector<by_clock> want{{1, 0ms, 100ms, {0, 2}},
                                     {2, 0ms, 100ms, {1}},
                                     {1, 100ms, 200ms, {3}},
                                     {2, 300ms, 400ms, {4}}};
    CHECK(at_times(kit, w.fold(ids(), add), in) == want);
    CHECK(at_times(kit, w.replicas(2).fold(ids(), add), in) == want);
    CHECK(at_times(kit, w.fold(ids(), add), in, false) == want);
  }
}

TEST_CASE("sliding windows by the clock close one after the other, also if no tuple comes") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    test_system kit(seed);
    const auto w = window(sliding(300ms, 100ms)).by(&event::key);
    const std::vector<std::pair<std::int64_t, event>> in{
        {10, {0, 1, 0}}, {110, {1, 1, 0}}, {120, {2, 2, 0}}, {650, {3, 1, 0}}};
    const std::vector<by_clock> want{{1, -200ms, 100ms, {0}}, {1, -100ms, 200ms, {0, 1}},
                                     {2, -100ms, 200ms, {2}}, {1, 0ms, 300ms, {0, 1}},
                                     {2, 0ms, 300ms, {2}},    {1, 100ms, 400ms, {1}},
                                     {2, 100ms, 400ms, {2}},  {1, 400ms, 700ms, {3}},
                                     {1, 500ms, 800ms, {3}},  {1, 600ms, 900ms, {3}}};
    CHECK(at_times(kit, w.fold(ids(), add, both), in) == want);
    CHECK(at_times(kit, w.replicas(2).fold(ids(), add, both), in) == want);
    CHECK(at_times(kit, w.fold(ids(), add, both), in, false) == want);
  }
}

TEST_CASE("a session by the clock ends when nothing has come for its gap") {
  test_system kit(1);
  const auto w = window(sessions(50ms)).by(&event::key).fold(ids(), add, both);
  CHECK(at_times(kit, w, {{10, {0, 1, 0}}, {59, {1, 1, 0}}, {80, {2, 2, 0}}, {120, {3, 1, 0}}}) ==
        std::vector<by_clock>{
            {1, 10ms, 109ms, {0, 1}}, {2, 80ms, 130ms, {2}}, {1, 120ms, 170ms, {3}}});
}

}  // namespace window_kinds_test
