// How a process ends that cannot go on, and who hears of it: a program or a tool may install one
// function, which is called with the reason just before such an end.
//
//   void write_report(const garrick::base::fatal_end& end) noexcept {
//     static_cast<void>(::write(report, end.reason.data(), end.reason.size()));
//   }
//   garrick::base::set_fatal_hook(write_report);
//
// Every end that the framework decides on passes `end_process` (ending.hpp). What others decide on
// (std::terminate, signals that nobody handles) is watched as soon as there is a hook.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <csignal>
#include <cstdint>
#include <string_view>

#include "garrick/base/platform/ending.hpp"

namespace garrick::base {

struct message_type;

/// What is told of an end that nothing stops. All of it is valid during the call only.
struct fatal_end {
  static constexpr std::uint32_t no_worker = 0xffffffff;  ///< a thread that is no worker

  fatal_cause cause;                      ///< what kind of end it is
  std::string_view reason;                ///< one line for people, cut at `longest_fatal_reason`
  std::uint64_t thread = 0;               ///< the thread, as the system numbers it; 0: unknown
  std::uint32_t worker = no_worker;       ///< its index among its system's workers
  std::uint64_t actor = 0;                ///< id of the actor in whose turn it happened; 0: none
  const message_type* message = nullptr;  ///< what that actor was handling; null: its start
};

/// Hears of the process' end. It may run in a signal's handler, on a stack of 64 kB, while other
/// threads go on and any lock may be held: it must call async-signal-safe functions only (`write`,
/// `fsync`, `_exit`, loads and stores), return soon, and not throw. When it returns, the process
/// ends as it would have ended without it.
using fatal_hook = void (*)(const fatal_end&) noexcept;

/// From now on `hook` hears of the end; null: nobody does. Returns the one before, which `hook` may
/// call. It is called once in the life of a process, for the first cause: what fails inside it ends
/// the process at once, and other threads that come to an end meanwhile wait for it, ten seconds at
/// most. A process that exits in order, that another process kills, or that hangs, calls no hook.
///
/// The first call puts a function before the program's `std::terminate_handler`, which is called
/// after it, and handles those signals of `fatal_cause::signal` that nobody handles; a program that
/// handles one later keeps it for itself. Does not block.
fatal_hook set_fatal_hook(fatal_hook hook) noexcept;

/// For who handles a signal: tells the hook, if this is the process' first end.
[[gnu::cold]] void tell_of_signal(int signal) noexcept;

/// Handles `signal` with `handler`, on the thread's alternate stack if it has one, unless the
/// program handles it. False: it does, or the system refuses.
bool handle_signal(int signal, void (*handler)(int, siginfo_t*, void*)) noexcept;

/// For the handler of `signal`: when it returns, the process ends of that signal.
void end_of_signal(int signal) noexcept;

}  // namespace garrick::base
