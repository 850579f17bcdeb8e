// The yardstick: a thread that sleeps on a futex, woken by another thread.
#include <linux/futex.h>
#include <sys/syscall.h>

#include <thread>

#include "common/measure.hpp"
#include "wakeup/samples.hpp"

namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const std::uint64_t rounds = args.number("rounds", 5000);
  bench::wakeup_samples samples(args.number("gap_us", 200));
  args.reject_unknown();

  bench::result result;
  const std::int64_t start = bench::now_ns();
  std::atomic<std::uint32_t> word{0};
  std::atomic<std::int64_t> sent{0};
  std::thread sleeper([&] {
    for (std::uint32_t seen = 0;; ++seen) {
      // order: pairs with the release increment of the waker, which publishes `sent`
      while (word.load(std::memory_order_acquire) == seen) futex(word, FUTEX_WAIT_PRIVATE, seen);
      const std::int64_t stamp = sent.load(std::memory_order_relaxed);  // order: published by `word`
      if (stamp == 0) return;
      samples.arrived(stamp);
    }
  });
  const auto wake = [&](std::int64_t stamp) {
    sent.store(stamp, std::memory_order_relaxed);  // order: published by `word`
    word.fetch_add(1, std::memory_order_release);  // order: pairs with the sleeper's acquire load
    futex(word, FUTEX_WAKE_PRIVATE, 1);
  };
  samples.measure(rounds, wake);
  wake(0);
  sleeper.join();
  result.seconds = bench::seconds_since(start);
  result.items = rounds;
  result.expect("samples", rounds, samples.all().size());
  result.latencies(samples.all());
  return result.print();
}
