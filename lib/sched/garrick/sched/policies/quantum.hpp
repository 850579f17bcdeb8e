// The greatest number of messages of a run: the constants that settings and policies share.
//
// The sharing of time among runnables is W3 of work_stealing.hpp.
//
// Thread safety: constants.
#pragma once

#include <cstdint>

namespace garrick::sched {

/// A quantum that no run uses up.
inline constexpr std::uint32_t unlimited = 0xffff'ffff;
/// The default number of messages of one run.
inline constexpr std::uint32_t default_quantum = 1024;

}  // namespace garrick::sched
