// What a system can be told when it is built. Configuration from files, the environment and the
// command line fills the same structure (config.hpp).
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/core/cell/environment.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace garrick::base {
class probe;
}
namespace garrick::sched {
class scheduler;
struct scheduler_options;
}  // namespace garrick::sched

namespace garrick::system {

enum class log_level : std::uint8_t { debug, info, warning, error, off };

struct options {
  // scheduler
  /// "work_stealing", "locality_guided", "work_sharing", "polling_default", "polling_custom",
  /// "polling_aggressive" or "polling_new".
  std::string policy = "work_stealing";
  std::uint32_t workers = 0;  ///< 0: as many as the process may use cores
  /// microseconds that a worker looks for work before it sleeps
  std::uint32_t idle_spin_us = 0;
  /// go on with fewer worker threads if some cannot be created, or unbound
  bool best_effort = false;
  std::string thread_name = "garrick";  ///< at most 10 bytes; each thread adds its number or task

  // where threads run: sched/places/affinity.hpp and sched/scheduler_options.hpp
  /// of worker threads: "<0> <2-4>": each takes the next group; empty: as `pin` says
  std::string affinity{};
  std::string affinity_detached{};  ///< of the threads of detached actors
  std::string affinity_blocking{};  ///< of the threads of blocking actors
  /// each worker stays on its "unit", "cache" or "node", or anywhere in the "system"
  std::string pin = "automatic";
  /// locality_guided: who shares the "cache", the "node" or the "system" is near
  std::string neighbours = "cache";
  std::string machine{};  ///< for tests: a synthetic machine instead of this one

  // actors: limits, quantum, in-place running
  core::settings limits{};

  /// for detached and blocking actors at most; 0: none, and every such spawn fails
  std::uint32_t detached_threads = 1024;
  /// dead letters that may wait in a subscriber's mailbox; more are only counted
  std::uint32_t dead_letter_backlog = 10'000;
  /// a longer handler is reported, a detached one after 30 times that, once; zero: off
  base::duration watchdog_after = base::duration::seconds(1);
  /// for the destructor, each of its two phases
  base::duration shutdown_deadline = base::duration::seconds(10);
  log_level log = log_level::warning;
  /// name the actor on standard error before the process aborts
  bool report_stack_overflow = true;

  // interfaces; null: the real ones
  base::probe* probe = nullptr;
  /// Builds a scheduler with a policy of the program's own instead of the one that `policy` names.
  /// Gets the settings above, checked and with the number of workers.
  std::unique_ptr<sched::scheduler> (*make_scheduler)(const sched::scheduler_options&) = nullptr;
};

}  // namespace garrick::system
