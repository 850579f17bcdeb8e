// Receivers that a send runs in place: on the sender's worker, inside its handler.
//
// Problem: a sender that floods a receiver on the same worker would fill its mailbox, and would
// then wait for a turn that this worker alone can give. So the send takes the receiver's run right
// out of the queue and runs it for a batch. That receiver may fill another one, and so on: the
// sends are nested, or the full receivers run one after the other, in a chain
// (docs/internals/overload.md).
//
// Thread safety: the sender's thread.
#pragma once

#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/core/cell/cell.hpp>

#include <cstdint>

namespace garrick::core::in_place {

/// Returns this worker's executor if `receiver` may run in a handler's send there; otherwise null.
[[nodiscard]] base::executor* executor_for(const cell& receiver) noexcept;
/// Returns true if the stack has room for one more send that runs a receiver.
[[nodiscard]] bool stack_has_room() noexcept;

/// Runs `receiver` for a batch if it waits for its turn and this thread may run it. If `must` is
/// true, the receiver runs now. Otherwise it may run after the present batch, or be queued for its
/// turn because this thread has run enough in place. Returns true in all these cases. Returns false
/// if the receiver does not wait for its turn, if this thread may not run it, or if the stack has
/// no room. In the last case the receiver is queued.
bool run(cell& receiver, bool must) noexcept;
/// The same for a receiver of which this thread has the run right. Returns false only if the stack
/// has no room; then the receiver is queued.
bool run_claimed(cell& receiver, bool must) noexcept;

/// Queues the receivers that this thread has claimed and not run yet, and wakes the senders that it
/// has left waiting. Called when the thread is about to wait for a receiver, which may itself wait
/// for one of these actors.
void hand_over() noexcept;

/// Called at the end of a batch of a receiver that runs in place. Returns true if senders wait for
/// it, but must not be woken after this batch. Requires `run_depth` > 1.
[[nodiscard]] bool overlooks_senders(const cell& receiver) noexcept;
/// Wakes the senders that were overlooked.
void wake_overlooked() noexcept;

/// Called when the outermost run has ended, if sends in it ran other receivers in place, or if a
/// debt ended it. Charges the budget with the whole round and with the messages of the others, so
/// that the worker's round counts all of its work (W3 of work_stealing.hpp). The rest of the budget
/// is negative then, modulo 2^32.
void charge(std::uint32_t& budget) noexcept;

/// Begins the count of messages run in place for the outermost handler, unless it has begun.
void begin_count() noexcept;

}  // namespace garrick::core::in_place
