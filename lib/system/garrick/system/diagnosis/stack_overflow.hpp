// Names the actor whose handler has overflowed its thread's stack, then aborts the process.
//
// A thread that has used up its stack cannot run a signal handler on it, so each thread gets an
// alternate stack of 64 kB.
//
//   std::thread t([] {
//     report_stack_overflow_on_this_thread();
//     work();
//     forget_stack_overflow_on_this_thread();
//   });
//   t.join();
//
// Thread safety: each function acts on the calling thread.
#pragma once

namespace garrick::system {

/// Gives the calling thread an alternate signal stack, and installs the handler that writes one
/// line to standard error: actor, id, message. If the process has a handler of its own for SIGSEGV,
/// that handler stays. Reports nothing if there is no memory for the stack. Any thread, once; does
/// not block.
void report_stack_overflow_on_this_thread() noexcept;

/// Frees the alternate stack of the calling thread; call it before the thread ends. Does nothing on
/// a thread without one.
void forget_stack_overflow_on_this_thread() noexcept;

}  // namespace garrick::system
