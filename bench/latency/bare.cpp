// The yardstick: the generator wakes a thread that sleeps on a futex, and that is the collector; no actors in between, whatever `--actors` says.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "latency/pipeline.hpp"

namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  bench::pipeline_run run = bench::read_pipeline(args);
  args.reject_unknown();
  std::atomic<std::uint32_t> word{0};
  std::atomic<std::int64_t> sent{0};
  std::thread sleeper([&] {
    for (std::uint32_t seen = 0;; ++seen) {
      // order: pairs with the release increment of the generator, which publishes `sent`
      while (word.load(std::memory_order_acquire) == seen) futex(word, FUTEX_WAIT_PRIVATE, seen);
      const std::int64_t stamp = sent.load(std::memory_order_relaxed);  // order: published by `word`
      if (stamp == 0) return;
      run.arrived(stamp);
    }
  });
  const auto wake = [&](std::int64_t stamp) {
    sent.store(stamp, std::memory_order_relaxed);  // order: published by `word`
    word.fetch_add(1, std::memory_order_release);  // order: pairs with the sleeper's acquire load
    futex(word, FUTEX_WAKE_PRIVATE, 1);
  };
  run.run(wake);
  wake(0);
  sleeper.join();
  return run.print();
}
