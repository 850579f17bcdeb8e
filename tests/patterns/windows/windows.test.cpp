// Windows of time by the tuples' own times: under disorder, with replicas, with late tuples.
#include <doctest/doctest.h>
#include <patterns/windows/windows_reference.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace windows_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using namespace std::chrono_literals;
using namespace tests;
using testkit::test_system;

/// Windows of these lengths, folded or whole, in one node or in replicas.
auto by_time(std::int64_t disorder) {
  return [disorder](auto kind) {
    return window(kind).by(&event::key).event_time(&event::at, out_of_order(disorder));
  };
}
any_windows windows_of(std::int64_t length, std::int64_t slide, std::int64_t disorder,
                       std::size_t replicas) {
  const auto of = by_time(disorder);
  if (length == slide) {
    if (replicas == 0) return of(tumbling(length)).fold(ids(), add);
    return of(tumbling(length)).replicas(replicas).fold(ids(), add);
  }
  if (replicas == 0) return of(sliding(length, slide)).fold(ids(), add, both);
  return of(sliding(length, slide)).replicas(replicas).fold(ids(), add, both);
}

struct shape {
  std::int64_t length, slide;
};
constexpr shape shapes[] = {{10, 10}, {1, 1}, {12, 4}, {10, 3}, {7, 1}, {64, 64}};

}  // namespace

TEST_CASE(
    "windows hold the tuples of a sequential reference, in any disorder and with any replicas") {
  std::size_t late = 0;
  testkit::explore(120, [&](test_system& kit) {
    const std::uint64_t seed = kit.seed();
    const shape s = shapes[seed % std::size(shapes)];
    const auto jitter = static_cast<std::int64_t>(seed % 23);
    const auto disorder = seed % 4 == 0 ? jitter : static_cast<std::int64_t>(seed % 11);
    const events in = disordered(seed, 300, 1 + static_cast<int>(seed % 9), jitter);
    const expected want = time_windows(in, s.length, s.slide, disorder);
    late += want.late.size();
    if (disorder >= jitter) REQUIRE(want.late.empty());
    for (const std::size_t replicas : {0U, 1U, 2U, 5U}) {
      CAPTURE(replicas);
      const outcome<> got = run(kit, in, windows_of(s.length, s.slide, disorder, replicas),
                                {.capacity = seed % 3 == 0 ? 1U : 64U});
      require_as_expected(got, want);
      CHECK(got.of("window").in == in.size());
      CHECK(got.of("window").out == want.windows.size());
    }
  });
  CHECK(late > 0);
}

TEST_CASE("a real system's workers give the same windows") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    const shape s = shapes[seed % std::size(shapes)];
    const events in = disordered(seed, 1000, 40, 8);
    const expected want = time_windows(in, s.length, s.slide, 5);
    settings workers;
    workers.scheduler.workers = 3;
    actor_system system(workers);
    const auto h = spawn(
        system, pipeline(from(in), windows_of(s.length, s.slide, 5, 3), into_vector<found>()));
    const auto got = system.request(h, join{}).get();
    REQUIRE(got.has_value());
    CHECK(sorted(got.value()) == want.windows);
  }
}

TEST_CASE("windows come in the order of their ends, and keys in that of their first tuple") {
  test_system kit(1);
  const events in{{0, 7, 3}, {1, 2, 1}, {2, 7, 9}, {3, 2, 12}, {4, 5, 11}, {5, 2, 40}, {6, 7, 31}};
  const outcome<> got = run(kit, in, windows_of(10, 10, 100, 0));
  CHECK(got.windows.value() == all_found{{7, 0, 10, {0, 2}},
                                         {2, 0, 10, {1}},
                                         {2, 10, 20, {3}},
                                         {5, 10, 20, {4}},
                                         {7, 30, 40, {6}},
                                         {2, 40, 50, {5}}});
}

TEST_CASE("a window is put out when the watermark reaches its end, not before") {
  for (const std::size_t replicas : {0U, 3U}) {
    test_system kit(5);
    const auto h = spawn(kit, pipeline(windows_of(10, 10, 5, replicas), into_vector<found>()));
    const auto out = [&] {
      kit.run();
      return kit.request(h, get_report{}).get().value().stages.back().figures.in;
    };
    send(h, event{0, 1, 3});
    send(h, event{1, 2, 14});
    CHECK(out() == 0);  // up to 9
    send(h, event{2, 3, 8});
    send(h, event{3, 1, 15});
    CHECK(out() == 2);  // [0, 10) of 1 and 3
    send(h, event{4, 2, 9});
    CHECK(out() == 2);  // late
    send(h, event{5, 9, 25});
    CHECK(out() == 4);  // also of a key with a replica that has had no other tuple
    send(h, end_of_stream{});
    CHECK(out() == 5);
    const auto got = kit.request(h, join{}).get();
    CHECK(sorted(got.value()) == all_found{{1, 0, 10, {0}},
                                           {3, 0, 10, {2}},
                                           {1, 10, 20, {3}},
                                           {2, 10, 20, {1}},
                                           {9, 20, 30, {5}}});
  }
}

namespace {

/// Keeps the numbers of the events that it gets.
class late_events : public actor<protocol<void(event)>> {
 public:
  explicit late_events(ids& to) : to_(to) {}
  void on(const event& e) { to_.push_back(e.number); }

 private:
  ids& to_;
};

}  // namespace

TEST_CASE("late tuples are counted, and go where they are sent") {
  std::size_t late = 0;
  testkit::explore(20, [&](test_system& kit) {
    const events in = disordered(kit.seed(), 200, 4, 30);
    const expected want = time_windows(in, 8, 8, 3);
    late += want.late.size();
    ids heard;
    const auto to = kit.spawn<late_events>(lent(heard));
    const auto base = by_time(3)(tumbling(8)).late_to(to);
    const auto check = [&](const any_windows& w) {
      heard.clear();
      require_as_expected(run(kit, in, w), want);
      std::sort(heard.begin(), heard.end());
      CHECK(heard == ids(want.late.begin(), want.late.end()));
    };
    check(base.fold(ids(), add));
    check(base.replicas(3).fold(ids(), add));
  });
  CHECK(late > 0);
}

TEST_CASE("all(f) sees a window's tuples in the order in which they came") {
  test_system kit(3);
  const events in{{0, 1, 3}, {1, 1, 1}, {2, 1, 5}, {3, 1, 4}, {4, 1, 0}};
  const auto of = by_time(10);
  CHECK(run(kit, in, of(tumbling(10)).all(numbers_of)).windows.value() ==
        all_found{{1, 0, 10, {0, 1, 2, 3, 4}}});
  // pane by pane: [0, 2) [2, 4) [4, 6)
  CHECK(run(kit, in, of(sliding(6, 2)).all(numbers_of)).windows.value().at(2) ==
        found{1, 0, 6, {1, 4, 0, 2, 3}});
}

TEST_CASE("times are durations, time points, or numbers of any type") {
  struct timed {
    std::chrono::sys_time<std::chrono::milliseconds> at{};
    unsigned short tick = 0;
  };
  test_system kit(1);
  const std::vector<timed> in{{std::chrono::sys_time<std::chrono::milliseconds>(1500ms), 40000},
                              {std::chrono::sys_time<std::chrono::milliseconds>(2500ms), 65535}};
  const auto number = [](int n, timed) { return n + 1; };
  const auto seconds =
      spawn(kit, pipeline(from(in), window(tumbling(1s)).event_time(&timed::at).fold(0, number),
                          into_vector<windowed<no_key, int>>()));
  const auto ticks = spawn(
      kit, pipeline(from(in), window(tumbling(30000)).event_time(&timed::tick).fold(0, number),
                    into_vector<windowed<no_key, int, std::int64_t>>()));
  kit.run();
  CHECK(kit.request(seconds, join{}).get().value() ==
        std::vector<windowed<no_key, int>>{{{}, 1s, 2s, 1}, {{}, 2s, 3s, 1}});
  CHECK(kit.request(ticks, join{}).get().value() ==
        std::vector<windowed<no_key, int, std::int64_t>>{{{}, 30000, 60000, 1},
                                                         {{}, 60000, 90000, 1}});
}

TEST_CASE("lengths without sense are refused") {
  const auto refused = [](const auto& make) {
    CHECK_THROWS_AS(static_cast<void>(make()), std::invalid_argument);
  };
  refused([] { return tumbling(0s); });
  refused([] { return tumbling(-1); });
  refused([] { return tumbling(duration::infinite()); });
  refused([] { return sliding(10s, 0s); });
  refused([] { return sliding(10s, 11s); });
  refused([] { return sliding(10, -1); });
  refused([] { return sliding(1'000'001, 1'000'000); });  // a million panes
  refused([] { return sessions(0s); });
  refused([] { return tuples(0); });
  refused([] { return tuples(4).sliding(0); });
  refused([] { return tuples(4).sliding(5); });
  refused([] { return out_of_order(-1s); });
  refused([] { return out_of_order(-1); });
  refused([] { return window(tuples(1)).at_most(0); });
  refused([] { return window(tuples(1)).by(&event::key).replicas(most_replicas + 1); });
  refused([] { return window(tuples(1)).by(&event::key).replicas(0); });
  refused([] {
    const ref<protocol<void(event)>> nobody;
    return window(tumbling(1)).event_time(&event::at).late_to(nobody);
  });
  refused([] { return window(tumbling(1)).event_time(&event::at).idle_after(0s); });
}

}  // namespace windows_test
