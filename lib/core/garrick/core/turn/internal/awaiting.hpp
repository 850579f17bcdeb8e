// What an actor does while it awaits a response: its mail stays where it is, and only what may pass
// the await is taken.
//
// Problem: an actor that awaits once for each of many messages must not touch all that wait each
// time. So the mailbox's queues are held (mailbox.hpp). New arrivals are sorted once, when they are
// taken, and what passes goes into a queue of its own, `cell_extension::answers`.
//
// What passes: responses that are awaited, parts of a larger request (`inner`), those that nobody
// waits for yet (they are kept with their request) and those that nobody waits for any more. A
// response to `then` waits in its place.
//
// Thread safety: the runner.
//
// Invariants: W1 While a request is awaited, the mailbox is held. W2 While it is held, everything
// that passes and was taken is in `answers` or kept with its request. W3 It is let go only when
// nothing is awaited and `answers` is empty. W4 When it is let go, the silence of a receive
// time-out begins anew.
#pragma once

#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/extension.hpp>

namespace garrick::core::awaiting {

/// From now on the actor awaits the response to `id`.
void begin(cell& self, std::uint64_t id);

/// An awaited request was answered or withdrawn, and is no longer in the list.
void changed(cell& self, cell_extension& x) noexcept;

/// What came before its turn, or before somebody waited for it, is kept with its request; of two,
/// the first.
[[nodiscard]] dispatch_outcome keep(cell& self, response_table::slot& s, envelope* e) noexcept;

/// Hands a response to its continuation. May throw what user code throws.
[[nodiscard]] dispatch_outcome on_response(cell& self, envelope* e);

/// Sorts what has arrived at a mailbox that is held.
void sort_arrivals(cell& self) noexcept;

/// What the actor handles next although its mailbox is held; left where it is. Null: nothing, or
/// the mailbox is not held any more.
[[nodiscard]] envelope* peek(cell& self) noexcept;
/// The same, taken.
[[nodiscard]] envelope* next(cell& self) noexcept;

/// The awaited requests are cancelled.
void cancel(cell& self, cell_extension& x) noexcept;

}  // namespace garrick::core::awaiting
