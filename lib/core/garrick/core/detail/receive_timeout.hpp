// The receive time-out of an actor: a message tells it that no message was handled for a while.
// Behaviors have it as `after`, classes as `on(const receive_timeout&)`.
//
// The time-out is a message to the actor itself. If another message was handled before it comes, it
// is sent again for the rest of the time; so an ordinary message costs one look at the clock, and
// no timer is moved. While the actor awaits, the time-out waits with the other mail, and the
// silence begins when the await has ended (W4 of turn/internal/awaiting.hpp).
//
// Private: installed because templates need it.
//
// Thread safety: the actor's turn.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/core/cell/cell.hpp>

namespace garrick::core::detail {

/// Sets the length of the silence that is reported; zero reports none. The silence begins now.
void set_receive_timeout(cell& self, base::duration limit);

/// Handles the message of the time-out. Returns true if the actor still has a time-out, and no
/// message was handled for its time. If one was handled, sends the message of the time-out again,
/// for the rest of the time.
[[nodiscard]] bool receive_timeout_is_due(cell& self);

/// Begins the next silence, after one was reported.
void renew_receive_timeout(cell& self);

/// Returns the present time-out, which changes whenever it is set; null without one. For an actor
/// that has an extension.
[[nodiscard]] const void* present_timeout(cell& self) noexcept;
/// Returns the same as `present_timeout`, for every actor.
[[nodiscard]] inline const void* receive_timeout_of(cell& self) noexcept {
  return self.ext_if() == nullptr ? nullptr : present_timeout(self);
}

/// Notes that a message was handled. Starts the silence again, if `timeout` is still the present
/// one.
void end_silence(cell& self, const void* timeout) noexcept;

}  // namespace garrick::core::detail
