// Fakes for tests that call a policy's functions on one thread: a runnable, a clock that does not
// advance, and a parker that runs a script.
#pragma once

#include <garrick/base/concurrency/runnable.hpp>

#include <cstdint>
#include <functional>
#include <utility>

namespace garrick::sched::test {

/// A runnable that takes one message a run.
struct item final : base::runnable {
  base::run_outcome run(std::uint32_t& budget) noexcept override {
    --budget;
    return base::run_outcome::released;
  }
};

/// A clock that does not advance.
struct no_time {
  static std::uint64_t now_ns() noexcept { return 1; }
  static std::uint64_t thread_cpu_ns() noexcept { return 1; }
  static void sleep_ns(std::uint64_t) noexcept {}
};

/// Runs the script once, when a worker sleeps. A helper thread's sleep does not run it.
struct scripted_parker {
  static inline std::function<void()> script;
  void park() {
    if (const auto now = std::exchange(script, nullptr)) now();
  }
  bool park_for(std::uint64_t) { return true; }
  bool unpark() { return true; }
};

}  // namespace garrick::sched::test
