// Mail that another process takes, as its senders find it: each message to a proxy takes a credit,
// which the place that has the room grants (sender_credit.hpp).
//
// Thread safety: any thread that has a handle to the receiver, unless stated.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/core/cell/cell.hpp>

#include <cstdint>

namespace garrick::core::credit {

/// From now on a message to the proxy `of` takes a credit, of which there are `messages`, and later
/// those that are granted. A send that finds no credit waits for it, for `patience` at most; then
/// it goes on, and the message counts against the next grant. Before any other thread knows the
/// cell. Throws std::bad_alloc.
void need(cell& of, std::uint32_t messages, base::duration patience);
/// Returns true if `need` was called.
[[nodiscard]] bool is_needed(const cell& of) noexcept;

// The functions below require that.

/// Takes the credit for one message, or goes without where waiting is not allowed, cannot help or
/// takes too long. Returns true if there was one, or if the actor whose handler this is pauses
/// until there is. `may_pause` false: it waits instead, since there is no room for a message
/// without.
bool take_or_owe(cell& of, bool may_pause = true) noexcept;
/// There is room for so many messages more. Wakes senders. Never blocks.
void grant(cell& of, std::uint32_t messages) noexcept;
/// Takes credit even if there is none.
void owe(cell& of, std::uint32_t messages = 1) noexcept;
/// How many messages there is credit for; below zero, so many have gone without. An estimate.
[[nodiscard]] std::int64_t left(const cell& of) noexcept;
/// The receiver has ended: the actors that pause for its credit go on. Also where none is needed.
void end_pauses(cell& of) noexcept;

/// Returns true if the handler that is just over has sent without credit, so that its actor is to
/// pause.
[[nodiscard]] bool is_owed() noexcept;
/// After such a handler of `self`. Returns true if the actor pauses, and its run right is gone. The
/// runner.
[[nodiscard]] bool pause(cell& self) noexcept;
/// Forgets what the present handler has sent without credit.
void forget_debt() noexcept;

}  // namespace garrick::core::credit
