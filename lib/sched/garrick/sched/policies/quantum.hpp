// How many messages a run handles at most: the numbers that settings and policies share.
//
// How time is shared out among runnables is W3 of work_stealing.hpp.
#pragma once

#include <cstdint>

namespace garrick::sched {

/// A quantum that no run uses up.
inline constexpr std::uint32_t unlimited = 0xffff'ffff;
/// Messages of one run where nobody says otherwise.
inline constexpr std::uint32_t default_quantum = 1024;

}  // namespace garrick::sched
