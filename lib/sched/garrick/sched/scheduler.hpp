// The erased face of a worker pool: configuration chooses the policy when the system is built;
// after that, scheduling costs one indirect call and a message none.
//
//   auto pool = garrick::sched::make_scheduler({.workers = 2});
//   pool->start();
//   pool->schedule(some_runnable);
//   pool->stop();
//   pool->drain(sink, context);   // what never ran
//
// Thread safety: `schedule`, `claim`, `expose` (base::executor), `stats` and `worker_count` from
// any thread; `start`, `stop` and `drain` from one thread that is no worker of this pool.
#pragma once

#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/base/concurrency/thread_state.hpp>
#include <garrick/sched/policies/policy.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace garrick::sched {

/// Called on a worker thread. `context` is handed through.
struct thread_hook {
  void (*call)(void* context, std::uint32_t worker) = nullptr;
  void* context = nullptr;
};

struct scheduler_options {
  /// "work_stealing", "locality_guided", "work_sharing", "polling_default", "polling_custom",
  /// "polling_aggressive" or "polling_new".
  std::string policy = "work_stealing";
  std::uint32_t workers = 0;  ///< 0: as many as the process may use cores; at most 1024
  /// Fairness in messages: k runnables on one worker each run within k quanta; a run handles at
  /// most so many. `unlimited` allowed, 0 is not.
  std::uint32_t quantum = 1024;
  /// how long a worker looks for work before it sleeps; at most one second
  std::uint32_t idle_spin_us = 0;
  std::string thread_name = "garrick";  ///< of worker i: "<thread_name>-<i>"
  thread_hook on_thread_start{};        ///< before a worker's first run
  thread_hook on_thread_stop{};         ///< after its last
  /// Go on with fewer threads if some cannot be created (at least one), and unbound where binding
  /// fails.
  bool best_effort = false;

  // where the workers stand
  /// processors for worker threads, see affinity.hpp; empty: as `pin` says
  std::string affinity{};
  /// Each worker thread stays on its "unit", "cache" or "node", or anywhere in the "system";
  /// automatic: the node with locality_guided, else the system.
  std::string pin = "automatic";
  /// locality_guided: who is asked for work first, and may run one's actors: who shares the "cache"
  /// or the "node", or all of the "system".
  std::string neighbours = "cache";
  /// for tests: a synthetic topology instead of this machine's, see topology.hpp; nothing is bound
  /// then
  std::string machine{};
};

class scheduler : public base::executor {
 public:
  /// Stops if that has not been done. What was not drained is forgotten.
  virtual ~scheduler() = default;

  /// Starts the worker threads and returns when all of them are ready. Throws std::system_error,
  /// with no thread left behind, if one cannot be created or bound (and `best_effort` is not set).
  /// Runnables may be scheduled before.
  virtual void start() = 0;

  /// Lets every worker finish the run it is in, and joins them. Runnables that have not run stay
  /// queued. Nothing happens the second time.
  virtual void stop() noexcept = 0;

  /// After `stop`: hands every queued runnable, run right included, to `sink`, also those that
  /// `sink` schedules meanwhile. Returns how many.
  virtual std::size_t drain(void (*sink)(void* context, base::runnable& r), void* context) = 0;

  [[nodiscard]] virtual std::string_view policy_name() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t worker_count() const noexcept = 0;
  [[nodiscard]] virtual scheduler_stats stats() const noexcept = 0;

  /// The state of queues and sleepers in words, for a diagnosis; a picture taken while things move.
  [[nodiscard]] virtual std::string describe() const = 0;

  /// For the watchdog: worker `index`'s thread state, of which it may read the atomics. Valid
  /// between `start` and `stop`; null outside, or if that thread could not be created.
  [[nodiscard]] virtual base::thread_state* worker_state(std::uint32_t index) noexcept = 0;

  /// What a user should know of this pool, in plain words: what `best_effort` let pass, and why
  /// places make no difference.
  [[nodiscard]] virtual const std::vector<std::string>& warnings() const noexcept = 0;
};

/// The options with the number of workers filled in; for whoever builds a `worker_pool` of a policy
/// of their own. Throws std::invalid_argument that names the setting.
[[nodiscard]] scheduler_options checked(scheduler_options options);

/// Builds the pool; no thread runs yet. Throws std::invalid_argument that names the setting.
[[nodiscard]] std::unique_ptr<scheduler> make_scheduler(const scheduler_options& options = {});

}  // namespace garrick::sched
