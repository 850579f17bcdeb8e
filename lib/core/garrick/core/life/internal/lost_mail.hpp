// Mail that will not be handled: a dead letter with its reason, and an error for the requester.
//
// Thread safety: stated per function.
#pragma once

#include <garrick/core/cell/cell.hpp>
#include <garrick/core/life/respond.hpp>

#include <exception>
#include <string>

namespace garrick::core {
struct parked_message;
}

namespace garrick::core::lost_mail {

/// The message will not be handled: counts a dead letter and answers a request with `why`. Any
/// thread that owns `e`.
void lose(cell& receiver, envelope_ptr e, const base::error& why) noexcept;

/// The same for an envelope that the cell's own mailbox holds. The runner.
void lose_kept(cell& self, envelope* e, const base::error& why) noexcept;

/// The message of a sender that waits for room is lost, and the sender is told. Any thread that
/// owns the message.
void lose_parked(cell& receiver, const parked_message& p, const base::error& why) noexcept;

/// A request from elsewhere whose time was over, or that was withdrawn, while it waited: answers
/// `timeout`, and `e` is to be finished. False: it is to be handled. No dead letter: who has asked
/// knows. The runner that has taken it out.
[[nodiscard]] bool lose_overdue(envelope* e) noexcept;

/// As `lose_kept`, for a message whose handler has failed with `why`, and for those whose promises
/// the exception dropped on its way. Without a message (null), only for those. The runner.
void lose_failed(cell& self, envelope* e, const base::error& why) noexcept;

/// An exception that is on its way out of the running handler has dropped the promise of `r`. Only
/// who sees where it goes knows what to answer: the handler fails with it (`lose_failed`), or
/// catches it. False without memory: `r` stays the caller's. The runner.
[[nodiscard]] bool keep_unkept(cell& self, pending_request r) noexcept;
/// Answers those whose promises an exception has dropped. The runner.
void answer_unkept(cell& self, const base::error& why) noexcept;

/// Tells the dead letters about `e`, which stays the caller's. Any thread that owns `e`.
void report(cell& receiver, const envelope* e, const base::error& why) noexcept;

/// A handler has taken `e`, and neither answered it nor kept its promise: a requester must not wait
/// for ever. The runner.
void answer_unanswered(const cell& self, envelope* e) noexcept;

/// No handler takes `e`: dead letter, log, probe. The runner.
void report_unexpected(cell& self, envelope* e) noexcept;

/// What is answered to those who send to an actor that has ended. Any thread.
[[nodiscard]] base::error gone(const cell& receiver) noexcept;

/// What the promises say that go with an actor which ends for `reason`: a handler has seen those
/// requests, so it is `receiver_failed` or, if nothing has failed, `broken_promise`.
[[nodiscard]] base::error told_of_promises(const cell& who,
                                           const base::exit_reason& reason) noexcept;
/// An error that names the actor and why it ended.
[[nodiscard]] base::error told_of_end(base::errc code, const cell& who,
                                      const base::exit_reason& reason) noexcept;

/// The text of an exception.
[[nodiscard]] std::string text_of(const std::exception_ptr& what) noexcept;

}  // namespace garrick::core::lost_mail
