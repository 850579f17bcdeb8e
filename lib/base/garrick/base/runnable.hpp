// What the scheduler runs and who runs it: the two interfaces between the actor model (core) and the scheduler (sched).
//
// core never sees a worker, a queue or a policy; sched never sees an actor or a message. A policy can be swapped, and the testkit can
// drive actors, with no change to an actor (paper 001 §6).
//
// Thread safety: stated per function.
#pragma once

#include <cstdint>

namespace garrick::base {

/// What `runnable::run` left behind.
enum class run_outcome : std::uint8_t {
  released,  ///< the run right is gone: the runnable may be running elsewhere or be freed; do not touch it
  more,      ///< used its budget, still holds the run right: the caller must queue it again (at the back)
};

/// Where the scheduler would like to place a runnable; a wish that never breaks correctness.
struct locality_hint {
  static constexpr std::uint16_t anywhere = 0xffff;
  std::uint16_t home = anywhere;  ///< index of the home worker, set by the policy at first execution
};

/// Something that can hold the run right of a worker. Exactly one queue or one worker holds a runnable at a time
/// (invariant I1 of docs/decisions/0001-hot-path.md), so its queue link needs no protection.
class runnable {
 public:
  /// Handles at most `budget` messages and subtracts those handled (at least one, for fairness accounting).
  /// Called by whoever holds the run right; never concurrently.
  virtual run_outcome run(std::uint32_t& budget) noexcept = 0;

  runnable* queue_link = nullptr;  ///< owned by the queue that holds this runnable
  locality_hint hint{};            ///< owned by the policy

 protected:
  runnable() = default;
  ~runnable() = default;
  runnable(const runnable&) = delete;
  runnable& operator=(const runnable&) = delete;
};

/// Runs runnables: a worker pool, one detached thread, or the testkit's single deterministic thread.
class executor {
 public:
  /// Takes over the run right of `r` and runs it soon. Any thread. Never runs `r` before it returns, never throws, never blocks on user code.
  virtual void schedule(runnable& r) noexcept = 0;

  /// If `r` waits in the calling worker's own next slot, takes it out and gives its run right to the caller. False on any other thread or place.
  virtual bool claim(runnable& r) noexcept = 0;

  /// The calling worker is about to wait or to stay busy: makes what only it could take available to the others. No effect on other threads.
  virtual void expose() noexcept = 0;

 protected:
  ~executor() = default;
};

}  // namespace garrick::base
