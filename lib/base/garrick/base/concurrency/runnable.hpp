// What the scheduler runs and who runs it: the two interfaces between the actor model (core) and
// the scheduler (sched).
//
// The token: a runnable that waits in a queue can be claimed by a thread that would rather run it
// now than wait for it (a sender whose receiver is over its limit). The queue entry then stays
// behind, *stale*; whoever takes it out finds that and drops it.
// T1 The holder of the run right calls `offer` before it puts the runnable into a queue that others
//     can reach; if that returns false the old entry has become valid again, and nothing is queued.
//     A runnable that was never offered (a private next slot) cannot be claimed with `claim`.
// T2 Of one `take` and one `claim` of an offered runnable exactly one succeeds, and gets the run
// right.
// T3 A runnable with a stale entry is not freed by its owner but by whoever takes the entry out
// (`retire`, `dispose`). The token itself is in run_token.hpp, and is model-checked.
//
// core never sees a worker, a queue or a policy; sched never sees an actor or a message. A policy
// can be swapped, and the testkit can drive actors, with no change to an actor (paper 001 §6).
//
// Thread safety: stated per function.
#pragma once

#include <garrick/base/concurrency/locality.hpp>
#include <garrick/base/concurrency/run_token.hpp>

#include <cstdint>

namespace garrick::base {

/// What `runnable::run` left behind.
enum class run_outcome : std::uint8_t {
  /// the run right is gone: the runnable may be running elsewhere or be freed; do not touch it
  released,
  /// used its budget, still holds the run right: the caller must queue it again (at the back)
  more,
};

/// Something that can hold the run right of a worker. Exactly one queue or one worker holds a
/// runnable at a time (invariant I1 of docs/internals/mailbox.md), so its queue link needs no
/// protection.
class runnable {
 public:
  /// Handles at most `budget` messages and subtracts those handled (at least one, for fairness
  /// accounting). Called by whoever holds the run right; never concurrently.
  virtual run_outcome run(std::uint32_t& budget) noexcept = 0;

  /// Frees the memory of a runnable that its owner has given up (T3). Nothing where somebody else
  /// owns the memory and keeps it until the executor is gone.
  virtual void dispose() noexcept {}

  /// Holder of the run right: true: put it into a queue now; false: the stale entry in a queue is
  /// valid again (T1).
  [[nodiscard]] bool offer() noexcept { return token_.offer(); }

  /// Whoever took it out of a queue: true: the run right is here; false: forget the pointer. Also
  /// true for what was never offered.
  [[nodiscard]] bool take() noexcept {
    const take_outcome o = token_.take();
    if (o == take_outcome::orphan) [[unlikely]]
      dispose();
    return o == take_outcome::taken;
  }

  /// Any thread that keeps the runnable alive: true: it waited in a queue, and the run right is
  /// here now (T2).
  [[nodiscard]] bool claim() noexcept { return token_.claim(); }

  /// Does it wait in a queue that others can reach? Any thread that keeps the runnable alive; an
  /// estimate.
  [[nodiscard]] bool is_queued() const noexcept { return token_.is_queued(); }

  /// Holder of the run right: must `offer` be asked before it goes into a private slot?
  [[nodiscard]] bool has_stale_entry() const noexcept { return token_.has_stale_entry(); }

  /// The owner, at the end: true: free it; false: a stale entry is left, `dispose` will be called
  /// (T3).
  [[nodiscard]] bool retire() noexcept { return token_.retire(); }

  runnable* queue_link = nullptr;  ///< owned by the queue that holds this runnable
  /// where it wishes to run; the policy's, once it has been scheduled
  locality place;

 protected:
  runnable() = default;
  ~runnable() = default;
  runnable(const runnable&) = delete;
  runnable& operator=(const runnable&) = delete;

 private:
  run_token<> token_;
};

/// Runs runnables: a worker pool, one detached thread, or the testkit's single deterministic
/// thread.
class executor {
 public:
  /// Takes over the run right of `r` and runs it soon. Any thread. Never runs `r` before it
  /// returns, never throws, never blocks on user code.
  virtual void schedule(runnable& r) noexcept = 0;

  /// If `r` waits in a queue, or in the calling worker's own next slot, gives its run right to the
  /// caller, a worker of this executor. False elsewhere. Requires that the caller keeps `r` alive.
  virtual bool claim(runnable& r) noexcept = 0;

  /// True: `r` was the next that the calling worker would have run, told to nobody, and its run
  /// right is the caller's now. `r` is compared, not touched: it may be gone.
  virtual bool claim_next(const runnable* r) noexcept {
    static_cast<void>(r);
    return false;
  }

  /// The system's number of the memory node where a runnable with this hint, spawned by the calling
  /// thread, will live; -1: any will do.
  [[nodiscard]] virtual std::int32_t memory_node(locality_hint hint) const noexcept {
    static_cast<void>(hint);
    return -1;
  }

  /// The calling worker is about to wait or to stay busy: makes what only it could take available
  /// to the others. No effect on other threads.
  virtual void expose() noexcept = 0;

 protected:
  ~executor() = default;
};

}  // namespace garrick::base
