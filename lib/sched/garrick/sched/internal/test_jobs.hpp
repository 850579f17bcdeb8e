// Helpers of the scheduler's tests: runnables made from lambdas, a watchdog that explains a hang,
// and a factor for long runs.
#pragma once

#include <garrick/base/concurrency/parker.hpp>
#include <garrick/base/platform/platform.hpp>
#include <garrick/sched/shipped_policies.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace garrick::sched::test {

/// A runnable that calls `Function` once a run: `run_outcome f(std::uint32_t& budget)`, or `void
/// f()` for one message and done.
template <class Function>
class job final : public base::runnable {
 public:
  explicit job(Function function) : function_(std::move(function)) {}

  base::run_outcome run(std::uint32_t& budget) noexcept override {
    if constexpr (requires { function_(budget); }) {
      return function_(budget);
    } else {
      --budget;
      function_();
      return base::run_outcome::released;
    }
  }

 private:
  Function function_;
};

/// A flag that one thread sets, once; other threads wait for it.
class latch {
 public:
  void open() noexcept {
    opened_.store(1, std::memory_order_release);  // order: release, pairs with wait
    base::platform::futex_wake_all(opened_);
  }
  void wait() noexcept {
    while (!is_open()) base::platform::futex_wait(opened_, 0);
  }
  [[nodiscard]] bool is_open() const noexcept {
    return opened_.load(std::memory_order_acquire) == 1;  // order: acquire, pairs with open
  }

 private:
  std::atomic<std::uint32_t> opened_{0};
};

/// Ends the process with a diagnosis if `progress` is not called for 100 seconds.
class watchdog {
 public:
  explicit watchdog(scheduler& pool) : pool_(pool), thread_([this] { watch(); }) {}
  ~watchdog() {
    ended_.store(true, std::memory_order_relaxed);  // order: relaxed; the token carries it
    alarm_.unpark();
    thread_.join();
  }
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  // order: relaxed; only compared
  void progress() noexcept { rounds_.fetch_add(1, std::memory_order_relaxed); }

 private:
  void watch() noexcept {
    std::uint64_t last = 0;
    for (int quiet = 0;; ++quiet) {
      // order: relaxed; after the token
      if (alarm_.park_for(1'000'000'000) && ended_.load(std::memory_order_relaxed)) return;
      // order: relaxed; only compared
      const std::uint64_t now = rounds_.load(std::memory_order_relaxed);
      if (now != last) quiet = 0;
      last = now;
      if (quiet >= 100) explain(now);
    }
  }

  [[noreturn]] void explain(std::uint64_t rounds) noexcept {
    const scheduler_stats now = pool_.stats();
    std::fprintf(
        stderr,
        "no progress for 100 s after %llu rounds: %u workers, runs %llu, steals %llu, "
        "parks %llu, wakes %llu, exposed %llu, "
        "ticks %llu\n%s\n",
        static_cast<unsigned long long>(rounds), pool_.worker_count(),
        static_cast<unsigned long long>(now.runs), static_cast<unsigned long long>(now.steals),
        static_cast<unsigned long long>(now.parks), static_cast<unsigned long long>(now.wakes),
        static_cast<unsigned long long>(now.exposed), static_cast<unsigned long long>(now.ticks),
        pool_.describe().c_str());
    std::abort();
  }

  scheduler& pool_;
  std::atomic<std::uint64_t> rounds_{0};
  std::atomic<bool> ended_{false};
  base::parker alarm_;
  std::thread thread_;
};

/// Returns `few`, or a tenth of it under ThreadSanitizer, times the environment variable
/// GARRICK_TORTURE.
inline std::uint32_t rounds(std::uint32_t few) {
  const char* factor = std::getenv("GARRICK_TORTURE");
  const auto times =
      factor == nullptr ? 1U : static_cast<std::uint32_t>(std::max(1, std::atoi(factor)));
  return (GARRICK_TSAN ? few / 10 + 1 : few) * times;
}

/// Returns a running pool.
inline std::unique_ptr<scheduler> started(scheduler_settings options) {
  auto pool = make_scheduler(options);
  pool->start();
  return pool;
}

}  // namespace garrick::sched::test
