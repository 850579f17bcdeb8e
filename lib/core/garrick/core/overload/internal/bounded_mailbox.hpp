// Mailboxes with a bound, for spawns that ask for one; and senders that wait for room without
// holding a thread.
//
// Problem: the ordinary mailbox slows its senders and has no bound. Some receivers want one: a
// gateway would rather refuse than queue.
// The queue stays the same one, and the bound is a count. Senders compare the mailbox's length with
// it before they push. The runner publishes what it has consumed before each message; for ordinary
// mailboxes it does so once a batch.
//
// With `wait` a sender first does what it would do for a mailbox over its soft limit, again and
// again (full_receiver.cpp).
//
// Guarantees: a message that is not taken is a dead letter with the reason
// `overload`, and a request gets `overload`. Responses, time-outs and the system lane have no
// bound; but those responses that wait count, so while there are many no message is taken. All
// messages come through `admit`, since responses may be more than the mailbox's word can count.
// Limit: senders that push at the same moment may pass the bound by one message each. With `wait`
// what has waited for credit in another process passes it, too, up to the hard limit.
//
// Thread safety: stated per function.
#pragma once

#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/life/signals.hpp>

namespace garrick::core::bounded_mailbox {

/// `e` finds the mailbox at its bound and is lost. Any thread.
void turn_away(cell& receiver, envelope* e) noexcept;

/// Pushes `e` if there is room (below the bound; without a bound: below the soft limit), else says
/// why. Never waits. Any thread.
[[nodiscard]] base::error try_deliver(cell& receiver, envelope_ptr e) noexcept;

/// Called before a message is handled. The runner.
void before_message(cell& self) noexcept;

/// A sender waits for room. Without memory to remember it, its message is lost, and it is told
/// `overload`. The runner.
void on_room_wanted(cell& self, const signals::room_wanted& w) noexcept;

/// Lets in as many waiting messages as there is room for. The runner.
void serve(cell& self) noexcept;

/// The actor ends: nobody will be let in. The runner.
void refuse_parked(cell& self, const base::error& why) noexcept;

/// The message of one sender that waits is lost.
void refuse_one(cell& receiver, const parked_message& p, const base::error& why) noexcept;

}  // namespace garrick::core::bounded_mailbox
