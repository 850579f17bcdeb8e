// Streams from end to end: each input comes out, once, through every kind of pattern.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/in_all_ways.hpp>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/orders.hpp"

namespace streams_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using tests::collect;

std::vector<int> iota(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

/// Collects its input.
int twice(int x) { return 2 * x; }
void digits(int x, emit<int> out) {
  for (; x != 0; x /= 10) out(x % 10);
}

template <class System, class P>
auto outcome(System& system, const P& p, stream_options o = {}) {
  auto h = spawn(system, p, o);
  if constexpr (requires { system.run(); }) system.run();
  return system.request(h, join{}).get();
}

/// A few ways to run a stream that must not change its results.
std::vector<stream_options> ways() {
  return {{},
          {.capacity = 1},
          {.capacity = 2, .in_place = false},
          {.in_place = false, .fuse = false},
          {.capacity = 8, .remove_emitters = false, .fuse = false}};
}

template <class P, class Check>
void in_each_system(const P& p, const Check& check) {
  for (const stream_options& o : ways()) {
    CAPTURE(o.capacity);
    CAPTURE(o.in_place);
    for (std::uint64_t seed = 1; seed <= tests::orders(20); ++seed) {
      CAPTURE(seed);
      test_system kit(seed);
      check(outcome(kit, p, o));
    }
    for (const std::uint32_t workers : {1U, 2U, 3U}) {
      settings s;
      s.scheduler.workers = workers;
      actor_system system(s);
      check(outcome(system, p, o));
    }
  }
}
std::vector<int> sorted(std::vector<int> v) {
  std::sort(v.begin(), v.end());
  return v;
}

}  // namespace

TEST_CASE("a pipeline hands on every tuple once and in order") {
  in_each_system(pipeline(from(iota(3000)), twice, collect()), [](const auto& got) {
    REQUIRE(got.has_value());
    REQUIRE(got.value().size() == 3000);
    for (int i = 0; i < 3000; ++i) REQUIRE(got.value()[static_cast<std::size_t>(i)] == 2 * i);
  });
}

namespace {

template <std::size_t Stages>
auto a_row_of() {
  if constexpr (Stages == 1)
    return seq([](int x) { return x + 1; });
  else
    return pipeline(a_row_of<Stages / 2>(), a_row_of<Stages - Stages / 2>());
}

}  // namespace

TEST_CASE("a pipeline may have many stages, and its actor has a short name all the same") {
  const auto p = pipeline(from(iota(100)), a_row_of<62>(), collect());
  REQUIRE(base::shown_name<stream_actor<void, std::vector<int>>> == "stream");
  test_system kit(1);
  const auto got = outcome(kit, p);
  REQUIRE(got.value().size() == 100);
  REQUIRE(got.value().front() == 62);
}

TEST_CASE("a stage may put out any number of results for a tuple") {
  std::vector<int> expected;
  for (int i = 0; i < 500; ++i)
    for (int x = i; x != 0; x /= 10) expected.push_back(x % 10);
  in_each_system(pipeline(from(iota(500)), digits, collect()),
                 [&](const auto& got) { REQUIRE(got.value() == expected); });
}

TEST_CASE("filters and scans, fused or not, compute the same") {
  const auto p =
      pipeline(from(iota(1000)), filter([](int x) { return x % 3 == 0; }),
               scan(0, [](int sum, int x) { return (sum + x) % 1000; }), twice, collect());
  std::vector<int> expected;
  int sum = 0;
  for (int i = 0; i < 1000; i += 3) expected.push_back(2 * (sum = (sum + i) % 1000));
  in_each_system(p, [&](const auto& got) { REQUIRE(got.value() == expected); });
}

TEST_CASE("the value of a fold that is fused reaches the handle") {
  in_each_system(pipeline(from(iota(100)), filter([](int x) { return x % 2 == 0; }),
                          fold(0, [](int sum, int x) { return sum + x; })),
                 [](const auto& got) { REQUIRE(got.value() == 49 * 50); });
}

TEST_CASE("a farm hands each tuple to one replica, by every policy") {
  std::vector<int> expected = iota(2000);
  for (int& x : expected) x *= 2;
  const auto check = [&](const auto& got) { REQUIRE(sorted(got.value()) == expected); };
  const auto with = [](auto f) { return pipeline(from(iota(2000)), f, collect()); };
  in_each_system(with(farm(twice).replicas(3)), check);
  in_each_system(with(farm(twice).replicas(4).random_member(7)), check);
  in_each_system(with(farm(twice).replicas(3).least_loaded()), check);
  in_each_system(with(farm(twice).replicas(5).by_key([](const int& x) { return x % 17; })), check);
  in_each_system(with(farm(twice).replicas(2).by(
                     [](const int& x, std::size_t n) { return static_cast<std::size_t>(x) % n; })),
                 check);
  in_each_system(
      with(farm(farm(pipeline(twice, farm([](int x) { return x; }).replicas(2))).replicas(2))
               .replicas(2)),
      check);
}

TEST_CASE("broadcast gives each replica a copy") {
  in_each_system(pipeline(from(iota(300)), farm(twice).replicas(3).broadcast(), collect()),
                 [](const auto& got) {
                   const auto all = sorted(got.value());
                   REQUIRE(all.size() == 900);
                   for (std::size_t i = 0; i < 900; ++i)
                     REQUIRE(all[i] == 2 * static_cast<int>(i / 3));
                 });
}

TEST_CASE("an ordered farm keeps the order, also of filtered and multiplied tuples") {
  std::vector<int> expected;
  for (int i = 0; i < 1000; ++i)
    for (int x = i; x != 0; x /= 10)
      if (x % 10 % 2 == 0) expected.push_back(x % 10);
  in_each_system(
      pipeline(
          from(iota(1000)),
          farm(pipeline(digits, filter([](int x) { return x % 2 == 0; }))).replicas(3).ordered(),
          collect()),
      [&](const auto& got) { REQUIRE(got.value() == expected); });
}

TEST_CASE("parallel parts get every tuple, or the ones that are for them") {
  in_each_system(
      pipeline(from(iota(500)), parallel(twice, [](int x) { return -x; }), collect()),
      [](const auto& got) {
        REQUIRE(got.value().size() == 1000);
        REQUIRE(std::accumulate(got.value().begin(), got.value().end(), 0) == 499 * 500 / 2);
      });
  in_each_system(pipeline(from(iota(500)),
                          parallel(twice, [](int x) { return -x; }).by([](int x, std::size_t) {
                            return x % 2;
                          }),
                          collect()),
                 [](const auto& got) {
                   REQUIRE(got.value().size() == 500);
                   REQUIRE(std::accumulate(got.value().begin(), got.value().end(), 0) ==
                           2 * 249 * 250 - 250 * 250);
                 });
}

TEST_CASE("a loop sends its results round until they are done") {
  const auto halve = [](int x) { return x / 2; };
  in_each_system(
      pipeline(from(iota(700)), feedback(halve, [](const int& x) { return x > 1; }), collect()),
      [](const auto& got) {
        REQUIRE(got.value().size() == 700);
        for (const int x : got.value()) REQUIRE(x <= 1);
      });
  in_each_system(pipeline(from(iota(300)),
                          feedback(pipeline(farm(halve).replicas(2), halve),
                                   [](const int& x) { return x > 1; }),
                          collect()),
                 [](const auto& got) { REQUIRE(got.value().size() == 300); });
}

TEST_CASE("a loop may multiply its tuples") {
  const auto split = [](int x, emit<int> out) {
    if (x <= 1) return out(x);
    out(x / 2);
    out(x - x / 2);
  };
  in_each_system(pipeline(from(std::vector{100, 37, 1}),
                          feedback(split, [](const int& x) { return x > 1; }), collect()),
                 [](const auto& got) {
                   REQUIRE(got.value().size() == 138);
                   for (const int x : got.value()) REQUIRE(x == 1);
                 });
}

TEST_CASE("a stage that throws ends the stream with an error that names it") {
  const auto p = pipeline(from(iota(1000)), seq([](int x) {
                                              if (x == 500)
                                                throw std::runtime_error("five hundred");
                                              return x;
                                            }).named("picky"),
                          collect());
  in_each_system(p, [](const auto& got) {
    REQUIRE_FALSE(got.has_value());
    CHECK(got.error() == errc::receiver_failed);
    CHECK(got.error().to_string().find("picky: five hundred") != std::string::npos);
  });
}

TEST_CASE("a stage that ends its stream has put out the results of earlier tuples") {
  test_system kit(1);
  const auto picky = [](int x) {
    if (x == 5) throw std::runtime_error("five");
    return x;
  };
  const auto p = pipeline(counting(0, 10), seq(picky).named("picky"), discard<int>());
  auto h = spawn(kit, p, {.in_place = false, .fuse = false});
  kit.run();
  CHECK_FALSE(kit.request(h, join{}).get());
  const stream_report all = kit.request(h, get_report{}).get().value();
  CHECK(all.stages.at(1).name == "picky");
  CHECK(all.stages.at(1).figures.in == 6);
  CHECK(all.stages.at(1).figures.out == 5);
}

TEST_CASE("a stage that skips goes on without the tuple and its results") {
  const auto picky = [](int x, emit<int> out) {
    out(x);
    if (x % 10 == 3) throw std::runtime_error("three");
    out(x);
  };
  in_each_system(pipeline(from(iota(1000)), seq(picky).on(on_failure::skip), collect()),
                 [](const auto& got) {
                   REQUIRE(got.value().size() == 1800);
                   for (const int x : got.value()) REQUIRE(x % 10 != 3);
                 });
}

TEST_CASE("a stream that actors feed ends when it is told, and when its last handle is gone") {
  for (const bool told : {true, false}) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      test_system kit(seed);
      std::vector<int> got;
      const auto sink = [&got](int x) { got.push_back(x); };
      auto h = spawn(kit, pipeline(twice, seq(lent(sink))), {.capacity = 4});
      for (int i = 0; i < 100; ++i) send(h, i);
      if (told) {
        send(h, end_of_stream{});
        kit.run();
        CHECK(kit.request(h, join{}).get());
      }
      h = {};
      kit.run();
      CHECK(got.size() == 100);
    }
  }
}

TEST_CASE("a stage takes no further tuple while a result of the last one finds no room") {
  constexpr std::ptrdiff_t room = 4;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    std::ptrdiff_t put_out = 0;
    std::ptrdiff_t gone = 0;
    std::ptrdiff_t most_between = 0;
    const auto doubled = [&](int x, emit<int> out) {
      put_out += 2;
      most_between = std::max(most_between, put_out - gone);
      out(x);
      out(x);
    };
    const auto sink = [&](int) { ++gone; };
    const auto p = pipeline(counting(0, 200), seq(lent(doubled)), seq(lent(sink)));
    CHECK(outcome(kit, p, {.capacity = room, .in_place = false, .fuse = false}));
    CHECK(gone == 400);
    CHECK(most_between <= room + 2);
  }
}

TEST_CASE("a stream can be cancelled from outside") {
  actor_system system;
  auto h = spawn(system, pipeline(counting(0L, 1L << 60), discard<long>()));
  send(h, cancel{});
  const auto r = system.request(h, join{}).get();
  CHECK(r.error() == errc::cancelled);
}

}  // namespace streams_test
