// The state that core keeps for each thread: the cells on the stack, the receivers that run in
// place, the cells to reclaim, a block of ids.
//
// Private: installed with its room; the testkit numbers actors through it.
//
// Owner: the thread itself; no other thread reads it.
#pragma once

#include <garrick/core/cell/stacked_actor.hpp>

#include <cstddef>
#include <cstdint>

namespace garrick::base {
class error;
}
namespace garrick::core {
class cell;
class drain_lot;
class waking_together;
}  // namespace garrick::core

namespace garrick::core::detail {

class running_behavior;

/// A send that runs receivers in place, one after the other (docs/internals/overload.md). It lies
/// on the sender's stack.
struct in_place_chain {
  /// A full receiver of the cell that runs: its run right is this thread's, and it runs when the
  /// present batch has ended.
  cell* next = nullptr;
  /// the cell that the running cell woke last; compared, not touched: it may be gone
  cell* woken = nullptr;
  in_place_chain* outer;  ///< the chain of a send further down the stack
};

struct thread_context {
  cell* running = nullptr;  ///< the innermost cell with a handler on the stack
  /// the cells that run `running` in place, in their sends, the innermost first
  const stacked_actor* below = nullptr;
  /// the cell that builds its object: the base class of the object asks for it
  cell* constructing = nullptr;
  /// unreachable cells to end after the current handler, linked by `queue_link`
  cell* reclaim = nullptr;
  /// 1: a worker runs a cell; 2: a send of its handler runs a receiver in place; and so on
  std::uint32_t run_depth = 0;
  std::uint32_t in_place_batches = 0;  ///< the batches after which senders were left waiting
  /// doublings of the time for which a send waits for a full receiver without progress
  std::uint8_t wait_doublings = 0;
  /// The present handler's sends ran receivers in place, or filled the receiver that runs next:
  /// this batch ends after its present message and, at depth 1, the worker's round.
  bool batch_over = false;
  /// The number of messages that the present handler has sent without credit, and the receiver of
  /// the first, weakly held. The actor pauses when the handler has returned.
  std::uint8_t owed = 0;
  cell* owes_to = nullptr;
  in_place_chain* chain = nullptr;    ///< the innermost; null: nothing runs in place
  waking_together* waking = nullptr;  ///< the innermost; null: a woken actor is scheduled at once
  /// the position of the stack when the first of the present sends began to run receivers in place
  std::uintptr_t in_place_stack = 0;
  /// `thread_state::turns` when the outermost handler first ran a receiver in place
  std::uint64_t in_place_since = 0;
  /// id of the receiver that the present handler ran in place last
  std::uint64_t last_in_place = 0;
  /// id of a receiver that ran in place without waking its waiting senders; 0: none
  std::uint64_t overlooked = 0;
  drain_lot* overlooked_in = nullptr;
  /// the answer of a promise that is dropped now; null: broken_promise
  const base::error* drop_reason = nullptr;
  running_behavior* behavior = nullptr;  ///< the innermost behavior with a running case
  std::uint64_t next_id = 0;
  std::uint64_t last_id = 0;
};

inline constinit thread_local thread_context here{};

}  // namespace garrick::core::detail

namespace garrick::core {

/// Schedules together the actors that a thread wakes while it delivers much mail: at the end of the
/// scope, in order. Actors with a bounded mailbox are scheduled at once.
///
/// A push that finds an actor idle usually schedules the actor. A worker that wakes for the actor
/// may take the processor from the pushing thread. Then the worker finds one message, sleeps again,
/// and is woken for the next message. Between such a push and the scheduling the pusher has the run
/// right, and pushes of other threads are only queued (I1 of mailbox.hpp). So the pusher may push
/// more messages before it schedules.
///
/// Inside the scope no code waits for an actor, and no actor runs in place (`no_wait_scope`).
class waking_together {
 public:
  waking_together() noexcept : outer_(detail::here.waking) { detail::here.waking = this; }
  /// Schedules the actors.
  ~waking_together();
  waking_together(const waking_together&) = delete;
  waking_together& operator=(const waking_together&) = delete;

 private:
  friend class cell;
  /// Requires that the actor has left no entry in a queue, so that its `queue_link` is free.
  void add(cell& woken) noexcept;

  waking_together* const outer_;
  cell* first_ = nullptr;  ///< the woken actors; their run right is this thread's
  cell* last_ = nullptr;
};

}  // namespace garrick::core
