// What a process may do that was forked from one with actors: its threads are not there, so nothing
// that needs them can go on. What is refused is said (guide, chapter 9).
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace garrick::base {

namespace detail {
inline constinit std::atomic<std::uint32_t> forks{0};
}

/// How many forks lie between this process and the one that first called `watch_forks`.
[[nodiscard]] inline std::uint32_t fork_count() noexcept {
  // order: relaxed; it changes while there is one thread alone
  return detail::forks.load(std::memory_order_relaxed);
}

/// `fork_count`, which counts from now on. Whoever has threads remembers the number that this
/// returned before they were made: where the count differs, it is a copy without threads.
[[nodiscard]] std::uint32_t watch_forks() noexcept;

/// Prints "garrick: in a forked child: ", what was tried and what is allowed to the standard error
/// stream, then aborts. Allocates nothing.
[[noreturn, gnu::cold]] void refuse_in_child(const char* what) noexcept;

}  // namespace garrick::base
