// Mailboxes with a bound, for spawns that ask for one; and senders that wait for room without
// holding a thread.
//
// Problem: the ordinary mailbox slows its senders and has no bound. Some receivers want one: a
// sensor's newest value is worth more than its oldest, a gateway would rather refuse than queue.
// The queue stays the same one, and the bound is a count. Senders compare the mailbox's length with
// it before they push. The runner publishes what it has consumed before each message; for ordinary
// mailboxes it does so once a batch.
//
// Guarantees: a message that is not taken, or dropped later, is a dead letter with the reason
// `overload`, and a request gets `overload`. Responses, time-outs and the system lane have no
// bound. Limits: senders that push at the same moment may pass the bound by one message each. With
// `drop_oldest` only the runner may take from the queue: while one handler runs long, up to twice
// the bound and 64 messages wait, and beyond that the newest is dropped.
//
// Thread safety: stated per function.
#pragma once

#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/signals.hpp>

namespace garrick::core::bounded_mailbox {

/// A bounded mailbox is at its bound with `length` messages: may `e` be pushed all the same? If
/// not, `e` is gone. Any thread.
[[nodiscard]] bool admit(cell& receiver, envelope* e, std::uint32_t length) noexcept;

/// Pushes `e` if there is room (below the bound; without a bound: below the soft limit), else says
/// why. Never waits. Any thread.
[[nodiscard]] base::error try_deliver(cell& receiver, envelope_ptr e) noexcept;

/// Called before a message is handled: false if it was dropped for its age. The runner.
[[nodiscard]] bool before_message(cell& self, envelope* e) noexcept;

/// Drops the oldest of what waits in an actor that handles nothing now. The runner.
void trim(cell& self) noexcept;

/// A sender waits for room. The runner.
void on_room_wanted(cell& self, const signals::room_wanted& w);

/// Lets in as many waiting messages as there is room for. `leaving` is the number of messages that
/// are about to leave the mailbox. The runner.
void serve(cell& self, std::uint32_t leaving) noexcept;

/// The actor ends: nobody will be let in. The runner.
void refuse_parked(cell& self, const base::error& why) noexcept;

/// The message of one sender that waits is lost.
void refuse_one(cell& receiver, const parked_message& p, const base::error& why) noexcept;

}  // namespace garrick::core::bounded_mailbox
