// Kernels as stages of pipelines and farms, and maps that are divided between processors and
// device.
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "gpu/devices.hpp"

namespace streams_test {
namespace {

using namespace gpu_tests;

using namespace garrick::patterns;

struct numbers {
  int next = 0;
  bool consume(emit<floats> out) {
    if (next == 20) return false;
    out(floats(8, static_cast<float>(next++)));
    return true;
  }
};
using sums = std::vector<float>;
sums first_of_each(sums s, const floats& x) {
  s.push_back(x[0]);
  return s;
}

TEST_CASE("a kernel is a stage of a pipeline, and results keep the order") {
  bench_of_devices b;
  const auto h = patterns::spawn(
      b.system, pipeline(seq(numbers()),
                         gpu::stage<floats(floats)>(b.built(), "square", nd_range::per_element()),
                         fold(sums(), first_of_each)));
  const sums s = b.system.request(h, join{}).get().value();
  REQUIRE(s.size() == 20);
  for (std::size_t i = 0; i < 20; ++i) CHECK(s[i] == static_cast<float>(i * i));
}

TEST_CASE("stages of a pipeline hand data on without the host") {
  bench_of_devices b;
  using on_device = gpu::device_ref<float>;
  const gpu::program p = b.built();
  const nd_range r(8);
  const std::uint64_t writes = layer().writes;
  const std::uint64_t reads = layer().reads;
  const auto h = patterns::spawn(
      b.system,
      pipeline(seq(numbers()), gpu::stage<on_device(floats)>(p, "square", r),
               gpu::stage<on_device(on_device)>(p, "square", r),
               gpu::stage<floats(on_device)>(p, "square", r), fold(sums(), first_of_each)));
  const sums s = b.system.request(h, join{}).get().value();
  CHECK(s.at(2) == 256);
  CHECK(s.at(19) == 19.f * 19 * 19 * 19 * 19 * 19 * 19 * 19);
  CHECK(layer().writes - writes == 20);
  CHECK(layer().reads - reads == 20);
}

TEST_CASE("a kernel is a stage of a farm, and a tuple of several values is several arguments") {
  bench_of_devices b;
  using pair = std::tuple<floats, float>;
  const auto h = patterns::spawn(
      b.system,
      pipeline(
          seq(numbers()), [](floats x) { return pair(std::move(x), 3.0f); },
          farm(gpu::stage<void(gpu::in_out<floats>, float)>(b.built(), "scale",
                                                            nd_range::per_element()))
              .replicas(2),
          fold(0.0, [](double s, const floats& x) { return s + static_cast<double>(x[3]); })));
  CHECK(b.system.request(h, join{}).get().value() == 3.0 * 190);
}

/// The number of rounds that a kernel works on each tuple.
struct rounds {
  std::vector<int> all;
  std::size_t next = 0;
  bool consume(emit<std::vector<int>> out) {
    if (next == all.size()) return false;
    out(std::vector<int>{all[next++]});
    return true;
  }
};
/// As the kernel `slow`.
int after_rounds(int n) {
  auto x = static_cast<std::uint32_t>(n);
  for (int i = 0; i < n; ++i) x = x * 1664525 + 1013904223;
  return static_cast<int>(x);
}
std::vector<int> all_of(std::vector<int> s, const std::vector<int>& x) {
  s.push_back(x[0]);
  return s;
}

TEST_CASE("results of a stage keep the order, whichever kernel is done first") {
  bench_of_devices b;
  std::vector<int> given{4'000'000};
  for (int i = 1; i < 40; ++i) given.push_back(1000 - i);
  const auto h =
      patterns::spawn(b.system, pipeline(seq(rounds{given}),
                                         gpu::stage<std::vector<int>(std::vector<int>)>(
                                             b.built(), "slow", nd_range::per_element(), {}, 40),
                                         fold(std::vector<int>(), all_of)));
  const std::vector<int> got = b.system.request(h, join{}).get().value();
  REQUIRE(got.size() == given.size());
  for (std::size_t i = 0; i < given.size(); ++i) CHECK(got[i] == after_rounds(given[i]));
}

TEST_CASE("a tuple that fails leaves the order as it is, and is a dead letter as it came") {
  bench_of_devices b;
  struct mixed {
    int next = 0;
    bool consume(emit<floats> out) {
      if (next == 20) return false;
      out(floats(next % 3 == 1 ? 9 : 8, static_cast<float>(next)));  // a third is too long
      ++next;
      return true;
    }
  };
  const auto h = patterns::spawn(
      b.system, pipeline(seq(mixed()),
                         gpu::stage<floats(floats)>(b.built(), "square", nd_range(8))
                             .named("squares")
                             .on(on_failure::skip),
                         fold(sums(), first_of_each)));
  const sums s = b.system.request(h, join{}).get().value();
  std::size_t at = 0;
  for (int i = 0; i < 20; ++i)
    if (i % 3 != 1) CHECK(s.at(at++) == static_cast<float>(i * i));
  CHECK(s.size() == at);
  CHECK(b.system.dead_letter_count(errc::receiver_failed) == 7);
  for (const auto& letter : b.system.dead_letters().recent())
    CHECK(letter.type == &base::message_type_of<floats>);
  const stream_report r = b.system.request(h, get_report{}).get().value();
  CHECK(r.to_string().find("squares") != std::string::npos);
}

TEST_CASE("a tuple that fails does not overtake the results before it") {
  bench_of_devices b;
  struct slow_then_wrong {
    int next = 0;
    bool consume(emit<std::vector<int>> out) {
      if (next == 2) return false;
      out(next++ == 0 ? std::vector<int>{4'000'000} : std::vector<int>{1, 2});  // of one element
      return true;
    }
  };
  const auto h = patterns::spawn(b.system, pipeline(seq(slow_then_wrong()),
                                                    gpu::stage<std::vector<int>(std::vector<int>)>(
                                                        b.built(), "slow", nd_range(1)),
                                                    fold(std::vector<int>(), all_of)));
  CHECK(!b.system.request(h, join{}).get());
  const auto figures = b.system.request(h, get_report{}).get().value().stages.at(1).figures;
  CHECK(figures.in == 2);
  CHECK(figures.out == 1);
  CHECK(figures.failures == 1);
  CHECK(figures.dropped == 0);
}

TEST_CASE("tuples that a cancelled stage has given to a device are dropped before they run") {
  bench_of_devices b({.in_flight = 1});
  const auto square = gpu::spawn<floats(floats)>(b.system, b.built(), "square", nd_range(8));
  const std::uint64_t before = layer().kernels;
  layer().hold_callbacks = true;
  const auto h = patterns::spawn(
      b.system,
      pipeline(seq(numbers()), gpu::stage<floats(floats)>(b.built(), "square", nd_range(8)),
               fold(sums(), first_of_each)));
  wait_until([&] { return layer().kernels == before + 1; });  // seven wait behind it
  const auto taken = [&] {
    return b.system.request(h, get_report{}).get().value().stages.at(1).figures.in;
  };
  wait_until([&] { return taken() >= 8; });
  send(h, cancel{});
  CHECK(!b.system.request(h, join{}).get());
  CHECK(taken() == 8);
  wait_until([&] { return b.system.actor_count() == 2; });  // the stage's actor is gone
  layer().hold_callbacks = false;
  layer().release_callbacks();
  CHECK(b.system.request(square, floats(8, 3)).get().value().at(0) == 9);
  CHECK(layer().kernels == before + 2);
}

TEST_CASE("a failure of a kernel in a stream follows the stage's policy") {
  bench_of_devices b;
  const auto wrong = gpu::stage<floats(floats)>(b.built(), "square", nd_range(9));  // of 8 elements
  const auto sink = [] { return fold(0, [](int n, const floats&) { return n + 1; }); };
  const auto fails = patterns::spawn(b.system, pipeline(seq(numbers()), wrong, sink()));
  const error why = b.system.request(fails, join{}).get().error();
  INFO(why.to_string());
  CHECK(why.to_string().find("kernel square on " + b.first().name()) != std::string::npos);
  const auto skips =
      patterns::spawn(b.system, pipeline(seq(numbers()), wrong.on(on_failure::skip), sink()));
  CHECK(b.system.request(skips, join{}).get().value() == 0);
}

TEST_CASE("a map divided between processors and device is the map") {
  bench_of_devices b;
  const gpu::split_ref<float> split =
      gpu::split(b.system, map([](float& x) { x = x * x; }), b.built(), "square");
  const data_ref<floats> as_a_map = split;
  for (const std::size_t n : std::initializer_list<std::size_t>{0, 1, 2, 3, 1000, 1001, 50'000}) {
    const floats squares = b.system.request(as_a_map, counting(n)).get().value();
    REQUIRE(squares.size() == n);
    for (std::size_t i = 0; i < n; ++i)
      REQUIRE(squares[i] == static_cast<float>(i) * static_cast<float>(i));
  }
  const gpu::split_figures f = b.system.request(split, gpu::get_split_figures{}).get().value();
  CHECK(f.on_device > 0);
  CHECK(f.on_processors > 0);
  CHECK(f.on_device + f.on_processors == 0 + 1 + 2 + 3 + 1000 + 1001 + 50'000);
  CHECK(f.device_share > 0);
  CHECK(f.device_share < 1);
}

TEST_CASE("a divided map may make another type, and be a stage") {
  bench_of_devices b;
  const gpu::program p = gpu::build(b.system,
                                    "kernel void rounded(global const float* x, global int* out) {"
                                    "  out[get_global_id(0)] = (int)x[get_global_id(0)]; }",
                                    {.on = {b.first()}})
                             .get()
                             .value();
  const auto split =
      gpu::split(b.system, map([](const float& x) { return static_cast<int>(x); }), p, "rounded");
  const auto h = patterns::spawn(
      b.system,
      pipeline(seq(numbers()), ask<floats>(split, 4),
               fold(0, [](int s, const std::vector<int>& x) { return s + x[0] + x[7]; })));
  CHECK(b.system.request(h, join{}).get().value() == 2 * 190);
}

TEST_CASE("a divided map with a failing kernel says so") {
  bench_of_devices b;
  const auto split = gpu::split(b.system, map([](float& x) { x = x * x; }), b.built(), "square");
  layer().kernel_code = -5;
  CHECK(b.system.request(split, counting(100)).get().error() == gpu_errc::out_of_memory);
  layer().kernel_code = 0;
  CHECK(b.system.request(split, counting(100)).get());
}

TEST_CASE("a divided map follows the speeds that it has measured") {
  gpu::detail::split_ratio r;
  CHECK(r.for_device(1) == 0);
  CHECK(r.for_device(1000) == 500);
  r.device_took(500, 1ms);
  r.processors_took(500, 3ms);
  CHECK(r.share() == doctest::Approx(0.75));
  CHECK(r.for_device(1000) == 750);
  for (int i = 0; i < 100; ++i) r.device_took(1, 1s);
  CHECK(r.for_device(6400) == 100);  // a side that does nothing is not measured any more
}

}  // namespace
}  // namespace streams_test
