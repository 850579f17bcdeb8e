// Coroutines that wait for room in a mailbox (`send_when_room`): their messages are parked with the
// receiver, and the runner lets them in. No thread waits.
//
// For a watched mailbox the runner publishes its count of consumed messages before each message, so
// that the bound is exact. For other mailboxes it publishes the count once a batch.
//
// Thread safety: the runner.
#pragma once

#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/life/signals.hpp>

namespace garrick::core::parked {

/// Called before a message of a watched mailbox is handled (`cell::is_watched`).
void before_message(cell& self) noexcept;

/// Parks the message of a sender that waits for room. Without memory for that, the message is lost,
/// and the sender gets `overload`.
void add(cell& self, const signals::room_wanted& w) noexcept;

/// Lets in as many parked messages as there is room for.
void serve(cell& self) noexcept;

/// Refuses all parked messages, because the actor ends.
void refuse_all(cell& self, const base::error& why) noexcept;

}  // namespace garrick::core::parked
