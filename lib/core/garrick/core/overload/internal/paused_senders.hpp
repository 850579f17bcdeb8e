// Actors that have sent without credit, and do not run until the debt is paid.
//
// Problem: a handler that waits for credit holds a worker. A peer that is stopped grants nothing,
// so as many of its senders as there are workers would stop the whole system, again for each
// message. So an actor sends its message anyway, and pauses when its handler has returned: it keeps
// its run right, but no queue and no worker has it. The actor continues when no debt is left, when
// the receiver has ended, or when its patience is over.
//
// Invariants
// P1 The run right of a paused actor belongs to its record. The first to claim the record (a grant,
//    the receiver's end, or the clock) gets the run right, and schedules the actor. The thread that
//    pauses the actor does not touch it after the record was given to the clock, unless that thread
//    claims the record itself.
// P2 A pausing actor is in the list before it looks for credit once more, and a grant adds before
//    it looks for pausing actors (`begin_pause` and `ends_pauses` of basic_sender_credit). So one
//    of the two sees the other.
//
// Private to core.
//
// Thread safety: any thread.
#pragma once

#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/base/concurrency/spin_lock.hpp>
#include <garrick/base/memory/block_pool.hpp>
#include <garrick/base/time/clock.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace garrick::core {

/// The record of a paused actor. The clock, the list and the thread that made it each hold a
/// reference.
class paused_sender {
 public:
  paused_sender(base::runnable& who, base::executor& home, base::clock_service& clock) noexcept
      : who_(who), home_(home), clock_(clock) {}

  /// Throws std::bad_alloc.
  static void* operator new(std::size_t bytes) { return base::block_pool::allocate(bytes); }
  static void operator delete(void* at, std::size_t bytes) noexcept {
    base::block_pool::deallocate(at, bytes);
  }

  /// Gives the record to the clock for `patience`. Returns false if there is no memory for that.
  [[nodiscard]] bool arm(base::duration patience) noexcept;
  /// Returns true to one caller, which then has the run right of the actor.
  [[nodiscard]] bool claim() noexcept {
    // order: acq_rel, the scheduling thread comes after the pausing thread
    return !is_claimed_.exchange(true, std::memory_order_acq_rel);
  }
  [[nodiscard]] bool is_claimed() const noexcept {
    return is_claimed_.load(std::memory_order_relaxed);  // order: only tells the list to drop it
  }
  /// Schedules the actor. Requires that the caller has claimed the record.
  void schedule() noexcept { home_.schedule(who_); }
  /// Claims the record and schedules the actor, unless another thread has claimed it.
  void go_on() noexcept {
    if (claim()) schedule();
  }
  /// Cancels the call of the clock. Requires that the caller has claimed the record. The clock
  /// still exists then, since it claims its records before it ends.
  void disarm() noexcept;
  void add_holder() noexcept {
    holders_.fetch_add(1, std::memory_order_relaxed);  // order: the caller is one
  }
  void drop() noexcept {
    // order: acq_rel, the last holder frees the record after the others' uses
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  paused_sender* next = nullptr;  ///< the list's

 private:
  ~paused_sender() = default;

  base::runnable& who_;
  base::executor& home_;
  base::clock_service& clock_;
  base::timer_id timer_;  // written before the record is in the list
  std::atomic<bool> is_claimed_{false};
  std::atomic<std::uint32_t> holders_{1};
};

/// The list of paused actors.
class paused_senders {
 public:
  paused_senders() = default;
  /// Lets the paused actors continue.
  ~paused_senders() { go_on(); }
  paused_senders(const paused_senders&) = delete;
  paused_senders& operator=(const paused_senders&) = delete;

  /// Takes over the run right of `who` for at most `patience`, and forgets records that have been
  /// claimed. Returns the record with a reference for the caller, or null without memory.
  /// Afterwards the caller does not touch `who` unless it claims the record.
  [[nodiscard]] paused_sender* add(base::runnable& who, base::executor& home,
                                   base::clock_service& clock, base::duration patience) noexcept;
  /// Lets all paused actors continue.
  void go_on() noexcept;

 private:
  base::spin_lock lock_;
  paused_sender* first_ = nullptr;  // under lock_
  paused_sender* last_ = nullptr;   // under lock_
};

}  // namespace garrick::core
