// For how long an actor takes part in work before others have a turn on its worker.
//
// Private: installed because templates need it.
//
// Thread safety: stateless.
#pragma once

#include <garrick/garrick.hpp>

namespace garrick::patterns::detail {

/// Should a turn that began then end now? By a virtual clock no time passes during a turn: so that
/// others take part in a test system, too, such a turn ends after each block.
[[nodiscard]] inline bool turn_is_over(instant begin, instant now) noexcept {
  constexpr duration turn_length = duration::milliseconds(1);
  return now == begin || now - begin >= turn_length;
}

}  // namespace garrick::patterns::detail
