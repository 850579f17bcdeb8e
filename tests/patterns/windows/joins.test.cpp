// Two streams joined by key within an interval.
#include <doctest/doctest.h>
#include <patterns/windows/joins_reference.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace joins_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using namespace std::chrono_literals;
using namespace tests;
using testkit::test_system;

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

TEST_CASE("a join has the pairs of a sequential reference, in any disorder and order") {
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

TEST_CASE("tuples that can meet no partner any more are freed, and the side that is ahead waits") {
  testkit::explore(10, [](test_system& kit) {
    events left;
    events right;
    for (int i = 0; i < 600; ++i) left.push_back({i, i % 10, i});
    for (int i = 0; i < 600; ++i) right.push_back({i, i % 10, i});
    const times t{0, 5, 5};
    // 11 times of each side are near each other; at most half of the room is taken by the side that
    // is ahead, however many tuples a step finds in a channel
    const any_join j = join_of(from(right), t).at_most(50).with(pair_of);
    for (const std::size_t capacity : {std::size_t{8}, stream_options().capacity}) {
      const joined got = run_join(kit, left, j, {.capacity = capacity});
      REQUIRE(got.all.has_value());
      CHECK(got.all.value() == expected_pairs(left, right, t));
    }
    // 51 of each side are near, which is more than 40. With the events that are freed 100 times at
    // once it is less than 310.
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

namespace {

/// Every seventh one is bad: its pairs throw.
events with_bad_ones(events all) {
  for (event& e : all)
    if (e.number % 7 == 3) e.number = -e.number;
  return all;
}
bool is_bad(const ids_of_pair& p) { return p.first < 0; }

}  // namespace

TEST_CASE("a pair that throws is lost alone, whichever side is read first") {
  std::size_t lost = 0;
  testkit::explore(60, [&](test_system& kit) {
    const std::uint64_t seed = kit.seed();
    const times t{3, 4, 4};
    const events left = with_bad_ones(disordered(seed, 100, 5, 3));
    const events right = disordered(seed + 7, 100, 5, 3);
    pairs want = expected_pairs(left, right, t);
    const auto bad = static_cast<std::size_t>(std::count_if(want.begin(), want.end(), is_bad));
    std::erase_if(want, is_bad);
    const joined got =
        run_join(kit, left, join_of(from(right), t).on(on_failure::skip).with(pair_of),
                 {.capacity = seed % 3 == 0 ? 1U : 64U});
    REQUIRE(got.all.has_value());
    REQUIRE(got.all.value() == want);
    CHECK(got.figures.failures == bad);
    CHECK(kit.dead_letters().size() == bad);
    if (bad != 0)
      CHECK(kit.dead_letters().front().reason.to_string().find("a bad event") != std::string::npos);
    CHECK(got.figures.out == want.size());
    CHECK(got.figures.dropped == 0);
    lost += bad;
    const joined failed = run_join(kit, left, join_of(from(right), t).with(pair_of));
    CHECK(failed.all.has_value() == (bad == 0));
    if (bad != 0)
      CHECK(failed.all.error().to_string().find("join: a bad event") != std::string::npos);
  });
  CHECK(lost > 0);
}

namespace {

struct parcel {
  int key = 0;
  std::int64_t at = 0;
  std::unique_ptr<int> what;
};

}  // namespace

TEST_CASE("a pair that cannot be copied is lost as a failure without a dead letter") {
  test_system kit(1);
  const auto parcels =
      pipeline(counting(0, 6), [](int i) { return parcel{0, i, std::make_unique<int>(i)}; });
  const auto h = spawn(kit, pipeline(from(events{{0, 0, 0}, {1, 0, 1}, {2, 0, 2}}),
                                     join_with(parcels)
                                         .by(&event::key, &parcel::key)
                                         .event_time(&event::at, &parcel::at)
                                         .within(0)
                                         .on(on_failure::skip)
                                         .with([](const event& l, const parcel& r) {
                                           if (*r.what == 1)
                                             throw std::runtime_error("a bad parcel");
                                           return ids_of_pair(l.number, *r.what);
                                         }),
                                     into_vector<ids_of_pair>()));
  kit.run();
  auto got = kit.request(h, patterns::join{}).get().value();
  std::sort(got.begin(), got.end());
  CHECK(got == pairs{{0, 0}, {2, 2}});
  outcome<> all;
  all.report = kit.request(h, get_report{}).get().value();
  CHECK(all.of("join").failures == 1);
  CHECK(kit.dead_letters().empty());
}

namespace {

/// The events that a join has asked for their time, so in the order in which it has read them.
events read_by_join;
std::int64_t time_that_is_seen(const event& e) {
  read_by_join.push_back(e);
  return e.at;
}
constexpr int first_of_right = 1000;

struct restarted {
  pairs all{};
  std::size_t failures = 0;
};
/// Returns the results of a join that restarts for events that are read in this order.
restarted expected_after_restarts(const events& in, const times& t) {
  restarted got;
  reference_watermark marks[] = {reference_watermark(t.disorder), reference_watermark(t.disorder)};
  events kept[2];
  for (const event& e : in) {
    const std::size_t side = e.number >= first_of_right ? 1 : 0;
    if (marks[side].has_passed(e.at + 1)) continue;
    marks[side].see(e.at);
    pairs of_this;
    for (const event& other : kept[1 - side]) {
      const event& l = side == 0 ? e : other;
      const event& r = side == 0 ? other : e;
      if (l.key == r.key && r.at - l.at >= -t.before && r.at - l.at <= t.after)
        of_this.emplace_back(l.number, r.number);
    }
    if (std::any_of(of_this.begin(), of_this.end(), is_bad)) {
      ++got.failures;
      kept[0].clear();
      kept[1].clear();
    } else {
      got.all.insert(got.all.end(), of_this.begin(), of_this.end());
      kept[side].push_back(e);
    }
  }
  std::sort(got.all.begin(), got.all.end());
  return got;
}

}  // namespace

TEST_CASE("with restart a pair that throws takes its second tuple and the kept tuples with it") {
  std::size_t lost = 0;
  testkit::explore(40, [&](test_system& kit) {
    const times t{3, 4, 4};
    const events left = with_bad_ones(disordered(kit.seed(), 100, 5, 3));
    events right = disordered(kit.seed() + 7, 100, 5, 3);
    for (event& e : right) e.number += first_of_right;
    read_by_join.clear();
    const joined got =
        run_join(kit, left,
                 join_with(any_source(from(right)))
                     .by(&event::key, &event::key)
                     .event_time(time_that_is_seen, time_that_is_seen, out_of_order(t.disorder))
                     .within(t.before, t.after)
                     .on(on_failure::restart)
                     .with(pair_of),
                 {.capacity = 16});
    REQUIRE(got.all.has_value());
    REQUIRE(read_by_join.size() == left.size() + right.size());
    const restarted want = expected_after_restarts(read_by_join, t);
    REQUIRE(got.all.value() == want.all);
    CHECK(got.figures.failures == want.failures);
    CHECK(kit.dead_letters().size() == want.failures);
    lost += got.figures.dropped;
  });
  CHECK(lost > 0);
}

namespace {

int key_of_good(const event& e) {
  if (e.number < 0 && e.number % 2 == 0) throw std::runtime_error("no key");
  return e.key;
}
std::int64_t time_of_good(const event& e) {
  if (e.number < 0) throw std::runtime_error("no time");
  return e.at;
}

}  // namespace

TEST_CASE("a key or a time that throws takes nothing with it, with skip and with restart") {
  testkit::explore(20, [](test_system& kit) {
    const times t{3, 4, 4};
    const events left = with_bad_ones(disordered(kit.seed(), 100, 5, 3));
    const events right = with_bad_ones(disordered(kit.seed() + 7, 100, 5, 3));
    const auto without = [](events all) {
      std::erase_if(all, [](const event& e) { return e.number < 0; });
      return all;
    };
    const pairs want = expected_pairs(without(left), without(right), t);
    for (const on_failure policy : {on_failure::skip, on_failure::restart}) {
      const std::size_t before = kit.dead_letters().size();
      const joined got =
          run_join(kit, left,
                   join_with(any_source(from(right)))
                       .by(key_of_good, key_of_good)
                       .event_time(time_of_good, time_of_good, out_of_order(t.disorder))
                       .within(t.before, t.after)
                       .on(policy)
                       .with(pair_of));
      REQUIRE(got.all.has_value());
      REQUIRE(got.all.value() == want);
      CHECK(got.figures.dropped == 0);
      const std::size_t bad =
          left.size() - without(left).size() + right.size() - without(right).size();
      CHECK(kit.dead_letters().size() - before == bad);
    }
  });
}

namespace {

/// An event whose objects are counted.
struct counted_event {
  using garrick_sendable = void;
  static inline int alive = 0;
  static inline int most = 0;
  event of{};

  counted_event() { born(); }
  explicit counted_event(const event& e) : of(e) { born(); }
  counted_event(const counted_event& o) noexcept : of(o.of) { born(); }
  counted_event& operator=(const counted_event&) noexcept = default;
  ~counted_event() { --alive; }

 private:
  static void born() noexcept { most = std::max(most, ++alive); }
};
std::int64_t time_of(const counted_event& e) { return e.of.at; }
int key_of(const counted_event& e) { return e.of.key; }

}  // namespace

TEST_CASE(
    "a join keeps at most three times the tuples that are near each other, however long it runs") {
  const auto tuples_of = [] {
    return pipeline(counting(0, 20'000), [](int i) { return counted_event(event{i, i % 7, i}); });
  };
  testkit::explore(3, [&](test_system& kit) {
    const int before = counted_event::most = counted_event::alive;
    const auto h = spawn(kit,
                         pipeline(tuples_of(),
                                  join_with(tuples_of())
                                      .by(key_of, key_of)
                                      .event_time(time_of, time_of)
                                      .within(20, 30)
                                      .at_most(152)  // 3 * (20 + 30), and one of each side
                                      .with([](const counted_event& l, const counted_event& r) {
                                        return l.of.number - r.of.number;
                                      }),
                                  fold(0, [](int n, int) { return n + 1; })),
                         {.capacity = 4});
    kit.run();
    const auto got = kit.request(h, patterns::join{}).get();
    REQUIRE(got.has_value());
    CHECK(got.value() > 6 * 20'000);
    CHECK(counted_event::most - before < 152 + 40);  // and some in channels
    CHECK(counted_event::alive == before);
  });
}

TEST_CASE("a producer that is silent beside a fast one has a join fill up, unless it may be idle") {
  const auto by_parity = [](const event& e, std::size_t n) {
    return static_cast<std::size_t>(e.key) % n;
  };
  const auto same = [](event e) { return e; };
  // the left side's second producer never gets anything, and so the right side waits
  const any_source left = pipeline(
      ticks(100ms),
      [](tick n) {
        const int i = static_cast<int>(n.number);
        return event{i, 0, i};
      },
      take<event>(200));
  const any_source right = pipeline(counting(1, 201), [](int i) { return event{i, 0, i}; });
  const auto run_silent = [&](const auto& spec) {
    test_system kit(1);
    const auto h = spawn(kit,
                         pipeline(left, farm(same).replicas(2).by(by_parity),
                                  any_join(spec.with(pair_of)), into_vector<ids_of_pair>()),
                         {.capacity = 4});
    kit.run_for(100s);
    joined got;
    got.all = kit.request(h, patterns::join{}).get();
    outcome<> all;
    all.report = kit.request(h, get_report{}).get().value();
    got.figures = all.of("join");
    return got;
  };
  const auto spec = join_of(right, {0, 1, 1}).at_most(40);
  const joined failed = run_silent(spec);
  REQUIRE_FALSE(failed.all.has_value());
  CHECK(failed.all.error().to_string().find("join: 40 tuples wait for others") !=
        std::string::npos);
  const joined idle = run_silent(spec.idle_after(1s));
  REQUIRE(idle.all.has_value());
  CHECK(idle.all.value().size() == 3 * 200 - 2);
  CHECK(idle.figures.late == 0);
}

TEST_CASE("tuples that a join keeps when its stream is cancelled are counted as dropped") {
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
  // for ten seconds its time does not advance
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

}  // namespace joins_test
