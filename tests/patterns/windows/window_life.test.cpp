// Windows that throw, that are cancelled or full, that have idle inputs, in a loop.
#include <doctest/doctest.h>
#include <patterns/windows/windows_reference.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace window_life_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using namespace std::chrono_literals;
using namespace tests;
using testkit::test_system;

/// Tumbling windows of 10, in one node or in replicas.
any_windows tens(std::int64_t disorder, on_failure policy, std::size_t replicas,
                 std::size_t at_most = 1000) {
  const auto w = window(tumbling(10))
                     .by(&event::key)
                     .event_time(&event::at, out_of_order(disorder))
                     .on(policy)
                     .at_most(at_most);
  if (replicas == 0) return w.fold(ids(), add);
  return w.replicas(replicas).fold(ids(), add);
}
/// Every seventh one is bad.
events with_bad_ones(events all) {
  for (event& e : all)
    if (e.number % 7 == 3) e.number = -e.number;
  return all;
}
std::size_t letters(const test_system& kit) { return kit.dead_letters().size(); }
std::size_t sizes(const all_found& all) {
  std::size_t n = 0;
  for (const found& w : all) n += w.value.size();
  return n;
}

}  // namespace

TEST_CASE("a tuple that throws is left out, and its window stays") {
  testkit::explore(40, [](test_system& kit) {
    const events in = with_bad_ones(disordered(kit.seed(), 200, 5, 9));
    expected want = time_windows(in, 10, 10, 6);
    std::size_t bad = 0;
    for (const event& e : in) bad += e.number < 0 && want.late.count(e.number) == 0 ? 1 : 0;
    for (found& w : want.windows) std::erase_if(w.value, [](int number) { return number < 0; });
    std::erase_if(want.windows, [](const found& w) { return w.value.empty(); });
    for (const std::size_t replicas : {0U, 3U}) {
      const std::size_t before = letters(kit);
      const outcome<> got = run(kit, in, tens(6, on_failure::skip, replicas));
      require_as_expected(got, want);
      CHECK(got.of("window").failures == bad);
      CHECK(letters(kit) - before == bad);
    }
  });
}

TEST_CASE("a restart loses the open windows, counts their tuples, and opens none a second time") {
  std::size_t lost = 0;
  testkit::explore(40, [&](test_system& kit) {
    const events in = with_bad_ones(disordered(kit.seed(), 200, 5, 9));
    for (const std::size_t replicas : {0U, 3U}) {
      const std::size_t before = letters(kit);
      const outcome<> got = run(kit, in, tens(6, on_failure::restart, replicas));
      REQUIRE(got.windows.has_value());
      const node_figures all = got.of("window");
      CHECK(all.in == in.size());
      CHECK(sizes(got.windows.value()) + all.late + all.dropped + letters(kit) - before ==
            in.size());
      CHECK(all.late == time_windows(in, 10, 10, 6).late.size());
      lost += all.dropped;
      std::set<std::pair<int, std::int64_t>> seen;
      for (const found& w : got.windows.value()) CHECK(seen.insert({w.key, w.begin}).second);
    }
  });
  CHECK(lost > 0);
}

TEST_CASE("a window is lost alone if its result throws, and its tuples are counted") {
  const auto few = [](std::span<const event> all) {
    if (all.size() > 3) throw std::runtime_error("too many");
    return numbers_of(all);
  };
  const auto in_tens = window(tumbling(10)).by(&event::key).event_time(&event::at, out_of_order(9));
  testkit::explore(20, [&](test_system& kit) {
    const events in = disordered(kit.seed(), 200, 5, 9);
    expected want = time_windows(in, 10, 10, 9);
    const std::size_t all = want.windows.size();
    const auto too_many = [](const found& w) { return w.value.size() > 3; };
    std::size_t lost = 0;
    for (const found& w : want.windows) lost += too_many(w) ? w.value.size() : 0;
    std::erase_if(want.windows, too_many);
    const outcome<> got = run(kit, in, in_tens.on(on_failure::skip).all(few));
    CHECK(sorted(got.windows.value()) == want.windows);
    CHECK(got.of("window").failures == all - want.windows.size());
    CHECK(got.of("window").dropped == lost);
    CHECK(letters(kit) == 0);  // no tuple has thrown
    const outcome<> failed = run(kit, in, in_tens.all(few));
    if (lost != 0) {
      REQUIRE_FALSE(failed.windows.has_value());
      CHECK(failed.windows.error().to_string().find("window: too many") != std::string::npos);
    }
  });
  // also if that ends the stream
  test_system kit(1);
  const outcome<> failed = run(kit, {{0, 1, 5}, {1, 1, 6}, {2, 1, 7}, {3, 1, 8}}, in_tens.all(few));
  CHECK_FALSE(failed.windows.has_value());
  CHECK(failed.of("window").in == 4);
  CHECK(failed.of("window").dropped == 4);
}

TEST_CASE("a sliding window that cannot be put together is lost alone") {
  const auto picky = [](ids a, ids b) {
    if (b.front() % 5 == 0) throw std::runtime_error("five");
    return both(std::move(a), std::move(b));
  };
  std::size_t lost = 0;
  testkit::explore(20, [&](test_system& kit) {
    const events in = disordered(kit.seed(), 200, 5, 0);
    const expected want = time_windows(in, 12, 4, 0);
    const auto w = window(sliding(12, 4)).by(&event::key).event_time(&event::at);
    const outcome<> got = run(kit, in, w.on(on_failure::skip).fold(ids(), add, picky));
    const all_found there = sorted(got.windows.value());
    for (const found& one : there)
      CHECK(std::find(want.windows.begin(), want.windows.end(), one) != want.windows.end());
    CHECK(there.size() + got.of("window").failures == want.windows.size());
    lost += got.of("window").failures;
  });
  CHECK(lost > 0);
}

namespace {

/// A key of which one copy throws.
struct fragile_key {
  using garrick_sendable = void;
  static inline int armed = 0;        ///< which copy throws, from event 9 on
  static inline int copies_left = 0;  ///< the last of these throws
  int value = 0;

  fragile_key() = default;
  explicit fragile_key(int n) : value(n) {}
  fragile_key(const fragile_key& o) : value(o.value) {
    if (copies_left != 0 && --copies_left == 0) throw std::runtime_error("a key is not copied");
  }
  fragile_key(fragile_key&&) noexcept = default;
  fragile_key& operator=(const fragile_key&) = default;
  fragile_key& operator=(fragile_key&&) noexcept = default;
  ~fragile_key() = default;
  [[nodiscard]] friend bool operator==(const fragile_key&, const fragile_key&) = default;
};
fragile_key fragile_key_of(const event& e) { return fragile_key(e.key); }
ids add_and_arm(ids all, event e) {
  if (e.number == 9) fragile_key::copies_left = std::exchange(fragile_key::armed, 0);
  return add(std::move(all), e);
}
found with_plain_key(windowed<fragile_key, ids, std::int64_t> w) {
  return {w.key.value, w.begin, w.end, std::move(w.value)};
}

}  // namespace

}  // namespace window_life_test

template <>
struct std::hash<window_life_test::fragile_key> {
  std::size_t operator()(const window_life_test::fragile_key& k) const noexcept {
    return static_cast<std::size_t>(k.value);
  }
};

namespace window_life_test {

TEST_CASE("an exception when a window closes takes no other result with it, and is counted") {
  const auto by_key = [](auto kind) {
    return any_windows(pipeline(window(kind)
                                    .by(fragile_key_of)
                                    .event_time(&event::at)
                                    .on(on_failure::skip)
                                    .fold(ids(), add_and_arm, both),
                                with_plain_key));
  };
  const auto check = [](const any_windows& w, int armed, const events& in, const all_found& want,
                        std::size_t lost) {
    CAPTURE(armed);
    fragile_key::armed = armed;
    test_system kit(1);
    const outcome<> got = run(kit, in, w);
    CHECK(sorted(got.windows.value()) == want);
    CHECK(got.of("window").failures == 1);
    CHECK(got.of("window").dropped == lost);
  };
  // the last event closes the windows from 0 to 8 and from 4 to 12; 1 and 2 are in the first alone
  const events in{{0, 1, 5}, {1, 2, 1}, {2, 3, 2}, {9, 4, 100}};
  const any_windows slide = by_key(sliding(8, 4));
  check(slide, 1, in, {{1, 4, 12, {0}}, {4, 96, 104, {9}}, {4, 100, 108, {9}}}, 2);
  check(slide, 4, in,
        {{1, 0, 8, {0}}, {2, 0, 8, {1}}, {3, 0, 8, {2}}, {4, 96, 104, {9}}, {4, 100, 108, {9}}}, 0);
  // a window of a number of tuples with a dead letter as its last one; the next window has none of
  // it
  const events in_pairs{{0, 1, 0}, {9, 1, 0}, {2, 1, 0}, {3, 1, 0}};
  check(pipeline(window(tuples(2)).by(fragile_key_of).on(on_failure::skip).fold(ids(), add_and_arm),
                 with_plain_key),
        1, in_pairs, {{1, 2, 4, {2, 3}}}, 1);
  // a copy for each session that is put out
  check(by_key(sessions(2)), 2, {{0, 1, 0}, {1, 2, 1}, {9, 4, 100}},
        {{1, 0, 2, {0}}, {4, 100, 102, {9}}}, 1);
}

namespace {

int key_or_none(const event& e) {
  if (e.number == 2) throw std::runtime_error("no key");
  return e.key;
}
std::int64_t time_or_none(const event& e) {
  if (e.number == 2) return std::numeric_limits<std::int64_t>::max();
  return e.at;
}

}  // namespace

TEST_CASE("a key that throws and a time out of range are failures of their tuple") {
  const events in{{0, 1, 1}, {1, 2, 2}, {2, 1, 3}, {3, 1, 4}};
  const all_found without{{1, 0, 10, {0, 3}}, {2, 0, 10, {1}}};
  const auto keyed = window(tumbling(10)).by(key_or_none).event_time(&event::at);
  const auto timed = window(tumbling(10)).by(&event::key).event_time(time_or_none);
  const auto fails = [&](const any_windows& w, const std::string& words) {
    test_system kit(1);
    const outcome<> got = run(kit, in, w);
    REQUIRE_FALSE(got.windows.has_value());
    CAPTURE(got.windows.error().to_string());
    CHECK(got.windows.error().to_string().find(words) != std::string::npos);
  };
  const auto skips = [&](const any_windows& w) {
    test_system kit(1);
    CHECK(sorted(run(kit, in, w).windows.value()) == without);
    CHECK(letters(kit) == 1);
  };
  fails(keyed.fold(ids(), add), "window: no key");
  fails(keyed.replicas(2).fold(ids(), add), "window times: no key");
  fails(timed.fold(ids(), add), "out of range: 9223372036854775807. It must be below 2^61");
  skips(keyed.on(on_failure::skip).fold(ids(), add));
  skips(keyed.on(on_failure::skip).replicas(2).fold(ids(), add));
  skips(timed.on(on_failure::skip).fold(ids(), add));
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
int key_of_any_good(const event& e) {
  if (e.number < 0) throw std::runtime_error("no key");
  return e.key;
}

}  // namespace

TEST_CASE("a key or a time that throws takes no window with it, however many replicas there are") {
  testkit::explore(15, [](test_system& kit) {
    const events in = with_bad_ones(disordered(kit.seed(), 150, 5, 9));
    events good = in;
    std::erase_if(good, [](const event& e) { return e.number < 0; });
    const auto check = [&](const any_windows& w, const expected& want) {
      const std::size_t before = letters(kit);
      require_as_expected(run(kit, in, w), want);
      CHECK(letters(kit) - before == in.size() - good.size());
    };
    for (const on_failure policy : {on_failure::skip, on_failure::restart}) {
      const auto tens_of_good =
          window(tumbling(10)).by(key_of_good).event_time(time_of_good, out_of_order(6)).on(policy);
      const expected by_time = time_windows(good, 10, 10, 6);
      check(tens_of_good.fold(ids(), add), by_time);
      check(tens_of_good.replicas(1).fold(ids(), add), by_time);
      check(tens_of_good.replicas(3).fold(ids(), add), by_time);
      // without a node that finds times
      const auto fours = window(tuples(4)).by(key_of_any_good).on(policy);
      check(fours.fold(ids(), add), counted(good, 4, 4));
      check(fours.replicas(3).fold(ids(), add), counted(good, 4, 4));
    }
  });
}

TEST_CASE("a key that throws is a failure of the windows, not of the stage before them") {
  const auto fours = window(tuples(4)).by(key_of_any_good).replicas(2).fold(ids(), add);
  test_system kit(1);
  const outcome<> failed =
      run(kit, {{0, 1, 0}, {-1, 1, 0}, {2, 1, 0}},
          pipeline(seq([](event e) { return e; }).on(on_failure::skip), fours));
  REQUIRE_FALSE(failed.windows.has_value());
  CHECK(failed.windows.error().to_string().find("window keys: no key") != std::string::npos);
}

TEST_CASE("with restart a step that throws loses the windows of its replica") {
  events in;
  for (int key = 0; key < 16; ++key) in.push_back({key, key, 1});
  in.push_back({-1, 0, 2});
  test_system kit(1);
  const auto lost = [&](std::size_t replicas) {
    const outcome<> got = run(kit, in, tens(0, on_failure::restart, replicas));
    CHECK(got.windows.value().size() + got.of("window").dropped == 16);
    return got.of("window").dropped;
  };
  CHECK(lost(0) == 16);
  CHECK(lost(1) == 16);
  CHECK(lost(2) > 0);
  CHECK(lost(2) < 16);
}

TEST_CASE("more open windows than at_most are a failure that says so") {
  events in;
  for (int i = 0; i < 30; ++i) in.push_back({i, i % 11, 5});
  test_system kit(1);
  CHECK(run(kit, in, tens(0, on_failure::fail, 0, 11)).windows.value().size() == 11);
  const outcome<> failed = run(kit, in, tens(0, on_failure::fail, 0, 10));
  REQUIRE_FALSE(failed.windows.has_value());
  CHECK(failed.windows.error().to_string().find("10 pieces of windows are open") !=
        std::string::npos);
  const outcome<> skipped = run(kit, in, tens(0, on_failure::skip, 0, 10));
  CHECK(skipped.windows.value().size() == 10);
  CHECK(letters(kit) == 2);  // of the eleventh key
  // with `all` each tuple is a piece
  const auto whole = [](std::size_t n) {
    return window(tuples(30)).at_most(n).by(&event::key).all(numbers_of);
  };
  CHECK(run(kit, in, whole(31 + 11)).windows.has_value());
  CHECK_FALSE(run(kit, in, whole(29)).windows.has_value());
}

namespace {

/// A number whose objects are counted.
struct counted_number {
  using garrick_sendable = void;
  static inline int alive = 0;
  static inline int most = 0;
  int value = 0;
  counted_number() { born(); }
  counted_number(const counted_number& o) noexcept : value(o.value) { born(); }
  counted_number& operator=(const counted_number&) noexcept = default;
  ~counted_number() { --alive; }

 private:
  static void born() noexcept { most = std::max(most, ++alive); }
};
counted_number one_more(counted_number n, event) {
  ++n.value;
  return n;
}
counted_number sum_of(counted_number a, counted_number b) {
  a.value += b.value;
  return a;
}

}  // namespace

TEST_CASE("windows that have closed are freed") {
  const auto states = [](const any_of<event, windowed<int, counted_number, std::int64_t>>& w) {
    const int before = counted_number::most = counted_number::alive;
    test_system kit(1);
    const auto h = spawn(kit,
                         pipeline(
                             counting(0, 20'000), [](int i) { return event{i, i % 8, i}; }, w,
                             fold(0,
                                  [](int n, windowed<int, counted_number, std::int64_t> one) {
                                    return n + one.value.value;
                                  })),
                         {.capacity = 4});
    kit.run();
    CHECK(kit.request(h, join{}).get().value() >= 20'000);
    return counted_number::most - before;
  };
  const auto by = [](auto kind) {
    return window(kind).by(&event::key).event_time(&event::at, out_of_order(100));
  };
  // 8 keys, 100 behind: open are two windows of 100, four panes of 50, and a few in channels
  CHECK(states(by(tumbling(100)).fold(counted_number(), one_more)) < 100);
  CHECK(states(by(sliding(100, 50)).fold(counted_number(), one_more, sum_of)) < 150);
  CHECK(states(by(sessions(5)).fold(counted_number(), one_more, sum_of)) < 300);
  CHECK(counted_number::alive == 0);
}

TEST_CASE("tuples in open windows when a stream is cancelled are counted as dropped") {
  for (const std::size_t replicas : {0U, 2U}) {
    test_system kit(1);
    const auto h = spawn(kit, pipeline(tens(0, on_failure::fail, replicas), into_vector<found>()));
    for (int i = 0; i < 24; ++i) send(h, event{i, i % 3, i});
    kit.run();
    send(h, cancel{});
    kit.run();
    CHECK(kit.request(h, join{}).get().error() == errc::cancelled);
    outcome<> got;
    got.report = kit.request(h, get_report{}).get().value();
    CHECK(got.of("window").dropped == 4);  // from 20 on
  }
}

namespace {

std::size_t by_parity(const event& e, std::size_t n) { return static_cast<std::size_t>(e.key) % n; }
event same(event e) { return e; }

}  // namespace

TEST_CASE("the slowest producer holds windows open, and one that has ended does not") {
  testkit::explore(30, [](test_system& kit) {
    const events in = disordered(kit.seed(), 200, 6, 4);
    const any_windows w = pipeline(farm(same).replicas(3).by(by_parity), tens(4, {}, 0));
    require_as_expected(run(kit, in, w, {.capacity = 2}), time_windows(in, 10, 10, 1000));
  });
}

TEST_CASE("a producer that is idle holds no window open, and its later tuples may be late") {
  const auto w = window(tumbling(10)).by(&event::key).event_time(&event::at);
  const auto with_idle = [&](const any_windows& windows, bool idles) {
    test_system kit(1);
    const auto h =
        spawn(kit, pipeline(farm(same).replicas(2).by(by_parity), windows, into_vector<found>()));
    const auto out = [&] {
      kit.run();
      return kit.request(h, get_report{}).get().value().stages.back().figures.in;
    };
    send(h, event{0, 0, 5});
    kit.run_for(500ms);
    send(h, event{1, 2, 25});
    CHECK(out() == 0);  // the other one might bring something
    kit.run_for(600ms);
    CHECK(out() == (idles ? 1 : 0));
    send(h, event{2, 1, 7});
    send(h, event{3, 1, 24});
    CHECK(out() == (idles ? 1 : 2));  // the window of 0 is not held back any more, that of 2 never
    send(h, end_of_stream{});
    kit.run();
    outcome<> got;
    got.windows = kit.request(h, join{}).get();
    got.report = kit.request(h, get_report{}).get().value();
    CHECK(got.of("window").late == (idles ? 1 : 0));
    CHECK(got.windows.value().size() == (idles ? 3 : 4));
    CHECK(kit.timers_pending() == 0);
  };
  with_idle(w.fold(ids(), add), false);
  with_idle(w.idle_after(1s).fold(ids(), add), true);
  with_idle(w.idle_after(1s).replicas(2).fold(ids(), add), true);
}

TEST_CASE("while results find no room, no producer becomes idle") {
  const auto w = window(tumbling(10)).by(&event::key).event_time(&event::at).idle_after(1s);
  const any_windows folded = w.fold(ids(), add);
  test_system kit(1);
  const auto h = spawn(kit,
                       pipeline(farm(same).replicas(2).by(by_parity), folded, throttle<found>(0.5),
                                into_vector<found>()),
                       {.capacity = 1});
  const auto report = [&] {
    outcome<> got;
    got.report = kit.request(h, get_report{}).get().value();
    return got;
  };
  send(h, event{0, 1, 10'000});
  kit.run();
  // Each result waits for two seconds. Nothing comes from the other input meanwhile, which holds
  // back the windows behind 10'000.
  for (int i = 1; i < 400; ++i) send(h, event{i, 0, i < 300 ? 10 * i : 20'000 + i});
  for (int i = 0; i < 10'000 && report().of("window").in < 400; ++i) kit.run_for(500ms);
  send(h, event{400, 1, 10'001});
  kit.run_for(500ms);
  CHECK(report().of("window").in == 401);
  CHECK(report().of("window").late == 0);
  send(h, cancel{});
  kit.run();
}

TEST_CASE("a loop around windows ends, and their tuples come out") {
  const auto once = [](found w) { return event{static_cast<int>(w.value.size()), 0, w.begin}; };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto total = [&](const any_windows& w) {
      const auto h = spawn(kit,
                           pipeline(from(disordered(seed, 100, 3, 5)),
                                    feedback(pipeline(w, once), [](const event&) { return false; }),
                                    fold(0, [](int n, event e) { return n + e.number; })),
                           {.capacity = 1 + seed % 4});
      kit.run();
      return kit.request(h, join{}).get().value();
    };
    CHECK(total(tens(5, {}, 0)) == 100);
    CHECK(total(tens(5, {}, 2)) == 100);
  }
}

}  // namespace window_life_test
