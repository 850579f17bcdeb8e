// Two streams joined by key within an interval.
#include <doctest/doctest.h>
#include <patterns/windows/windows_reference.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace garrick;
using namespace garrick::patterns;
using namespace std::chrono_literals;
using namespace tests;
using testkit::test_system;

using ids_of_pair = std::pair<int, int>;
using pairs = std::vector<ids_of_pair>;
using any_join = any_of<event, ids_of_pair>;
using any_source = any_of<void, event>;

ids_of_pair pair_of(const event& left, const event& right) {
  if (left.number < 0) throw std::runtime_error("a bad event");
  return {left.number, right.number};
}
struct times {
  std::int64_t disorder, before, after;
};
auto join_of(const any_source& right, const times& t) {
  return join_with(right)
      .by(&event::key, &event::key)
      .event_time(&event::at, &event::at, out_of_order(t.disorder))
      .within(t.before, t.after);
}

/// The events of a side that are in time.
events in_time(const events& all, std::int64_t disorder) {
  events in;
  reference_watermark mark(disorder);
  for (const event& e : all) {
    if (mark.has_passed(e.at + 1)) continue;
    mark.see(e.at);
    in.push_back(e);
  }
  return in;
}
pairs expected_pairs(const events& left, const events& right, const times& t) {
  pairs all;
  for (const event& l : in_time(left, t.disorder))
    for (const event& r : in_time(right, t.disorder))
      if (l.key == r.key && r.at - l.at >= -t.before && r.at - l.at <= t.after)
        all.emplace_back(l.number, r.number);
  std::sort(all.begin(), all.end());
  return all;
}

struct joined {
  result<pairs> all = pairs();
  node_figures figures{};
};
joined run_join(test_system& kit, const events& left, const any_join& join, stream_options o = {}) {
  const auto h = spawn(kit, pipeline(from(left), join, into_vector<ids_of_pair>()), o);
  kit.run();
  joined got;
  got.all = kit.request(h, patterns::join{}).get();
  if (got.all.has_value()) std::sort(got.all.value().begin(), got.all.value().end());
  outcome<> all;
  all.report = kit.request(h, get_report{}).get().value();
  got.figures = all.of("join");
  return got;
}
events shifted(events all, std::int64_t by) {
  for (event& e : all) e.at += by;
  return all;
}

}  // namespace

TEST_CASE("a join has the pairs of a sequential reference, whatever the disorder and the order") {
  std::size_t late = 0;
  std::size_t found_pairs = 0;
  testkit::explore(150, [&](test_system& kit) {
    const std::uint64_t seed = kit.seed();
    const auto jitter = static_cast<std::int64_t>(seed % 13);
    const times t{seed % 4 == 0 ? jitter : static_cast<std::int64_t>(seed % 7),
                  static_cast<std::int64_t>(seed % 9), static_cast<std::int64_t>(seed % 5)};
    const int keys = 1 + static_cast<int>(seed % 9);
    const events left = disordered(seed, 150, keys, jitter);
    // sometimes far ahead, or long over
    const events right =
        shifted(disordered(seed + 1000, static_cast<int>(seed % 200), keys, jitter),
                seed % 5 == 0 ? 80 : 0);
    const pairs want = expected_pairs(left, right, t);
    const std::size_t behind = left.size() - in_time(left, t.disorder).size() + right.size() -
                               in_time(right, t.disorder).size();
    const joined got = run_join(kit, left, join_of(from(right), t).with(pair_of),
                                {.capacity = seed % 3 == 0 ? 1U : 64U});
    REQUIRE(got.all.has_value());
    REQUIRE(got.all.value() == want);
    CHECK(got.figures.late == behind);
    CHECK(got.figures.in == left.size() + right.size());
    CHECK(got.figures.out == want.size());
    CHECK(got.figures.dropped == 0);
    late += behind;
    found_pairs += want.size();
  });
  CHECK(late > 0);
  CHECK(found_pairs > 0);
}

TEST_CASE("a join is drawn with its name, and its source below") {
  const auto j = join_of(seq(from(events{})).named("heard"), {0, 1, 1});
  CHECK(print(j.with(pair_of)) == "join\n└─ pipeline\n   └─ heard\n");
  CHECK(print(j.named("pairs").with(pair_of)) == "pairs\n└─ pipeline\n   └─ heard\n");
}

TEST_CASE("a real system's workers find the same pairs") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    const times t{6, 4, 8};
    const events left = disordered(seed, 700, 30, 6);
    const events right = disordered(seed + 10, 700, 30, 6);
    settings workers;
    workers.scheduler.workers = 3;
    actor_system system(workers);
    const auto h =
        spawn(system, pipeline(from(left), any_join(join_of(from(right), t).with(pair_of)),
                               into_vector<ids_of_pair>()));
    auto got = system.request(h, patterns::join{}).get();
    REQUIRE(got.has_value());
    std::sort(got.value().begin(), got.value().end());
    CHECK(got.value() == expected_pairs(left, right, t));
  }
}

TEST_CASE("producers side by side may be behind each other on both sides of a join") {
  const auto spread = [](any_source of) {
    return any_source(pipeline(std::move(of), farm([](event e) { return e; }).replicas(3)));
  };
  testkit::explore(30, [&](test_system& kit) {
    const times t{5, 6, 6};
    const events left = disordered(kit.seed(), 150, 5, 5);
    const events right = disordered(kit.seed() + 7, 150, 5, 5);
    const any_join j = pipeline(farm([](event e) { return e; }).replicas(2),
                                join_of(spread(from(right)), t).with(pair_of));
    const joined got = run_join(kit, left, j, {.capacity = 2});
    REQUIRE(got.all.value() == expected_pairs(left, right, {1000, 6, 6}));
    CHECK(got.figures.late == 0);
  });
}

TEST_CASE("what nobody can meet any more is freed, and the side that is ahead waits") {
  testkit::explore(10, [](test_system& kit) {
    events left;
    events right;
    for (int i = 0; i < 600; ++i) left.push_back({i, i % 10, i});
    for (int i = 0; i < 600; ++i) right.push_back({i, i % 10, i});
    const times t{0, 5, 5};
    // 11 times of each side are near each other; at most half of the room is taken by who is ahead,
    // however many tuples a step finds in a channel
    const any_join j = join_of(from(right), t).at_most(50).with(pair_of);
    for (const std::size_t capacity : {std::size_t{8}, stream_options().capacity}) {
      const joined got = run_join(kit, left, j, {.capacity = capacity});
      REQUIRE(got.all.has_value());
      CHECK(got.all.value() == expected_pairs(left, right, t));
    }
    // 51 of each side are near, which is more than 40. With what is freed 100 times at once it is
    // less than 310.
    const times near{0, 50, 50};
    const joined small = run_join(kit, left, join_of(from(right), near).at_most(40).with(pair_of));
    REQUIRE_FALSE(small.all.has_value());
    CHECK(small.all.error().to_string().find("join: 40 tuples wait for others") !=
          std::string::npos);
    const joined large = run_join(kit, left, join_of(from(right), near).at_most(310).with(pair_of));
    REQUIRE(large.all.has_value());
    CHECK(large.all.value() == expected_pairs(left, right, near));
  });
}

TEST_CASE("a side that has ended keeps nothing of the other") {
  test_system kit(1);
  events left;
  for (int i = 0; i < 500; ++i) left.push_back({i, 0, i});
  // more than there is room for, were they kept
  const joined got =
      run_join(kit, left, join_of(from(events{{7, 0, 3}}), {0, 1, 1}).at_most(20).with(pair_of));
  CHECK(got.all.value() == pairs{{2, 7}, {3, 7}, {4, 7}});
}

TEST_CASE("a tuple that throws meets nobody, and a restart loses what is kept") {
  std::size_t lost = 0;
  testkit::explore(30, [&](test_system& kit) {
    const times t{3, 4, 4};
    events left = disordered(kit.seed(), 100, 5, 3);
    const events right = disordered(kit.seed() + 7, 100, 5, 3);
    for (event& e : left)
      if (e.number % 7 == 3) e.number = -e.number;
    pairs want = expected_pairs(left, right, t);
    std::set<int> bad;
    for (const ids_of_pair& p : want)
      if (p.first < 0) bad.insert(p.first);
    std::erase_if(want, [](const ids_of_pair& p) { return p.first < 0; });
    const joined skipped =
        run_join(kit, left, join_of(from(right), t).on(on_failure::skip).with(pair_of));
    REQUIRE(skipped.all.has_value());
    for (const ids_of_pair& p : skipped.all.value())
      CHECK(std::binary_search(want.begin(), want.end(), p));
    CHECK(kit.dead_letters().size() == skipped.figures.failures);
    const joined restarted =
        run_join(kit, left, join_of(from(right), t).on(on_failure::restart).with(pair_of));
    REQUIRE(restarted.all.has_value());
    for (const ids_of_pair& p : restarted.all.value())
      CHECK(std::binary_search(want.begin(), want.end(), p));
    lost += restarted.figures.dropped;
    const joined failed = run_join(kit, left, join_of(from(right), t).with(pair_of));
    CHECK(failed.all.has_value() == bad.empty());
    if (!bad.empty())
      CHECK(failed.all.error().to_string().find("join: a bad event") != std::string::npos);
  });
  CHECK(lost > 0);
}

TEST_CASE("what a join keeps when its stream is cancelled is counted as dropped") {
  test_system kit(1);
  const auto h = spawn(
      kit, pipeline(any_join(join_of(pipeline(ticks(1s),
                                              [](tick n) {
                                                return event{-1, 0,
                                                             static_cast<std::int64_t>(n.number)};
                                              }),
                                     {0, 5, 5})
                                 .with([](const event& l, const event&) {
                                   return ids_of_pair(l.number, 0);
                                 })),
                    discard<ids_of_pair>()));
  for (int i = 0; i < 14; ++i) send(h, event{i, 1, i});
  kit.run();
  send(h, cancel{});
  kit.run();
  CHECK(kit.request(h, patterns::join{}).get().error() == errc::cancelled);
  outcome<> got;
  got.report = kit.request(h, get_report{}).get().value();
  CHECK(got.of("join").dropped == 14);
  CHECK(kit.timers_pending() == 0);
}

TEST_CASE("a side that is idle is taken to be as far as the other") {
  // one tick is all that comes of it for an hour
  const any_source rare =
      pipeline(ticks(3600s), [](tick n) { return event{static_cast<int>(n.number), 0, 100}; });
  for (const bool idles : {false, true}) {
    CAPTURE(idles);
    test_system kit(1);
    const auto spec = join_of(rare, {0, 500, 500}).at_most(40);
    const any_join j = idles ? any_join(spec.idle_after(1s).with(pair_of)) : spec.with(pair_of);
    const auto h = spawn(kit, pipeline(j, into_vector<ids_of_pair>()), {.capacity = 4});
    for (int i = 0; i < 200; ++i) send(h, event{i, 0, 100 * i});
    kit.run_for(100s);
    const auto taken = [&] {
      outcome<> all;
      all.report = kit.request(h, get_report{}).get().value();
      return all.of("join");
    };
    CHECK(taken().in == (idles ? 200 : 20));  // 20: half of the room
    kit.run_for(3600s);
    CHECK(taken().late == (idles ? 1 : 0));
    send(h, cancel{});
    kit.run();
  }
}

TEST_CASE("the other side does not wait for one that is idle, whichever it is") {
  events many;
  for (int i = 0; i < 200; ++i) many.push_back({i, 0, 100 * i});
  for (const bool idles : {false, true}) {
    CAPTURE(idles);
    test_system kit(1);
    const auto spec = join_of(from(many), {0, 500, 500}).at_most(20);
    const any_join j = idles ? any_join(spec.idle_after(1s).with(pair_of)) : spec.with(pair_of);
    const auto h = spawn(kit, pipeline(j, into_vector<ids_of_pair>()), {.capacity = 4});
    send(h, event{0, 0, 100});
    kit.run_for(100s);
    const auto taken = [&] {
      outcome<> all;
      all.report = kit.request(h, get_report{}).get().value();
      return all.of("join");
    };
    CHECK(taken().in == (idles ? 201 : 10));  // 10: half of the room
    send(h, event{1, 0, 101});
    kit.run_for(1s);
    CHECK(taken().late == (idles ? 1 : 0));
    send(h, cancel{});
    kit.run();
  }
}

TEST_CASE("a side that waits is not idle, nor is one of its producers") {
  const auto by_parity = [](const event& e, std::size_t n) {
    return static_cast<std::size_t>(e.key) % n;
  };
  const auto same = [](event e) { return e; };
  // for ten seconds its time stands still
  const any_source slow = pipeline(ticks(500ms), [](tick n) {
    return event{static_cast<int>(n.number), 0, n.number < 20 ? 0 : 100'000};
  });
  test_system kit(1);
  const any_join j = pipeline(farm(same).replicas(2).by(by_parity),
                              join_of(slow, {0, 5, 5}).at_most(20).idle_after(1s).with(pair_of));
  const auto h = spawn(kit, pipeline(j, into_vector<ids_of_pair>()), {.capacity = 1});
  send(h, event{0, 1, 10'000});
  for (int i = 1; i < 400; ++i) send(h, event{i, 0, i < 300 ? 10 * i : 20'000 + i});
  send(h, event{400, 1, 10'001});  // its channel is empty when those before it are read
  kit.run_for(12s);
  outcome<> all;
  all.report = kit.request(h, get_report{}).get().value();
  CHECK(all.of("join").in > 401 + 20);
  CHECK(all.of("join").late == 0);
  send(h, cancel{});
  kit.run();
}

TEST_CASE("intervals without sense are refused") {
  const auto refused = [](const auto& make) {
    CHECK_THROWS_AS(static_cast<void>(make()), std::invalid_argument);
  };
  const auto j = join_with(any_source(from(events())));
  refused([&] { return j.within(-1); });
  refused([&] { return j.within(1s, -1s); });
  refused([&] { return j.within(duration::infinite()); });
  refused([&] { return j.at_most(0); });
  refused([&] { return j.idle_after(0s); });
}
