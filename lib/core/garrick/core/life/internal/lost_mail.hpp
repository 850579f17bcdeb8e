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

/// Counts a message that will not be handled as a dead letter, and answers a request with `why`.
/// Any thread that owns `e`.
void lose(cell& receiver, envelope_ptr e, const base::error& why) noexcept;

/// The same for an envelope that the cell's own mailbox holds. The runner.
void lose_kept(cell& self, envelope* e, const base::error& why) noexcept;

/// Loses the message of a sender that waits for room, and tells the sender. Any thread that owns
/// the message.
void lose_parked(cell& receiver, const parked_message& p, const base::error& why) noexcept;

/// Answers `timeout` to a request from elsewhere that has run out of time, or was withdrawn, while
/// it waited. Returns true then, and the caller finishes `e`; otherwise the caller handles `e`. The
/// message is no dead letter, since the requester knows. For the runner that has taken `e` out.
[[nodiscard]] bool lose_overdue(envelope* e) noexcept;

/// Like `lose_kept`, after a handler has failed with `why`: for its message, and for the requests
/// of promises that the exception dropped on its way. Without a message (null), only for these
/// requests. The runner.
void lose_failed(cell& self, envelope* e, const base::error& why) noexcept;

/// Keeps `r` after an exception in the running handler has dropped its promise. The answer depends
/// on the way of the exception: the handler fails with it (`lose_failed`), or catches it. Returns
/// false without memory: `r` stays the caller's. The runner.
[[nodiscard]] bool keep_unkept(cell& self, pending_request r) noexcept;
/// Answers the requests of promises that an exception has dropped. The runner.
void answer_unkept(cell& self, const base::error& why) noexcept;

/// Reports `e` as a dead letter; `e` stays the caller's. Any thread that owns `e`.
void report(cell& receiver, const envelope* e, const base::error& why) noexcept;

/// Answers `e`, if it is a request, with an error: its handler has neither answered it nor kept its
/// promise, and the requester would wait for ever. The runner.
void answer_unanswered(const cell& self, envelope* e) noexcept;

/// Reports `e` as a dead letter with the reason that no handler takes it. The runner.
void report_unexpected(cell& self, envelope* e) noexcept;

/// Returns the error for senders to an actor that has ended. Any thread.
[[nodiscard]] base::error gone(const cell& receiver) noexcept;

/// Returns the answer of the promises that an actor drops when it ends for `reason`. A handler has
/// seen their requests, so the answer is `receiver_failed` or, if nothing has failed,
/// `broken_promise`.
[[nodiscard]] base::error told_of_promises(const cell& who,
                                           const base::exit_reason& reason) noexcept;
/// Returns the error `code`. If the actor has failed, or its reason has a text, the error names the
/// actor and has that text; otherwise it is the code alone.
[[nodiscard]] base::error told_of_end(base::errc code, const cell& who,
                                      const base::exit_reason& reason) noexcept;

/// Returns the text of an exception.
[[nodiscard]] std::string text_of(const std::exception_ptr& what) noexcept;

}  // namespace garrick::core::lost_mail
