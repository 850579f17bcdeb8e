// Sessions: which tuples are late, when a session comes out, and that those of a key never overlap.
#include <doctest/doctest.h>
#include <patterns/windows/windows_reference.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace sessions_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using namespace tests;
using testkit::test_system;

constexpr std::size_t in_ways[] = {0, 1, 3};  // one node, or this many replicas

any_windows sessions_of(std::int64_t gap, std::int64_t disorder, std::size_t replicas,
                        std::size_t at_most = 100'000, on_failure policy = on_failure::fail) {
  const auto w = window(sessions(gap))
                     .by(&event::key)
                     .event_time(&event::at, out_of_order(disorder))
                     .at_most(at_most)
                     .on(policy);
  if (replicas == 0) return w.fold(ids(), add, both);
  return w.replicas(replicas).fold(ids(), add, both);
}
/// All tuples of a session, instead of a state.
any_windows whole_sessions_of(std::int64_t gap, std::int64_t disorder, std::size_t replicas) {
  const auto w =
      window(sessions(gap)).by(&event::key).event_time(&event::at, out_of_order(disorder));
  if (replicas == 0) return w.all(numbers_of);
  return w.replicas(replicas).all(numbers_of);
}

/// The details of a seed: gaps from 1 on, few and many keys, events that are behind, equal and
/// negative times.
struct scene {
  std::int64_t gap;
  std::int64_t disorder;
  events in;
};
scene scene_of(std::uint64_t seed, int n) {
  std::mt19937_64 random(seed * 2'654'435'761);
  const auto below = [&](std::uint64_t most) { return static_cast<std::int64_t>(random() % most); };
  const std::int64_t gap = 1 + (below(3) == 0 ? below(120) : below(12));
  const std::int64_t jitter = below(static_cast<std::uint64_t>(2 * gap + 3));
  const std::int64_t disorder = below(3) == 0 ? 0 : below(static_cast<std::uint64_t>(jitter + 2));
  return {gap, disorder, disordered(random(), n, static_cast<int>(1 + below(6)), jitter)};
}

/// Returns true if two sessions of a key share a time.
bool overlap(all_found all) {
  std::sort(all.begin(), all.end(), [](const found& a, const found& b) {
    return std::pair(a.key, a.begin) < std::pair(b.key, b.begin);
  });
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].key == all[i - 1].key && all[i].begin < all[i - 1].end) return true;
  return false;
}

/// A stream to which events are sent one by one.
class fed {
 public:
  fed(test_system& kit, const any_windows& w)
      : kit_(kit), to_(spawn(kit, pipeline(w, into_vector<found>()))) {}
  /// Sends one, and returns how many sessions have come out then.
  std::size_t operator()(const event& e) {
    send(to_, event(e));
    return out();
  }
  [[nodiscard]] std::size_t out() {
    kit_.run();
    return kit_.request(to_, get_report{}).get().value().stages.back().figures.in;
  }
  [[nodiscard]] outcome<> end() {
    send(to_, end_of_stream{});
    kit_.run();
    outcome<> all;
    all.windows = kit_.request(to_, join{}).get();
    all.report = kit_.request(to_, get_report{}).get().value();
    return all;
  }

 private:
  test_system& kit_;
  decltype(spawn(std::declval<test_system&>(),
                 pipeline(std::declval<any_windows>(), into_vector<found>()))) to_;
};

}  // namespace

TEST_CASE("a tuple that would reach into a session that was put out is late") {
  for (const std::size_t replicas : in_ways) {
    CAPTURE(replicas);
    test_system kit(1);
    // the guide's example: at 6 the session of 0 ends, and 3 is behind, before the session of 6
    const outcome<> one_key =
        run(kit, {{0, 1, 0}, {1, 1, 6}, {2, 1, 3}}, sessions_of(5, 0, replicas));
    CHECK(sorted(one_key.windows.value()) == all_found{{1, 0, 5, {0}}, {1, 6, 11, {1}}});
    CHECK(one_key.of("window").late == 1);
    // the same without a session that is open
    const outcome<> two_keys =
        run(kit, {{0, 1, 0}, {1, 2, 6}, {2, 1, 3}}, sessions_of(5, 0, replicas));
    CHECK(sorted(two_keys.windows.value()) == all_found{{1, 0, 5, {0}}, {2, 6, 11, {1}}});
    CHECK(two_keys.of("window").late == 1);
    // within the disorder it joins both
    CHECK(
        run(kit, {{0, 1, 0}, {1, 1, 6}, {2, 1, 3}}, sessions_of(5, 3, replicas)).windows.value() ==
        all_found{{1, 0, 11, {0, 2, 1}}});
  }
}

TEST_CASE("a tuple behind the watermark is in time within a session that is open") {
  for (const std::size_t replicas : in_ways) {
    CAPTURE(replicas);
    test_system kit(1);
    // 12 ends at 22; 13 is behind, and so is 20, behind the last tuple of its session
    const events in{{0, 1, 12}, {1, 2, 21}, {2, 1, 13}, {3, 1, 20}, {4, 2, 29}, {5, 1, 11}};
    const outcome<> got = run(kit, in, sessions_of(10, 0, replicas));
    CHECK(sorted(got.windows.value()) == all_found{{1, 12, 30, {0, 2, 3}}, {2, 21, 39, {1, 4}}});
    CHECK(got.of("window").late == 1);
  }
}

TEST_CASE("the very watermark decides which tuples are late, however long the gap is") {
  for (const std::size_t replicas : in_ways) {
    CAPTURE(replicas);
    test_system kit(1);
    const outcome<> got = run(kit, {{0, 1, 1049}, {1, 1, 620}, {2, 1, 5000}, {3, 1, 4999}},
                              sessions_of(400, 0, replicas));
    CHECK(sorted(got.windows.value()) == all_found{{1, 1049, 1449, {0}}, {1, 5000, 5400, {2}}});
    CHECK(got.of("window").late == 2);
  }
}

TEST_CASE("a session comes out as soon as the watermark has reached its end") {
  for (const std::size_t replicas : in_ways) {
    CAPTURE(replicas);
    test_system kit(1);
    fed stream(kit, sessions_of(8000, 0, replicas));
    CHECK(stream({0, 1, 1}) == 0);
    CHECK(stream({1, 2, 8000}) == 0);
    CHECK(stream({2, 3, 8001}) == 1);
    CHECK(stream({3, 3, 15'999}) == 1);
    CHECK(stream({4, 3, 16'000}) == 2);
    CHECK(sorted(stream.end().windows.value()) ==
          all_found{{1, 1, 8001, {0}}, {2, 8000, 16'000, {1}}, {3, 8001, 24'000, {2, 3, 4}}});
  }
}

TEST_CASE("of thousands of streams, sessions are those of the reference and never overlap") {
  std::size_t late = 0, ended = 0, in = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    CAPTURE(seed);
    const scene s = scene_of(seed, 60);
    const expected_sessions want = sessions(s.in, s.gap, s.disorder);
    REQUIRE_FALSE(overlap(want.windows));
    test_system kit(seed);
    for (const std::size_t replicas : in_ways) {
      CAPTURE(replicas);
      const auto of = seed % 5 == 0 ? &whole_sessions_of : nullptr;
      const any_windows w =
          of ? of(s.gap, s.disorder, replicas) : sessions_of(s.gap, s.disorder, replicas);
      require_as_expected(run(kit, s.in, w, {.capacity = std::size_t{1} << seed % 7}), want);
    }
    late += want.late.size();
    ended += want.ended.back();
    in += s.in.size();
  }
  CHECK(late > in / 50);
  CHECK(ended > in / 50);
}

TEST_CASE("of many streams, each session comes out with the event that ends it") {
  testkit::explore(60, [](test_system& kit) {
    const scene s = scene_of(kit.seed() + 10'000, 60);
    const expected_sessions want = sessions(s.in, s.gap, s.disorder);
    for (const std::size_t replicas : in_ways) {
      CAPTURE(replicas);
      fed stream(kit, sessions_of(s.gap, s.disorder, replicas));
      for (const event& e : s.in) {
        CAPTURE(e.number);
        REQUIRE(stream(e) == want.ended[static_cast<std::size_t>(e.number)]);
      }
      require_as_expected(stream.end(), want);
    }
  });
}

TEST_CASE("sessions that have ended are no open pieces, in one node as in a replica") {
  std::size_t refused = 0;
  testkit::explore(60, [&](test_system& kit) {
    const scene s = scene_of(kit.seed() + 20'000, 100);
    const std::size_t at_most = 1 + kit.seed() % 4;
    const auto of = [&](std::size_t replicas) {
      const std::size_t before = kit.dead_letters().size();
      const outcome<> got =
          run(kit, s.in, sessions_of(s.gap, s.disorder, replicas, at_most, on_failure::skip),
              {.capacity = std::size_t{1} << kit.seed() % 7});
      return std::tuple(sorted(got.windows.value()), got.of("window").late,
                        kit.dead_letters().size() - before);
    };
    const auto one_node = of(0);
    REQUIRE(of(1) == one_node);
    refused += std::get<2>(one_node);
  });
  CHECK(refused > 0);
}

TEST_CASE("sessions that were joined, put out or lost leave no pieces behind") {
  constexpr int rounds = 50;
  events joined, failing;
  for (int i = 0; i < rounds; ++i) {
    // the last of these joins the other two
    for (const std::int64_t at : {0, 18, 9})
      joined.push_back({static_cast<int>(joined.size()), 0, 100 * i + at});
    for (const int sign : {1, -1}) failing.push_back({sign * (2 * i + 1), 0, 100 * i});
  }
  failing.push_back({1000, 0, 100 * rounds});
  for (const std::size_t replicas : {0U, 1U}) {
    CAPTURE(replicas);
    test_system kit(1);
    const auto w = window(sessions(10)).by(&event::key).event_time(&event::at, out_of_order(20));
    const auto room = w.at_most(4);  // the one of this round, and the one before
    const any_windows kept = replicas == 0 ? any_windows(room.all(numbers_of))
                                           : any_windows(room.replicas(1).all(numbers_of));
    for (const any_windows& of : {kept, sessions_of(10, 20, replicas, 4)}) {
      const outcome<> got = run(kit, joined, of);
      REQUIRE(got.windows);
      CHECK(got.windows.value().size() == rounds);
      for (const found& one : got.windows.value()) CHECK(one.value.size() == 3);
    }
    CHECK(kit.dead_letters().empty());
    const outcome<> got = run(kit, failing, sessions_of(10, 20, replicas, 4, on_failure::restart));
    CHECK(got.windows.value().size() == 1);
    CHECK(kit.dead_letters().size() == rounds);
    CHECK(got.of("window").dropped == rounds);
  }
}

TEST_CASE("sessions that are lost in a restart are not begun a second time behind the watermark") {
  std::size_t lost = 0;
  testkit::explore(60, [&](test_system& kit) {
    scene s = scene_of(kit.seed() + 30'000, 100);
    for (event& e : s.in)
      if (e.number % 11 == 5) e.number = -e.number;
    for (const std::size_t replicas : in_ways) {
      const std::size_t before = kit.dead_letters().size();
      const outcome<> got =
          run(kit, s.in, sessions_of(s.gap, s.disorder, replicas, 100'000, on_failure::restart));
      const all_found& all = got.windows.value();
      REQUIRE_FALSE(overlap(all));
      std::size_t in_sessions = 0;
      for (const found& w : all) in_sessions += w.value.size();
      REQUIRE(in_sessions + got.of("window").late + got.of("window").dropped +
                  kit.dead_letters().size() - before ==
              s.in.size());
      lost += got.of("window").dropped;
    }
  });
  CHECK(lost > 0);
}

namespace {

std::size_t by_parity(const event& e, std::size_t n) { return static_cast<std::size_t>(e.key) % n; }
event same(event e) { return e; }

}  // namespace

TEST_CASE("sessions wait for the slowest producer, and not for one that is idle") {
  testkit::explore(20, [](test_system& kit) {
    const scene s = scene_of(kit.seed() + 40'000, 100);
    for (const std::size_t replicas : in_ways) {
      const any_windows w = pipeline(farm(same).replicas(3).by(by_parity),
                                     sessions_of(s.gap, 2 * s.gap + 3, replicas));
      require_as_expected(run(kit, s.in, w, {.capacity = 2}), sessions(s.in, s.gap, 100'000));
    }
  });
  const auto w = window(sessions(10)).by(&event::key).event_time(&event::at);
  const auto idles = w.idle_after(duration::seconds(1));
  for (const any_windows& of : {any_windows(idles.fold(ids(), add, both)),
                                any_windows(idles.replicas(2).fold(ids(), add, both))}) {
    test_system kit(1);
    fed stream(kit, pipeline(farm(same).replicas(2).by(by_parity), of));
    CHECK(stream({0, 0, 5}) == 0);
    kit.run_for(duration::milliseconds(500));
    CHECK(stream({1, 2, 25}) == 0);  // the other producer might bring something
    kit.run_for(duration::milliseconds(600));
    CHECK(stream.out() == 1);
    CHECK(stream({2, 1, 14}) == 1);
    CHECK(stream.end().of("window").late == 1);
  }
}

namespace {

/// Counts the results, on any thread.
std::atomic<std::size_t> came{0};
void count(const found& /*one*/) {
  came.fetch_add(1);
  came.notify_all();
}

}  // namespace

TEST_CASE("on several workers, too, each session comes out with the event that ends it") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    const scene s = scene_of(seed + 50'000, 300);
    const expected_sessions want = sessions(s.in, s.gap, s.disorder);
    settings workers;
    workers.scheduler.workers = 3;
    actor_system system(workers);
    came.store(0);
    const auto h = spawn(system, pipeline(sessions_of(s.gap, s.disorder, 3), for_each(count)));
    for (const event& e : s.in) {
      send(h, event(e));
      const std::size_t ended = want.ended[static_cast<std::size_t>(e.number)];
      for (std::size_t n = came.load(); n < ended; n = came.load()) came.wait(n);
      REQUIRE(came.load() == ended);
    }
    send(h, end_of_stream{});
    static_cast<void>(system.request(h, join{}).get());
    CHECK(came.load() == want.windows.size());
  }
}

}  // namespace sessions_test
