// Tuples without a known key or time. With `on_failure::restart` such a tuple is lost alone: the
// windows and the kept tuples of a join stay, whichever function of the user's has failed.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace failing_keys_test {

enum class fault { none, unequal, in_equality, in_hash, in_copy, in_key, in_time };

/// The number of times that a key was hashed.
inline int hashes = 0;

/// A key with functions that fail as `how` says.
struct key {
  using garrick_sendable = void;  ///< it owns all that it refers to

  int n = 0;
  fault how = fault::none;

  key() = default;
  key(int number, fault fails) : n(number), how(fails) {}
  key(const key& o) : n(o.n), how(o.how) {
    if (how == fault::in_copy) throw std::runtime_error("copy");
  }
  key(key&& o) noexcept = default;
  key& operator=(const key& o) = default;
  key& operator=(key&& o) noexcept = default;
  ~key() = default;
  friend bool operator==(const key& a, const key& b) {
    if (a.how == fault::unequal || b.how == fault::unequal) return false;
    if (&a != &b && (a.how == fault::in_equality || b.how == fault::in_equality))
      throw std::runtime_error("equality");
    return a.n == b.n;
  }
};

}  // namespace failing_keys_test

template <>
struct std::hash<failing_keys_test::key> {
  std::size_t operator()(const failing_keys_test::key& k) const {
    ++failing_keys_test::hashes;
    if (k.how == failing_keys_test::fault::in_hash) throw std::runtime_error("hash");
    return static_cast<std::size_t>(k.n);
  }
};

namespace failing_keys_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using namespace std::chrono_literals;

struct sample {
  int number;
  fault how;
  long at;
};
struct keyed_sample {
  failing_keys_test::key key;
  long at;
};

key key_of(const sample& s) {
  if (s.how == fault::in_key) throw std::runtime_error("key");
  return {s.number, s.how};
}
long time_of(const sample& s) {
  if (s.how == fault::in_time) throw std::runtime_error("time");
  return s.at;
}
int one_more(int n, const sample&) { return n + 1; }
int one_more_there(int n, const keyed_sample&) { return n + 1; }
int sum(int a, int b) { return a + b; }

/// Three samples, and one that fails between them. Its key is new if it fails in being copied,
/// since only a new key is copied.
std::vector<sample> samples(fault how) {
  return {{1, fault::none, 0},
          {2, fault::none, 1},
          {how == fault::in_copy ? 7 : 1, how, 2},
          {1, fault::none, 3}};
}

constexpr fault faults_of_keys[] = {fault::unequal, fault::in_equality, fault::in_hash,
                                    fault::in_copy, fault::in_key};

/// Returns how many samples are in the windows' results.
template <class Sample, class Stage>
int counted(const std::vector<Sample>& of, const Stage& stage) {
  test_system kit;
  const auto total = fold(0, [](int n, const typename Stage::output& w) { return n + w.value; });
  const auto h = spawn(kit, pipeline(from(of), stage, total));
  const auto outcome = kit.request(h, join{}).get();
  REQUIRE_MESSAGE(outcome.has_value(), outcome.error().to_string());
  return outcome.value();
}
/// Each way in which a key may fail.
template <class Stage>
void check_keys(const Stage& stage) {
  for (const fault how : faults_of_keys) {
    CAPTURE(static_cast<int>(how));
    CHECK(counted(samples(how), stage) == 3);
  }
}
/// The same, and a time that fails.
template <class Stage>
void check_keys_and_time(const Stage& stage) {
  check_keys(stage);
  CHECK(counted(samples(fault::in_time), stage) == 3);
}

/// A sample that cannot be taken is far ahead of the others. The last one is not late for that.
template <class Windows>
void check_watermark(const Windows& windows) {
  for (const fault how : {fault::in_key, fault::in_hash, fault::unequal, fault::in_time}) {
    CAPTURE(static_cast<int>(how));
    const std::vector<sample> of = {{1, fault::none, 0}, {1, how, 50}, {1, fault::none, 1}};
    for (const on_failure policy : {on_failure::skip, on_failure::restart})
      CHECK(counted(of, windows.on(policy).fold(0, one_more, sum)) == 2);
  }
}

}  // namespace

TEST_CASE("a stage that restarts keeps its windows if a key or a time has failed") {
  const auto restart = on_failure::restart;
  SUBCASE("tumbling") {
    check_keys_and_time(
        window(tumbling(10)).by(key_of).event_time(time_of).on(restart).fold(0, one_more));
  }
  SUBCASE("sliding") {
    check_keys_and_time(
        window(sliding(10, 10)).by(key_of).event_time(time_of).on(restart).fold(0, one_more, sum));
  }
  SUBCASE("sessions") {
    check_keys_and_time(
        window(sessions(5)).by(key_of).event_time(time_of).on(restart).fold(0, one_more, sum));
  }
  SUBCASE("of so many tuples") {
    check_keys(window(tuples(2)).by(key_of).on(restart).fold(0, one_more));
  }
  SUBCASE("by the clock") {
    check_keys(window(tumbling(1s)).by(key_of).on(restart).fold(0, one_more));
  }
}

TEST_CASE("replicas that restart keep their windows if a key or a time has failed") {
  const auto restart = on_failure::restart;
  SUBCASE("tumbling") {
    check_keys_and_time(window(tumbling(10))
                            .by(key_of)
                            .event_time(time_of)
                            .replicas(3)
                            .on(restart)
                            .fold(0, one_more));
  }
  SUBCASE("sessions") {
    check_keys_and_time(window(sessions(5))
                            .by(key_of)
                            .event_time(time_of)
                            .replicas(3)
                            .on(restart)
                            .fold(0, one_more, sum));
  }
  SUBCASE("of so many tuples") {
    check_keys(window(tuples(2)).by(key_of).replicas(3).on(restart).fold(0, one_more));
  }
}

TEST_CASE("a tuple does not move the watermark if its key, hash or time throws") {
  const auto check = [](const auto& windows) {
    SUBCASE("in one node") { check_watermark(windows); }
    SUBCASE("before one replica") { check_watermark(windows.replicas(1)); }
    SUBCASE("before several replicas") { check_watermark(windows.replicas(3)); }
  };
  SUBCASE("tumbling") { check(window(tumbling(10)).by(key_of).event_time(time_of)); }
  SUBCASE("sessions") { check(window(sessions(5)).by(key_of).event_time(time_of)); }
}

TEST_CASE("sessions hash the key of a tuple once, and not when they forget it") {
  hashes = 0;
  const std::vector<sample> of = samples(fault::none);
  CHECK(counted(of, window(sessions(1)).by(key_of).event_time(time_of).fold(0, one_more, sum)) ==
        4);
  CHECK(hashes == 4);
}

TEST_CASE("a member's hash that throws before replicas is a failure of the windows") {
  const std::vector<keyed_sample> of = {{{1, fault::none}, 0},
                                        {{2, fault::none}, 1},
                                        {{1, fault::in_hash}, 2},
                                        {{1, fault::none}, 3}};
  const auto windows = window(tuples(2)).by(&keyed_sample::key).replicas(3);
  CHECK(counted(of, windows.on(on_failure::restart).fold(0, one_more_there)) == 3);
  CHECK(counted(of, windows.on(on_failure::skip).fold(0, one_more_there)) == 3);
}

TEST_CASE("a join that restarts keeps its tuples if a key or a time has failed, on either side") {
  struct pair {
    long left, right;
  };
  const auto pairs_of = [](fault left, fault right) {
    const auto joined =
        join_with(from(samples(right)))
            .by(key_of, key_of)
            .event_time(time_of, time_of)
            .within(10)
            .on(on_failure::restart)
            .with([](const sample& l, const sample& r) { return pair{l.at, r.at}; });
    test_system kit;
    const auto h = spawn(kit, pipeline(from(samples(left)), joined,
                                       fold(0, [](int n, const pair&) { return n + 1; })));
    return kit.request(h, join{}).get().value();
  };
  // 1 with 1 nine times, 2 with 2; each failing tuple takes its pairs with it
  CHECK(pairs_of(fault::none, fault::none) == 10);
  for (const fault how :
       {fault::unequal, fault::in_equality, fault::in_hash, fault::in_key, fault::in_time}) {
    CAPTURE(static_cast<int>(how));
    CHECK(pairs_of(how, how) == 5);
    CHECK(pairs_of(how, fault::none) == 7);
    CHECK(pairs_of(fault::none, how) == 7);
  }
  CHECK(pairs_of(fault::in_copy, fault::in_copy) == 5);
}

}  // namespace failing_keys_test
