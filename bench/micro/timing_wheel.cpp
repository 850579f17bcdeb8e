// What arming and cancelling one timer costs while a million others are pending. The figure to
// reach: 150 ns.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

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

}  // namespace

BENCHMARK_MAIN();
