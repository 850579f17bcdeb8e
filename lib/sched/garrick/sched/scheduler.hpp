// The interface of a worker pool with any policy. A setting chooses the policy when the system is
// built (shipped_policies.hpp); after that, scheduling costs one indirect call, and a message costs
// none.
//
//   auto pool = garrick::sched::make_scheduler({.workers = 2});
//   pool->start();
//   pool->schedule(some_runnable);
//   pool->stop();
//   pool->drain(sink, context);   // the runnables that never ran
//
// A scheduler of your own may count the workers that wait inside handlers, as `worker_pool` does
// (`begin_wait`, `all_wait`, `when_all_wait`). Without such a count, workers that all wait in sends
// go on only when the time limit of a wait has passed.
//
// Thread safety: the functions of base::executor, `stats` and `worker_count` may be called from any
// thread; `start`, `stop` and `drain` from one thread that is not a worker of this pool.
// `when_all_wait` must be called before all others.
#pragma once

#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/base/concurrency/thread_state.hpp>
#include <garrick/sched/policies/policy.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace garrick::sched {

/// A pool of worker threads that runs runnables.
class scheduler : public base::executor {
 public:
  /// Stops, if `stop` was not called. Runnables that were not drained are forgotten.
  virtual ~scheduler() = default;

  /// Starts the worker threads, and returns when all of them are ready. Runnables may be scheduled
  /// before. Does nothing the second time.
  ///
  /// Throws std::system_error, with no thread left behind, if a thread cannot be created or bound
  /// and `best_effort` is not set.
  virtual void start() = 0;

  /// Lets every worker finish its present run, and joins the workers. So it blocks as long as a
  /// handler runs. Runnables that have not run stay queued. Does nothing the second time.
  virtual void stop() noexcept = 0;

  /// After `stop`: hands every queued runnable to `sink`, with its run right, also runnables
  /// that `sink` itself schedules. Returns their number.
  virtual std::size_t drain(void (*sink)(void* context, base::runnable& r), void* context) = 0;

  /// Returns the policy's name. Any thread.
  [[nodiscard]] virtual std::string_view policy_name() const noexcept = 0;
  /// Returns the number of workers that were asked for; with `best_effort` fewer may run. Any
  /// thread.
  [[nodiscard]] virtual std::uint32_t worker_count() const noexcept = 0;
  /// Returns the sums over all workers so far. Any thread.
  [[nodiscard]] virtual scheduler_stats stats() const noexcept = 0;

  /// Returns the figures of worker `index` so far; all zero if its thread could not be created.
  /// Returns nullopt if the pool has no such worker, or its policy keeps no figures of workers. Any
  /// thread.
  [[nodiscard]] virtual std::optional<worker_stats> worker_statistics(
      std::uint32_t index) const noexcept = 0;

  /// Returns the state of queues and sleepers in words, for a diagnosis. The workers continue
  /// meanwhile, so the parts may contradict each other. Any thread.
  [[nodiscard]] virtual std::string describe() const = 0;

  /// Returns the state of worker `index`'s thread; the watchdog may read its atomics. Valid between
  /// `start` and `stop`. Returns null outside this time, and if that thread could not be created.
  /// Any thread.
  [[nodiscard]] virtual base::thread_state* worker_state(std::uint32_t index) noexcept = 0;

  /// Returns the pool's warnings to the user, in plain words: the failures that `best_effort` let
  /// pass, and the reason why places make no difference. Complete after `start`.
  [[nodiscard]] virtual const std::vector<std::string>& warnings() const noexcept = 0;
};

}  // namespace garrick::sched
