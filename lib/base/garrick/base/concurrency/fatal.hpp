// The end of a process that cannot go on. A program or a tool may install one function, the hook,
// which is called with the reason just before such an end.
//
//   void write_report(const garrick::base::fatal_end& end) noexcept {
//     static_cast<void>(::write(report, end.reason.data(), end.reason.size()));
//   }
//   garrick::base::set_fatal_hook(write_report);
//
// Every end that the framework decides on passes `end_process` (ending.hpp). Once a hook is
// installed, other ends (std::terminate, signals without a handler) are watched, too.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <csignal>
#include <cstdint>
#include <string_view>

#include "garrick/base/platform/ending.hpp"

namespace garrick::base {

struct message_type;

/// The description of an unavoidable end. All of it is valid during the call only.
struct fatal_end {
  static constexpr std::uint32_t no_worker = 0xffffffff;  ///< a thread that is not a worker

  fatal_cause cause;                      ///< the kind of end
  std::string_view reason;                ///< one line for people, cut at `longest_fatal_reason`
  std::uint64_t thread = 0;               ///< the thread, as the system numbers it; 0: unknown
  std::uint32_t worker = no_worker;       ///< its index among its system's workers
  std::uint64_t actor = 0;                ///< id of the actor whose turn it was; 0: none
  const message_type* message = nullptr;  ///< the message that it was handling; null: its start
};

/// A function to be called at the process' end. It may run in a signal's handler, on a stack of 64
/// kB, while other threads continue and any lock may be held: it must call async-signal-safe
/// functions only (`write`, `fsync`, `_exit`, loads and stores), return soon, and not throw. When
/// it returns, the process ends as it would have ended without it.
using fatal_hook = void (*)(const fatal_end&) noexcept;

/// Installs `hook`; null removes it. Returns the previous hook, which `hook` may call. A hook is
/// called once in the life of a process, for the first cause: a failure inside it ends the process
/// at once, and other threads that fail meanwhile wait for it, ten seconds at most. A process that
/// exits in order, that another process kills, or that hangs, calls no hook.
///
/// The first call with a hook puts a function before the program's `std::terminate_handler`, which
/// is called after it, and handles the signals of `fatal_cause::signal` that have no handler. If
/// the program handles a signal later, its handler replaces this one. Does not block.
fatal_hook set_fatal_hook(fatal_hook hook) noexcept;

/// Calls the hook if this is the first end of the process. For the handlers of signals.
[[gnu::cold]] void tell_of_signal(int signal) noexcept;

/// Handles `signal` with `handler`, on the thread's alternate stack if it has one. Returns false if
/// the program handles or ignores the signal already, or the system refuses.
bool handle_signal(int signal, void (*handler)(int, siginfo_t*, void*)) noexcept;

/// Makes `signal` end the process when its handler returns. For that handler.
void end_of_signal(int signal) noexcept;

}  // namespace garrick::base
