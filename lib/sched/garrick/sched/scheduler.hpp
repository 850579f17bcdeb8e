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

}  // namespace garrick::sched
