// The receive time-out of an actor: it hears when no message was handled for a while. Behaviors
// have it as `after`, classes as `on(const receive_timeout&)`.
//
// The time-out is a message to the actor itself. When it comes and something was handled meanwhile,
// it is sent anew for the rest of the time; so an ordinary message costs one look at the clock, and
// no timer is moved. While the actor awaits, the time-out waits with the other mail, and the
// silence begins when the await is over (W4 of cell/internal/awaiting.hpp).
//
// Private: installed because templates need it.
//
// Thread safety: the actor's turn.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/core/cell/cell.hpp>

namespace garrick::core::detail {

/// From now on, silence of this length is told; zero: none is. The silence begins now.
void set_receive_timeout(cell& self, base::duration limit);

/// The message of the time-out has come: true if nothing was handled since. Otherwise it waits for
/// the rest of the time.
[[nodiscard]] bool receive_timeout_is_due(cell& self);

/// Silence has been told; the next one begins now.
void renew_receive_timeout(cell& self);

/// The present time-out, which changes when it is set anew; null without one. For an actor that has
/// an extension.
[[nodiscard]] const void* present_timeout(cell& self) noexcept;
/// As `present_timeout`, for every actor.
[[nodiscard]] inline const void* receive_timeout_of(cell& self) noexcept {
  return self.ext_if() == nullptr ? nullptr : present_timeout(self);
}

/// A message was handled. If `timeout` still is the present one, its silence begins anew.
void end_silence(cell& self, const void* timeout) noexcept;

}  // namespace garrick::core::detail
