// The limits of a process that was forked from a process with actors. The child has none of the
// parent's other threads, so every action that needs them is refused with a message (guide, chapter
// 9).
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace garrick::base {

namespace detail {
inline constinit std::atomic<std::uint32_t> forks{0};
}

/// Returns the number of forks between this process and the one that first called `watch_forks`.
[[nodiscard]] inline std::uint32_t fork_count() noexcept {
  // order: relaxed; it changes while there is one thread alone
  return detail::forks.load(std::memory_order_relaxed);
}

/// Starts the count and returns `fork_count()`. An owner of threads calls this function before it
/// makes them, and keeps the number: if `fork_count()` differs later, the process is a copy without
/// threads.
[[nodiscard]] std::uint32_t watch_forks() noexcept;

/// Prints "garrick: in a forked child: ", the refused action and the allowed ones to the standard
/// error stream, then aborts. Allocates nothing.
[[noreturn, gnu::cold]] void refuse_in_child(const char* what) noexcept;

}  // namespace garrick::base
