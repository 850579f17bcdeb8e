// The senders' view of mail to another process: each message to a proxy takes a credit, which the
// process with the room grants (sender_credit.hpp).
//
// Thread safety: any thread that has a handle to the receiver, unless stated.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/core/cell/cell.hpp>

#include <cstdint>

namespace garrick::core::credit {

/// Makes each message to the proxy `of` take a credit from now on. There are `messages` credits at
/// first; grants add more. A send that finds no credit acts as `take_or_owe` says, with waits and
/// pauses of `patience` at most. Call it before any other thread knows the cell. Throws
/// std::bad_alloc.
void need(cell& of, std::uint32_t messages, base::duration patience);
/// Returns true if `need` was called.
[[nodiscard]] bool is_needed(const cell& of) noexcept;

// The functions below require `is_needed`, unless stated.

/// Takes the credit for one message, or owes it where waiting is not allowed, cannot help or takes
/// too long. Returns true if it took one, or if the running actor will pause until there is credit.
/// If `may_pause` is false, the call waits instead, since there is no room for a message without
/// credit.
bool take_or_owe(cell& of, bool may_pause = true) noexcept;
/// Adds credit for `messages` more. Wakes senders. Never blocks.
void grant(cell& of, std::uint32_t messages) noexcept;
/// Takes credit even if there is none.
void owe(cell& of, std::uint32_t messages = 1) noexcept;
/// Returns the number of credits; a negative number is a debt. An estimate.
[[nodiscard]] std::int64_t left(const cell& of) noexcept;
/// Lets the actors that pause for a receiver's credit continue, because the receiver has ended.
/// Does not require `is_needed`.
void end_pauses(cell& of) noexcept;

/// Returns true if the last handler has sent without credit, so that its actor must pause.
[[nodiscard]] bool is_owed() noexcept;
/// Called after a handler of `self` that has sent without credit. Returns true if the actor pauses;
/// then its run right is gone. The runner.
[[nodiscard]] bool pause(cell& self) noexcept;
/// Forgets the debt of the present handler.
void forget_debt() noexcept;

}  // namespace garrick::core::credit
