// An actor that awaits a response: its mail stays in the mailbox, and the actor takes only
// responses that may pass the await.
//
// Problem: an actor that awaits once for each of many messages must not touch all waiting messages
// each time. So the mailbox's queues are held (mailbox.hpp). New arrivals are sorted once, when
// they are taken, and passing responses go into a queue of their own, `cell_extension::answers`.
//
// These responses pass: awaited ones, parts of a larger request (`inner`), those without a
// continuation yet (they are kept with their request) and those of requests that are over. A
// response to `then` waits in its place.
//
// Thread safety: the runner.
//
// Invariants: W1 While a request is awaited, the mailbox is held. W2 While it is held, each passing
// response that was taken is in `answers` or kept with its request. W3 The hold ends only when
// nothing is awaited and `answers` is empty. W4 When the hold ends, the silence of a receive
// time-out starts again.
#pragma once

#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/extension.hpp>

namespace garrick::core::awaiting {

/// Lets the actor await the response to `id` from now on.
void begin(cell& self, std::uint64_t id);

/// Called after an awaited request was answered or withdrawn, and has left the list.
void changed(cell& self, cell_extension& x) noexcept;

/// Keeps a response that came before its turn, or before its await, with its request. Of two
/// responses to one request, keeps the first.
[[nodiscard]] dispatch_outcome keep(cell& self, response_table::slot& s, envelope* e) noexcept;

/// Hands a response to its continuation. Passes exceptions of user code on.
[[nodiscard]] dispatch_outcome on_response(cell& self, envelope* e);

/// Sorts the arrivals at a held mailbox.
void sort_arrivals(cell& self) noexcept;

/// Returns the response that the actor handles next although its mailbox is held, and leaves it in
/// its queue. Returns null if there is none, or if the mailbox is no longer held.
[[nodiscard]] envelope* peek(cell& self) noexcept;
/// Like `peek`, and takes the response.
[[nodiscard]] envelope* next(cell& self) noexcept;

/// Cancels the awaited requests.
void cancel(cell& self, cell_extension& x) noexcept;

}  // namespace garrick::core::awaiting
