#include <garrick/base/platform/platform.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <vector>

#include "simulator/calibration/calibrate.hpp"

using namespace garrick;
using namespace garrick::machine;

namespace bench::simulator {

namespace {

namespace platform = base::platform;

constexpr int trials = 6;

double now() noexcept { return static_cast<double>(platform::monotonic_ns()); }

/// The least of several trials of `f`, which returns nanoseconds.
template <class F>
double least(const F& f, int times = trials) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < times; ++i) best = std::min(best, f());
  return best;
}

/// Nanoseconds of one call of `f` in a row of `count`.
template <class F>
double each(int count, const F& f) {
  return least([&] {
    const double begin = now();
    for (int i = 0; i < count; ++i) f();
    return (now() - begin) / count;
  });
}

/// As it comes in a program: after stores, for which it has to wait.
double locked() {
  struct alignas(64) padded {
    std::atomic<std::uint64_t> value{0};
  };
  std::vector<padded> lines(64);
  const auto stores = [&](std::uint64_t i) {
    for (std::uint64_t k = 0; k < 3; ++k)
      // order: relaxed; only their time counts
      lines[(3 * i + k) % lines.size()].value.store(i, std::memory_order_relaxed);
  };
  constexpr int count = 10'000;
  std::uint64_t i = 0;
  const double with = each(count, [&] {
    stores(++i);
    // order: as queues use it
    lines[i % lines.size()].value.fetch_add(1, std::memory_order_seq_cst);
  });
  return std::max(0.5, with - each(count, [&] { stores(++i); }));
}

void one_thread(costs& c) {
  std::atomic<std::uint32_t> word{0};
  c.locked = locked();
  c.pause = each(1'000, [] { platform::pause(); });
  c.clock_read = each(1'000, [] { static_cast<void>(platform::monotonic_ns()); });
  c.cpu_clock_read = each(1'000, [] { static_cast<void>(platform::thread_cpu_ns()); });
  c.system_call = each(1'000, [&] { platform::futex_wake_one(word); });
  if (platform::enable_process_barrier())
    c.barrier = each(200, [] { platform::process_barrier(); });
  c.timer_late = each(20, [] { platform::sleep_ns(1000); }) - 1000;
  std::thread([&] {
    platform::precise_sleeps();
    c.precise_timer_late = std::max(0.0, each(20, [] { platform::sleep_ns(20'000); }) - 20'000);
  }).join();
}

/// A sleeper and its waker.
void wake_up(costs& c) {
  std::atomic<std::uint32_t> word{0};
  std::atomic<std::uint64_t> woken_at{0};
  constexpr std::uint32_t rounds = 40;
  double cpu = 0;
  std::thread sleeper([&] {
    const double begin = static_cast<double>(platform::thread_cpu_ns());
    for (std::uint32_t i = 0; i < rounds; ++i) {
      // order: acquire, pairs with the waker
      while (word.load(std::memory_order_acquire) == i) platform::futex_wait(word, i);
      // order: release, pairs with the waker
      woken_at.store(platform::monotonic_ns(), std::memory_order_release);
    }
    cpu = (static_cast<double>(platform::thread_cpu_ns()) - begin) / rounds;
  });
  std::vector<double> latencies;
  std::vector<double> calls;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const double asleep = now() + 100'000;
    while (now() < asleep) platform::pause();
    woken_at.store(0, std::memory_order_relaxed);  // order: relaxed; no other thread writes it now
    const double begin = now();
    word.store(i + 1, std::memory_order_release);  // order: release, pairs with the sleeper
    platform::futex_wake_one(word);
    calls.push_back(now() - begin);
    std::uint64_t at = 0;
    // order: acquire, pairs with the sleeper
    while ((at = woken_at.load(std::memory_order_acquire)) == 0) platform::pause();
    latencies.push_back(static_cast<double>(at) - begin);
  }
  sleeper.join();
  const auto middle = [](std::vector<double>& of) {
    std::nth_element(of.begin(), of.begin() + rounds / 2, of.end());
    return of[rounds / 2];
  };
  c.wake_latency = middle(latencies);
  c.wake_call = middle(calls);
  c.fall_asleep = std::max(cpu - c.system_call, 0.0);
}

/// The machine's prices, which are all measured alike.
constexpr double costs::* measured[] = {&costs::locked,      &costs::pause,
                                        &costs::clock_read,  &costs::cpu_clock_read,
                                        &costs::system_call, &costs::fall_asleep,
                                        &costs::wake_call,   &costs::wake_latency,
                                        &costs::timer_late,  &costs::precise_timer_late,
                                        &costs::barrier};

}  // namespace

/// A line goes to another thread and comes back in four transfers: each side fetches it to see the
/// other's store, and takes it to make its own.
double measure_transfer() {
  constexpr std::uint32_t rounds = 200;
  constexpr double patience_ns = 20e6;  // the two may have one processor between them
  alignas(64) std::atomic<std::uint32_t> ball{0};
  std::atomic<bool> over{false};
  std::thread other([&] {
    // order: relaxed; only to come to an end
    for (std::uint32_t i = 1; !over.load(std::memory_order_relaxed);) {
      // order: acquire, pairs with the first's store
      if (ball.load(std::memory_order_acquire) != i) continue;
      // order: release, pairs with the first's load
      ball.store(i + 1, std::memory_order_release);
      i += 2;
    }
  });
  const double end = now() + patience_ns;
  double best = std::numeric_limits<double>::max();
  std::uint32_t i = 0;
  bool in_time = true;
  for (int trial = 0; trial < trials && in_time; ++trial) {
    const double begin = now();
    for (std::uint32_t k = 0; k < rounds && in_time; ++k, i += 2) {
      ball.store(i + 1, std::memory_order_release);  // order: release, pairs with the other's load
      // order: acquire, pairs with the other's store
      for (std::uint32_t spins = 1; ball.load(std::memory_order_acquire) != i + 2 && in_time;
           ++spins)
        if (spins % 1024 == 0) in_time = now() < end;
    }
    if (in_time) best = std::min(best, (now() - begin) / rounds / 4);
  }
  over.store(true, std::memory_order_relaxed);  // order: relaxed, as above
  other.join();
  return best;
}

costs calibration::no_price() noexcept {
  costs c;
  c.transfer.fill(std::numeric_limits<double>::max());
  for (const auto price : measured) c.*price = std::numeric_limits<double>::max();
  return c;
}

void calibration::sample() {
  costs now;
  one_thread(now);
  if (platform::usable_cores() > 1) {
    now.transfer.fill(measure_transfer());
    wake_up(now);
  }
  for (const auto price : measured) machine_.*price = std::min(machine_.*price, now.*price);
  for (std::size_t d = 0; d < now.transfer.size(); ++d)
    machine_.transfer[d] = std::min(machine_.transfer[d], now.transfer[d]);
  measure_actors(actors_);
}

costs calibration::prices() const {
  costs c = machine_;
  // never two processors at once
  if (c.transfer[0] == std::numeric_limits<double>::max()) c.transfer = costs{}.transfer;
  derive_actor_prices(c, actors_);
  return c;
}

}  // namespace bench::simulator
