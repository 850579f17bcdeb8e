// The cost of arming and cancelling one timer while a million others are pending. The figure to
// reach: 150 ns. And the time for it while a million others fall due: 1 ms at p99.99.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "garrick/base/platform/platform.hpp"
#include "garrick/base/time/timer_service.hpp"
#include "garrick/base/time/timing_wheel.hpp"
#include "garrick/base/values/random.hpp"

namespace {

using garrick::base::duration;
using garrick::base::instant;
using garrick::base::timer_id;
using garrick::base::timer_task;

constexpr std::size_t pending = 1'000'000;

void nothing(void*, std::uint64_t) {}

const timer_task task{.fire = nothing};

/// Deadlines as request time-outs have them: 1 ms to 60 s ahead.
duration ahead(garrick::base::random_source& random) {
  return duration::microseconds(1000 + random.below(60'000'000));
}

template <class Timers>
void fill(Timers& timers, instant now, std::vector<timer_id>& ids,
          garrick::base::random_source& random) {
  ids.resize(pending);
  for (timer_id& id : ids) id = timers.arm(now + ahead(random), task);
}

/// A short-lived timer among a million others: armed, and cancelled at once. One item is the pair.
void wheel_arm_and_cancel(benchmark::State& state) {
  const instant now = instant::at(duration::seconds(1000));
  garrick::base::timing_wheel wheel(now);
  garrick::base::random_source random(1);
  std::vector<timer_id> ids;
  fill(wheel, now, ids, random);
  for (auto _ : state) benchmark::DoNotOptimize(wheel.cancel(wheel.arm(now + ahead(random), task)));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(wheel_arm_and_cancel);

/// The worst case for caches: each step cancels a random one of the million and arms another. One
/// item is the pair.
void wheel_replace_any(benchmark::State& state) {
  const instant now = instant::at(duration::seconds(1000));
  garrick::base::timing_wheel wheel(now);
  garrick::base::random_source random(1);
  std::vector<timer_id> ids;
  fill(wheel, now, ids, random);
  for (auto _ : state) {
    timer_id& id = ids[random.below(pending)];
    benchmark::DoNotOptimize(wheel.cancel(id));
    id = wheel.arm(now + ahead(random), task);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(wheel_replace_any);

/// Firing all of the million, in order. One item is one timer.
void wheel_fire(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    const instant now = instant::at(duration::seconds(1000));
    garrick::base::timing_wheel wheel(now);
    garrick::base::random_source random(1);
    std::vector<timer_id> ids;
    fill(wheel, now, ids, random);
    state.ResumeTiming();
    garrick::base::timing_wheel::expired x;
    std::size_t fired = 0;
    for (std::int64_t ms = 0; ms <= 61'000; ++ms)
      while (wheel.pop(now + duration::milliseconds(ms), x)) ++fired;
    if (fired != pending) state.SkipWithError("not every timer fired");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pending));
}
BENCHMARK(wheel_fire)->Unit(benchmark::kMillisecond);

/// The same pair through the real service, with its mutex, on one thread.
void service_arm_and_cancel(benchmark::State& state) {
  garrick::base::timer_service service;
  garrick::base::random_source random(1);
  std::vector<timer_id> ids;
  ids.resize(pending);
  const instant later = service.now() + duration::seconds(600);
  for (timer_id& id : ids) id = service.arm(later + ahead(random), task);
  for (auto _ : state)
    benchmark::DoNotOptimize(service.cancel(service.arm(later + ahead(random), task)));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(service_arm_and_cancel);

/// A million timers fall due within 400 ms, all of them in one or two slots. Meanwhile another is
/// armed and cancelled every 100 us, and each pair is timed. One item is one pair; a pair that the
/// last one held up counts from when it was to begin. `max_cpu_us` is the most processor time of a
/// pair. In the rest of a pair's time its thread slept, or waited for a core.
void service_while_many_are_due(benchmark::State& state) {
  std::vector<std::int64_t> took;
  std::uint64_t most_cpu = 0;
  for (auto _ : state) {
    std::atomic<std::uint64_t> fired{0};
    garrick::base::timer_service service;
    const timer_task count{
        .fire = [](void* n, std::uint64_t) { ++*static_cast<std::atomic<std::uint64_t>*>(n); },
        .context = &fired};
    garrick::base::random_source random(1);
    const instant begin = service.now() + duration::milliseconds(600);
    for (std::size_t i = 0; i < pending; ++i)
      service.arm(
          begin + duration::nanoseconds(static_cast<std::int64_t>(random.below(400'000'000))),
          count);
    for (instant next = begin; fired < pending; next = next + duration::microseconds(100)) {
      instant start = next;
      if (service.now() < next) {
        std::this_thread::sleep_for(std::chrono::nanoseconds((next - service.now()).count()));
        start = service.now();
      }
      const std::uint64_t cpu = garrick::base::platform::thread_cpu_ns();
      service.cancel(service.arm(next + duration::seconds(60), task));
      most_cpu = std::max(most_cpu, garrick::base::platform::thread_cpu_ns() - cpu);
      took.push_back((service.now() - start).count());
    }
  }
  std::sort(took.begin(), took.end());
  const auto us_at = [&](std::size_t of_ten_thousand) {
    return static_cast<double>(took[(took.size() - 1) * of_ten_thousand / 10'000]) / 1000;
  };
  state.counters["p50_us"] = us_at(5000);
  state.counters["p99_us"] = us_at(9900);
  state.counters["p99.99_us"] = us_at(9999);
  state.counters["max_us"] = us_at(10'000);
  state.counters["max_cpu_us"] = static_cast<double>(most_cpu) / 1000;
  state.SetItemsProcessed(static_cast<std::int64_t>(took.size()));
}
BENCHMARK(service_while_many_are_due)->Iterations(3)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
