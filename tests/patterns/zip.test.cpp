// A stream beside a source.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace zip_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

using pair = std::pair<int, long>;
auto collect() {
  return fold(std::vector<pair>(), [](std::vector<pair> all, pair x) {
    all.push_back(x);
    return all;
  });
}
template <class P, class Check>
void in_all_ways(const P& p, const Check& check) {
  for (const stream_options& o : {stream_options{}, stream_options{.capacity = 1},
                                  stream_options{.capacity = 4, .in_place = false}}) {
    CAPTURE(o.capacity);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(seed);
      test_system kit(seed);
      auto h = spawn(kit, p, o);
      kit.run_for(duration::seconds(100));
      check(kit.request(h, join{}).get());
    }
    for (const std::uint32_t workers : {1U, 3U}) {
      settings s;
      s.scheduler.workers = workers;
      actor_system system(s);
      auto h = spawn(system, p, o);
      check(system.request(h, join{}).get());
    }
  }
}

}  // namespace

TEST_CASE("zip pairs a stream with a source, up to the shorter one's end") {
  const auto check = [](const auto& got) {
    REQUIRE(got.has_value());
    REQUIRE(got.value().size() == 700);
    for (int i = 0; i < 700; ++i)
      REQUIRE(got.value()[static_cast<std::size_t>(i)] == pair(i, 10L * i));
  };
  const auto tens = [](long x) { return 10 * x; };
  in_all_ways(
      pipeline(counting(0, 700), zip<int>(pipeline(counting(0L, 1L << 40), tens)), collect()),
      check);
  in_all_ways(
      pipeline(counting(0, 1 << 30), zip<int>(pipeline(counting(0L, 700L), tens)), collect()),
      check);
  in_all_ways(pipeline(counting(0, 1 << 30), zip<int>(pipeline(counting(0L, 1L << 40), tens)),
                       take<pair>(700), collect()),
              check);
  in_all_ways(pipeline(counting(0, 0), zip<int>(counting(0L, 1L << 40)), collect()),
              [](const auto& got) { CHECK(got.value().empty()); });
}

TEST_CASE("a stream that has ended ends a source beside it that waits for its time") {
  in_all_ways(pipeline(counting(0, 3), zip<int>(ticks(duration::milliseconds(1))),
                       fold(0L, [](long n, std::pair<int, tick>) { return n + 1; })),
              [](const auto& got) { CHECK(got.value() == 3); });
  test_system kit(1);
  const instant begin = kit.now();
  auto h = spawn(kit, pipeline(zip<int>(ticks(duration::seconds(3600))),
                               fold(0, [](int n, std::pair<int, tick>) { return n + 1; })));
  kit.run();  // the source waits
  send(h, end_of_stream{});
  kit.run();
  CHECK(kit.request(h, join{}).get().value() == 0);
  CHECK(kit.now() == begin);
  CHECK(kit.timers_pending() == 0);
}

TEST_CASE("tuples that zip drops at the end are counted") {
  test_system kit(1);
  const auto h = spawn(kit, pipeline(counting(0, 100), zip<int>(counting(0L, 30L)), collect()),
                       {.capacity = 8});
  kit.run();
  CHECK(kit.request(h, join{}).get().value().size() == 30);
  const stream_report r = kit.request(h, get_report{}).get().value();
  for (const stage_report& s : r.stages)
    if (s.name == "zip") {
      CHECK(s.figures.out == 30);
      CHECK(s.figures.in == 60 + s.figures.dropped);
    }
  CHECK(r.left == 0);
}

TEST_CASE("zip in a loop takes from its source once for each round") {
  in_all_ways(pipeline(counting(0, 50),
                       feedback(pipeline(zip<int>(counting(0L, 1L << 40)),
                                         [](pair p) { return p.first + 20; }),
                                [](const int& x) { return x < 60; }),
                       fold(0, [](int n, int) { return n + 1; })),
              [](const auto& got) { CHECK(got.value() == 50); });
}

}  // namespace zip_test
