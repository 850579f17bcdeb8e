// The worst call that arms a timer, and the worst that arms one and cancels it, of an actor with a
// million timers, while these are armed and while they fall due. The figure to reach, in processor
// time of the calling thread: 1 ms, or 1.2 times the worst step of a bare loop, if that is more.
#include <garrick/base/platform/platform.hpp>
#include <garrick/garrick.hpp>

#include <sys/mman.h>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

constexpr std::int64_t due = 1'000'000;

std::int64_t cpu_ns() {
  return static_cast<std::int64_t>(garrick::base::platform::thread_cpu_ns());
}

struct tick {};
struct fill {};
struct pairs {};

/// Processor time of the worst call, in nanoseconds.
struct figures {
  std::int64_t arm = 0;   ///< while the million are armed, which takes fresh memory
  std::int64_t pair = 0;  ///< while they are due
};

class owner : public garrick::actor<garrick::protocol<void(fill), void(pairs), void(tick)>> {
  figures* out_;
  std::int64_t ticks_ = 0;

 public:
  explicit owner(figures* out) : out_(out) {}

  void on(fill) {
    const garrick::instant begin = now() + garrick::duration::milliseconds(1500);
    for (std::int64_t i = 0; i < due; ++i) {
      const auto delay = begin + garrick::duration::nanoseconds(i * 400) - now();
      const std::int64_t before = cpu_ns();
      send_after(delay, self(), tick{});
      out_->arm = std::max(out_->arm, cpu_ns() - before);
    }
    garrick::send(self(), pairs{});
  }
  /// A few pairs a message, so that the ticks are handled in between.
  void on(pairs) {
    for (int i = 0; i < 1000; ++i) {
      const std::int64_t before = cpu_ns();
      send_after(garrick::duration::seconds(600), self(), tick{}).cancel();
      out_->pair = std::max(out_->pair, cpu_ns() - before);
    }
    if (ticks_ == due)
      quit();
    else
      garrick::send(self(), pairs{});
  }
  void on(tick) { ++ticks_; }
};

/// The worst step of a loop that writes a million entries of 192 bytes (a timer's record and its
/// message) to fresh memory, of huge pages as the block pool's is.
std::int64_t worst_bare_step() {
  constexpr std::size_t bytes = 192;
  void* const memory =
      ::mmap(nullptr, due * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  ::madvise(memory, due * bytes, MADV_HUGEPAGE);
  std::int64_t worst = 0;
  auto* const at = static_cast<char*>(memory);
  for (std::size_t i = 0; i < due; ++i) {
    const std::int64_t before = cpu_ns();
    std::fill_n(at + i * bytes, bytes, static_cast<char>(i));
    benchmark::ClobberMemory();
    worst = std::max(worst, cpu_ns() - before);
  }
  ::munmap(memory, due * bytes);
  return worst;
}

void actor_while_its_timers_are_due(benchmark::State& state) {
  figures worst;
  std::int64_t bare = 0;
  for (auto _ : state) {
    bare = std::max(bare, worst_bare_step());
    garrick::settings o;
    o.scheduler.workers = 1;
    garrick::actor_system system(o);
    garrick::send(system.spawn<owner>(garrick::lent(&worst)), fill{});
    static_cast<void>(system.await_all());
  }
  const auto in_us = [](std::int64_t ns) { return static_cast<double>(ns) / 1000; };
  state.counters["worst_pair_us"] = in_us(worst.pair);
  state.counters["worst_arm_us"] = in_us(worst.arm);
  state.counters["worst_bare_us"] = in_us(bare);
  if (std::max(worst.pair, worst.arm) > std::max<std::int64_t>(1'000'000, bare * 12 / 10))
    state.SkipWithError("the worst call took longer than 1 ms and 1.2 times the bare loop's step");
}
BENCHMARK(actor_while_its_timers_are_due)
    ->Iterations(3)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
