// An actor's beginning, its failures, its restarts and its end.
//
// Thread safety: the runner, unless stated.
#pragma once

#include <garrick/core/cell/cell.hpp>

#include <exception>

namespace garrick::core::lifecycle {

/// Begins the first turn of an actor, or of its new object after a restart.
void begin(cell& self) noexcept;

/// Handles an exception that left user code while `e` (or nothing) was being handled: the
/// supervisor decides, or the actor ends. Finishes `e`.
void on_exception(cell& self, envelope* e, const std::exception_ptr& what) noexcept;

/// Called when the actor's last turn has ended: it ends, or its children have to end first, or its
/// supervisor keeps it. Returns false if it lives on; then the caller still runs it.
[[nodiscard]] bool reach_end(cell& self) noexcept;

/// Ends the actor: hooks, object, mail, watchers, system. The cell may be freed when this returns.
void conclude(cell& self) noexcept;

/// Ends the unreachable cells that this thread has collected: a bounded number of them here, and
/// the others where they are scheduled.
void reclaim_some() noexcept;

}  // namespace garrick::core::lifecycle
