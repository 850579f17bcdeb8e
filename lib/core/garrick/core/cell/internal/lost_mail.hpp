// Mail that will not be handled: a dead letter with its reason, and an error for the requester.
//
// Thread safety: stated per function.
#pragma once

#include <garrick/core/cell/cell.hpp>

#include <exception>
#include <string>

namespace garrick::core::lost_mail {

/// The message will not be handled: counts a dead letter and answers a request with `why`. Any
/// thread that owns `e`.
void lose(cell& receiver, envelope_ptr e, base::error why) noexcept;

/// The same for an envelope that the cell's own mailbox holds. The runner.
void lose_kept(cell& self, envelope* e, const base::error& why) noexcept;

/// Tells the dead letters about `e`, which stays the caller's. Any thread that owns `e`.
void report(cell& receiver, const envelope* e, const base::error& why) noexcept;

/// No handler takes `e`: dead letter, log, probe. The runner.
void report_unexpected(cell& self, envelope* e) noexcept;

/// What is answered to those who send to an actor that has ended. Any thread.
[[nodiscard]] base::error gone(const cell& receiver);

/// What requesters are told of an end for `reason`: its code is `receiver_failed` or
/// `receiver_gone`.
[[nodiscard]] base::error told_of_end(const cell& who, const base::exit_reason& reason);
/// The same with a code that the caller knows.
[[nodiscard]] base::error told_of_end(base::errc code, const cell& who,
                                      const base::exit_reason& reason);

/// The text of an exception.
[[nodiscard]] std::string text_of(const std::exception_ptr& what) noexcept;

}  // namespace garrick::core::lost_mail
