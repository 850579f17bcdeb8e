// The scheduler's parts, one by one: queues, the way of a runnable through the next slot, a
// ping-pong of two runnables, and the time from scheduling from outside until a parked worker runs,
// beside a bare futex wake under the same conditions.
#include <garrick/base/concurrency/parker.hpp>
#include <garrick/base/platform/platform.hpp>
#include <garrick/sched/policies/work_stealing.hpp>
#include <garrick/sched/queues/inbox.hpp>
#include <garrick/sched/queues/next_slot.hpp>
#include <garrick/sched/queues/work_stealing_deque.hpp>
#include <garrick/sched/shipped_policies.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

using namespace garrick;
using namespace garrick::sched;
using base::real_atomics;

namespace {

struct nothing final : base::runnable {
  base::run_outcome run(std::uint32_t& budget) noexcept override {
    --budget;
    return base::run_outcome::released;
  }
};

void deque_push_pop(benchmark::State& state) {
  work_stealing_deque<real_atomics> queue;
  nothing items[8];
  for (auto _ : state) {
    for (auto& item : items) queue.push(&item);
    for (std::size_t i = 0; i < std::size(items); ++i) benchmark::DoNotOptimize(queue.pop());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(std::size(items)));
}
BENCHMARK(deque_push_pop);

void deque_push_steal(benchmark::State& state) {
  work_stealing_deque<real_atomics> queue;
  nothing item;
  base::runnable* stolen = nullptr;
  for (auto _ : state) {
    queue.push(&item);
    benchmark::DoNotOptimize(queue.steal(stolen));
  }
}
BENCHMARK(deque_push_steal);

void inbox_push_take(benchmark::State& state) {
  work_inbox<real_atomics> inbox;
  nothing item;
  for (auto _ : state) {
    inbox.push(item);
    benchmark::DoNotOptimize(inbox.take_oldest());
  }
}
BENCHMARK(inbox_push_take);

void slot_put_take(benchmark::State& state) {
  base::platform::enable_process_barrier();
  next_slot<real_atomics> slot;
  nothing item;
  for (auto _ : state) {
    slot.put(item);
    benchmark::DoNotOptimize(slot.take());
  }
}
BENCHMARK(slot_put_take);

/// One worker's view: schedule into the own slot and take it out again. Argument: workers of the
/// policy.
void policy_schedule_dequeue(benchmark::State& state) {
  base::platform::enable_process_barrier();
  work_stealing<> policy(policy_options{.workers = static_cast<std::uint32_t>(state.range(0))});
  auto& self = policy.worker(0);
  nothing item;
  for (auto _ : state) {
    policy.internal_enqueue(self, item);
    benchmark::DoNotOptimize(policy.dequeue(self));
  }
}
BENCHMARK(policy_schedule_dequeue)->Arg(1)->Arg(2);

/// The same with an occupied slot, so that each scheduling displaces one into the deque.
void policy_displace_dequeue(benchmark::State& state) {
  base::platform::enable_process_barrier();
  work_stealing<> policy(policy_options{.workers = 2});
  auto& self = policy.worker(0);
  nothing items[2];
  for (auto _ : state) {
    policy.internal_enqueue(self, items[0]);
    policy.internal_enqueue(self, items[1]);
    benchmark::DoNotOptimize(policy.dequeue(self));
    benchmark::DoNotOptimize(policy.dequeue(self));
  }
  state.SetItemsProcessed(state.iterations() * 2);
}
BENCHMARK(policy_displace_dequeue);

struct ball final : base::runnable {
  base::executor* on = nullptr;
  ball* other = nullptr;
  std::uint64_t left = 0;
  base::parker* done = nullptr;
  base::run_outcome run(std::uint32_t& budget) noexcept override {
    --budget;
    if (left-- == 0) {
      done->unpark();
    } else {
      on->schedule(*other);
    }
    return base::run_outcome::released;
  }
};

void ping_pong(benchmark::State& state) {
  constexpr std::uint64_t hops = 1'000'000;
  auto pool = make_scheduler({.workers = static_cast<std::uint32_t>(state.range(0))});
  pool->start();
  base::parker done;
  ball a;
  ball b;
  for (auto _ : state) {
    for (ball* one : {&a, &b}) {
      one->on = pool.get();
      one->other = one == &a ? &b : &a;
      one->left = hops / 2;
      one->done = &done;
    }
    pool->schedule(a);
    done.park();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(hops));
}
BENCHMARK(ping_pong)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void report(benchmark::State& state, std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double share) {
    return samples[static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1))];
  };
  state.counters["p50_us"] = at(0.5) / 1000;
  state.counters["p99_us"] = at(0.99) / 1000;
}

// long enough for the other side to sleep in the kernel
constexpr std::uint64_t pause_ns = 200'000;

/// From the store of a waker to the sleeper's first instruction, with nothing but a futex.
void wake_bare_futex(benchmark::State& state) {
  std::atomic<std::uint32_t> word{0};
  std::atomic<std::uint64_t> woken_at{0};
  std::thread sleeper([&] {
    for (;;) {
      while (word.load() == 0) base::platform::futex_wait(word, 0);
      if (word.exchange(0) == 2) return;
      woken_at.store(base::platform::monotonic_ns());
    }
  });
  std::vector<double> samples;
  for (auto _ : state) {
    base::platform::sleep_ns(pause_ns);
    woken_at.store(0);
    const auto begin = base::platform::monotonic_ns();
    word.store(1);
    base::platform::futex_wake_one(word);
    while (woken_at.load() == 0) base::platform::pause();
    samples.push_back(static_cast<double>(woken_at.load() - begin));
    state.SetIterationTime(samples.back() / 1e9);
  }
  word.store(2);
  base::platform::futex_wake_one(word);
  sleeper.join();
  report(state, samples);
}
BENCHMARK(wake_bare_futex)->UseManualTime()->Iterations(5'000)->Unit(benchmark::kMicrosecond);

struct stamp final : base::runnable {
  std::atomic<std::uint64_t> ran_at{0};
  base::run_outcome run(std::uint32_t& budget) noexcept override {
    --budget;
    ran_at.store(base::platform::monotonic_ns());
    return base::run_outcome::released;
  }
};

/// From `schedule` on an outside thread to the first instruction of the runnable on a parked
/// worker. Argument: workers.
void wake_parked_worker(benchmark::State& state) {
  auto pool = make_scheduler({.workers = static_cast<std::uint32_t>(state.range(0))});
  pool->start();
  stamp work;
  std::vector<double> samples;
  for (auto _ : state) {
    base::platform::sleep_ns(pause_ns);
    work.ran_at.store(0);
    const auto begin = base::platform::monotonic_ns();
    pool->schedule(work);
    while (work.ran_at.load() == 0) base::platform::pause();
    samples.push_back(static_cast<double>(work.ran_at.load() - begin));
    state.SetIterationTime(samples.back() / 1e9);
  }
  report(state, samples);
}
BENCHMARK(wake_parked_worker)
    ->Arg(1)
    ->Arg(2)
    ->UseManualTime()
    ->Iterations(5'000)
    ->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
