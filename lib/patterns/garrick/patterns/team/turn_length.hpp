// For how long an actor takes part in work before others have a turn on its worker.
//
// Private: installed because templates need it.
//
// Thread safety: stateless.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/patterns/team/shared_work.hpp>

namespace garrick::patterns::detail {

/// Should a turn of `on` that began then end now? Who was asked begins the requests that wait for
/// it first: others may have time for them. By a virtual clock no time passes during a turn: so
/// that others take part in a test system, too, such a turn ends after each block.
[[nodiscard]] inline bool turn_is_over(instant begin, instant now, const seat& at,
                                       const actor_base& on) noexcept {
  constexpr duration turn_length = duration::milliseconds(1);
  return now == begin || now - begin >= turn_length || (at.was_asked && on.mailbox_length() != 0);
}

}  // namespace garrick::patterns::detail
