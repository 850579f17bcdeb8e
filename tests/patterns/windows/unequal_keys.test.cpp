// Keys that are not equal to themselves, as NaN is. A look-up would never find the entry of such a
// key, so the entry would stay for ever.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace unequal_keys_test {

struct sample {
  double key;
  long at;
};
/// A key of a class of the user's.
struct place {
  double x;
  bool operator==(const place&) const = default;
};
struct sample_of_place {
  place key;
  long at;
};

}  // namespace unequal_keys_test

template <>
struct std::hash<unequal_keys_test::place> {
  std::size_t operator()(const unequal_keys_test::place& p) const noexcept {
    return std::hash<double>()(p.x);
  }
};

namespace unequal_keys_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

const double nan = std::nan("");

/// Two of five have a key that is not equal to itself.
template <class Sample>
std::vector<Sample> samples() {
  return {{{1}, 0}, {{nan}, 1}, {{2}, 2}, {{nan}, 3}, {{1}, 4}};
}
int one_more(int n, const sample&) { return n + 1; }
int one_more_there(int n, const sample_of_place&) { return n + 1; }
int sum(int a, int b) { return a + b; }

/// Runs the stage on the samples: with `fail` the stream ends and names the stage, with `skip` the
/// samples with keys are counted and the others are dead letters.
template <class Sample = sample, class Windows, class Fold>
void check(const Windows& windows, const Fold& folded) {
  using key = decltype(Sample::key);
  const auto total =
      fold(0, [](int n, const windowed<key, int, std::int64_t>& w) { return n + w.value; });
  test_system kit;
  const auto h = spawn(kit, pipeline(from(samples<Sample>()), folded(windows), total));
  const auto outcome = kit.request(h, join{}).get();
  REQUIRE(!outcome);
  const std::string text = outcome.error().to_string();
  CHECK(text.find("window") != std::string::npos);
  CHECK(text.find("a key is not equal to itself") != std::string::npos);
  const auto goes_on =
      spawn(kit, pipeline(from(samples<Sample>()), folded(windows.on(on_failure::skip)), total));
  CHECK(kit.request(goes_on, join{}).get().value() == 3);
  CHECK(kit.dead_letters().size() == 2);
}

}  // namespace

TEST_CASE("a window's key that is not equal to itself fails the tuple, in all kinds of windows") {
  const auto counted = [](const auto& w) { return w.fold(0, one_more); };
  const auto merged = [](const auto& w) { return w.fold(0, one_more, sum); };
  const auto counted_there = [](const auto& w) { return w.fold(0, one_more_there); };
  SUBCASE("tumbling") {
    check(window(tumbling(10)).by(&sample::key).event_time(&sample::at), counted);
  }
  SUBCASE("sliding") {
    check(window(sliding(10, 10)).by(&sample::key).event_time(&sample::at), merged);
  }
  SUBCASE("sessions") {
    check(window(sessions(5)).by(&sample::key).event_time(&sample::at), merged);
  }
  SUBCASE("of so many tuples") { check(window(tuples(2)).by(&sample::key), counted); }
  SUBCASE("of a class") {
    check<sample_of_place>(window(tuples(2)).by(&sample_of_place::key), counted_there);
  }
  SUBCASE("in replicas") {
    check(window(tumbling(10)).by(&sample::key).event_time(&sample::at).replicas(2), counted);
  }
}

TEST_CASE("a join's key that is not equal to itself fails the tuple, on either side") {
  struct pair {
    long left, right;
  };
  const auto joined = [](on_failure policy) {
    return join_with(from(samples<sample>()))
        .by(&sample::key, &sample::key)
        .event_time(&sample::at, &sample::at)
        .within(10)
        .on(policy)
        .with([](const sample& l, const sample& r) { return pair{l.at, r.at}; });
  };
  const auto count = fold(0, [](int n, const pair&) { return n + 1; });
  test_system kit;
  const auto h = spawn(kit, pipeline(from(samples<sample>()), joined(on_failure::fail), count));
  const auto outcome = kit.request(h, join{}).get();
  REQUIRE(!outcome);
  CHECK(outcome.error().to_string().find("a key is not equal to itself") != std::string::npos);
  const auto goes_on =
      spawn(kit, pipeline(from(samples<sample>()), joined(on_failure::skip), count));
  CHECK(kit.request(goes_on, join{}).get().value() == 5);  // 1 with 1 four times, 2 with 2
  CHECK(kit.dead_letters().size() == 4);
}

TEST_CASE("a farm and a router keep nothing by key: each tuple and message finds a member") {
  test_system kit;
  const auto same = [](const sample& s) { return s; };
  const auto count = fold(0, [](int n, const sample&) { return n + 1; });
  const auto h = spawn(
      kit, pipeline(from(samples<sample>()), farm(same).replicas(3).by_key(&sample::key), count));
  CHECK(kit.request(h, join{}).get().value() == 5);

  struct member : actor<protocol<long(sample)>> {
    long on(const sample& s) { return s.at; }
  };
  std::vector<ref<protocol<long(sample)>>> members;
  for (int i = 0; i < 3; ++i) members.push_back(kit.spawn<member>());
  const auto by_key = core::route_by_key(members, &sample::key);
  for (const sample& s : samples<sample>()) CHECK(kit.request(by_key, s).get().value() == s.at);
  CHECK(kit.dead_letters().empty());
}

}  // namespace unequal_keys_test
