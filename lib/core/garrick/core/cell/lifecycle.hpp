// The rare paths of a cell: signals, failures, the end, responses, and what cannot be delivered.
//
// Thread safety: the runner, unless stated.
#pragma once

#include <garrick/core/cell/cell.hpp>

#include <exception>

namespace garrick::core::lifecycle {

/// The message will not be handled: counts a dead letter and answers a request with `why`; frees
/// the envelope. Any thread that owns `e`.
void lose(cell& receiver, envelope* e, base::error why) noexcept;

/// What is answered to those who send to an actor that has ended. Any thread.
[[nodiscard]] base::error gone(const cell& receiver);

/// The same for an envelope that the cell's own mailbox holds. The runner.
void lose_kept(cell& self, envelope* e, const base::error& why) noexcept;

/// Tells the dead letters about `e`, which stays the caller's. Any thread that owns `e`.
void report_lost(cell& receiver, const envelope* e, const base::error& why) noexcept;

/// After a signal was linked to a cell that has ended: answers what expects an answer. Any thread.
void answer_signals_of_the_dead(cell& dead) noexcept;

/// Ends the unreachable cells that this thread collected.
void reclaim_all() noexcept;

/// One message of the system lane. The caller frees the envelope.
void on_signal(cell& self, envelope* e);

/// A response: finds who waits for it.
dispatch_outcome on_response(cell& self, envelope* e);

/// No handler takes `e`: dead letter, log, probe.
void report_unexpected(cell& self, envelope* e) noexcept;

/// An exception left user code while `e` (or nothing) was being handled: supervision or the end.
void on_exception(cell& self, envelope* e, const std::exception_ptr& what) noexcept;

/// The actor's last turn is over: it ends, or its children have to end first, or its supervisor
/// keeps it. False: it lives on, and the caller still runs it.
[[nodiscard]] bool reach_end(cell& self) noexcept;

/// The end: hooks, object, mail, watchers, system. The cell may be freed when this returns.
void conclude(cell& self) noexcept;

/// Skipped messages are tried again, in their order, before everything else.
void retry_skipped(cell& self) noexcept;

/// The text of an exception.
[[nodiscard]] std::string text_of(const std::exception_ptr& what) noexcept;

}  // namespace garrick::core::lifecycle
