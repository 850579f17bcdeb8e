// Runnables and their executors: the two interfaces between the actor model (core) and the
// scheduler (sched).
//
// core never sees a worker, a queue or a policy; sched never sees an actor or a message. A policy
// can be swapped, and the testkit can drive actors, with no change to an actor (paper 001 §6 of
// docs/papers.md).
//
// The token: a runnable that waits in a queue can be claimed by a thread that would rather run it
// now than wait for it (a sender whose receiver is over its limit). The queue entry then stays
// behind, *stale*; the thread that takes it out drops it. The token itself is in run_token.hpp, and
// is model-checked.
//
// Thread safety: stated per function.
//
// Invariants
// T1 The holder of the run right calls `offer` before it puts the runnable into a queue that other
//    threads can reach; if `offer` returns false the old entry has become valid again, and nothing
//    is queued. A runnable that was never offered (a private next slot) cannot be claimed with
//    `claim`.
// T2 Of one `take` and one `claim` of an offered runnable exactly one succeeds, and gets the run
//    right.
// T3 A runnable with a stale entry is not freed by its owner but by the thread that takes the entry
//    out (`retire`, `dispose`).
#pragma once

#include <garrick/base/concurrency/locality.hpp>
#include <garrick/base/concurrency/run_token.hpp>

#include <cstdint>
#include <memory>

namespace garrick::base {

/// The state that `runnable::run` left behind.
enum class run_outcome : std::uint8_t {
  /// the run right is gone: the runnable may run elsewhere or be freed, so do not touch it
  released,
  /// the budget is used up, and the caller still holds the run right: it must queue the runnable
  /// again, at the back
  more,
};

/// Something that a worker can run: an actor, as the scheduler sees it. Exactly one queue or worker
/// holds its run right (I1 of docs/internals/mailbox.md); a stale entry holds only the link (T1).
/// So the queue link needs no protection.
class runnable {
 public:
  /// Handles at most `budget` messages, and subtracts their number from it. If it has run other
  /// receivers in place it subtracts the whole budget and the number of their messages, modulo
  /// 2^32. Called by the holder of the run right, never by two threads at once.
  virtual run_outcome run(std::uint32_t& budget) noexcept = 0;

  /// Frees the memory of a runnable that its owner has given up (T3). Does nothing if the memory
  /// has another owner that keeps it until the executor is gone.
  virtual void dispose() noexcept {}

  /// Prepares the runnable for a queue. Returns true if it must go into a queue now; false if its
  /// stale entry in a queue is valid again (T1). For the holder of the run right.
  [[nodiscard]] bool offer() noexcept { return token_.offer(); }

  /// Takes the run right that a queue's entry stands for. Returns true if the caller has the run
  /// right now, also if the runnable was never offered; false if the caller must forget the
  /// pointer. For the thread that took the entry out of a queue. Always inlined, since every run
  /// begins with it.
  [[nodiscard, gnu::always_inline]] bool take() noexcept {
    const take_outcome outcome = token_.take();
    if (outcome == take_outcome::orphan) [[unlikely]]
      dispose();
    return outcome == take_outcome::taken;
  }

  /// Takes the run right out of a queue. Returns true if the runnable waited in a queue; the caller
  /// then holds its run right (T2). For any thread that keeps the runnable alive.
  [[nodiscard]] bool claim() noexcept { return token_.claim(); }

  /// Returns true if the runnable waits in a queue that other threads can reach; an estimate. For
  /// any thread that keeps the runnable alive.
  [[nodiscard]] bool is_queued() const noexcept { return token_.is_queued(); }

  /// Returns true if an old entry is left in a queue: the runnable then needs an `offer` to be
  /// queued. If false, `queue_link` is free, and the runnable may go into a private slot without
  /// an `offer`. For the holder of the run right.
  [[nodiscard]] bool has_stale_entry() const noexcept { return token_.has_stale_entry(); }

  /// Gives the runnable up. For the owner, at the end. Returns true if the caller must free it;
  /// false if a stale entry is left and `dispose` will be called (T3).
  [[nodiscard]] bool retire() noexcept { return token_.retire(); }

  runnable* queue_link = nullptr;  ///< of the queue that holds this runnable or is about to hold it
  /// the wish where to run; belongs to the policy once the runnable has been scheduled
  locality place;

 protected:
  runnable() = default;
  ~runnable() = default;
  runnable(const runnable&) = delete;
  runnable& operator=(const runnable&) = delete;

 private:
  run_token<> token_;
};

class leader_seat;

/// Runs runnables: a worker pool, one detached thread, or the testkit's single deterministic
/// thread.
class executor {
 public:
  /// Takes over the run right of `r`. Another thread may run `r` before this function returns; the
  /// function itself never runs it. Any thread. Never blocks on user code; waits at most for a lock
  /// that is held for a few instructions.
  virtual void schedule(runnable& r) noexcept = 0;

  /// Gives the run right of `r` to the caller if `r` waits in a queue, or in the calling worker's
  /// own next slot. Returns false if `r` waits in neither, or the caller is not a worker of this
  /// executor. Requires that the caller keeps `r` alive.
  virtual bool claim(runnable& r) noexcept = 0;

  /// Gives the run right of `r` to the caller if the calling worker would run `r` next and no other
  /// thread knows of it; otherwise returns false. `r` is compared, not touched: it may be gone.
  virtual bool claim_next(const runnable* r) noexcept {
    static_cast<void>(r);
    return false;
  }

  /// Returns the operating system's number of the memory node where a runnable with this hint will
  /// live if the calling thread spawns it; -1 if any node will do.
  [[nodiscard]] virtual std::int32_t memory_node(locality_hint hint) const noexcept {
    static_cast<void>(hint);
    return -1;
  }

  /// Returns the number of runnables that the executor can run at the same time. Any thread.
  [[nodiscard]] virtual std::uint32_t concurrency() const noexcept { return 1; }

  /// Makes work that only the calling worker could take available to the other workers. A worker
  /// calls it before it waits or stays busy. Does nothing on a thread that is not a worker of this
  /// executor.
  virtual void expose() noexcept = 0;

  /// Called before the calling thread waits inside a handler: exposes its work. If the thread is a
  /// worker of this executor, it counts as waiting until `end_wait`.
  virtual void begin_wait() noexcept { expose(); }
  /// Ends the wait of the thread that has called `begin_wait`.
  virtual void end_wait() noexcept {}
  /// Returns true if all workers wait inside handlers; an estimate. Returns false if this executor
  /// does not count them. Any thread.
  [[nodiscard]] virtual bool all_wait() const noexcept { return false; }
  /// Registers `call`. The executor calls `call(context)` whenever all workers wait and something
  /// is queued, on the thread that caused this. An executor that does not count its waiting workers
  /// never calls it. Must be used before any other thread can reach the executor. `call` must not
  /// block.
  virtual void when_all_wait(void (*call)(void* context) noexcept, void* context) noexcept {
    static_cast<void>(call);
    static_cast<void>(context);
  }

  /// Returns the seat on which idle workers wait for a loop's events; null if they sleep instead.
  /// Any thread.
  [[nodiscard]] virtual std::shared_ptr<leader_seat> seat() const noexcept { return nullptr; }

 protected:
  ~executor() = default;
};

}  // namespace garrick::base
