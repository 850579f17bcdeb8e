// The costs of operations on the simulated machine, in nanoseconds.
//
// The defaults are those of a four-package machine of 64 cores like the one of papers 001 and 002
// (AMD Opteron 63xx, 2.1 to 2.3 GHz). Cache lines: David, Guerraoui and Trigonakis, "Everything you
// always wanted to know about synchronization" (SOSP 2013), measured on the same family: 81, 161,
// 172 and
// 252 cycles for a line that was modified on the same die, the other die of the package, one hop
// and two hops away; 136, 237, 247 and 327 cycles for a line in memory. Hops beyond the package are
// not distinguished, so the last entry is their mean. System calls: typical times of Linux on
// current x86-64 servers without a hypervisor. `calibrate` replaces the defaults by the host's
// times.
//
// Thread safety: plain data.
#pragma once

#include <array>

namespace garrick::machine {

/// The price of each operation, in nanoseconds, from 0 to 1e9.
struct costs {
  /// By distance: same shared cache, same memory node, same package, elsewhere
  /// (sched::topology::distance). Any larger distance costs as much as the last entry.
  using by_distance = std::array<double, 4>;

  /// A load or store of a line in the thread's own cache, with the overlap of several taken into
  /// account.
  double hit = 0.5;
  double locked = 8;  ///< A locked operation on such a line.
  /// To fetch a line that another worker wrote, or to take it from its readers.
  by_distance transfer = {39, 39, 77, 101};
  /// To fetch 64 bytes of an actor's state from memory. The first two entries are for the worker's
  /// own node.
  by_distance memory_line = {65, 65, 113, 137};
  /// The processor's hint in a waiting loop: 140 cycles on Intel processors since 2015.
  double pause = 40;
  double clock_read = 25;       ///< To read the monotonic clock.
  double cpu_clock_read = 250;  ///< To read a thread's processor time: a system call.
  /// A system call that does nothing: a wake-up without a sleeper, or a wait for a word that has
  /// changed.
  double system_call = 150;
  /// The processor time that a thread uses from the start of its wait until it has left its
  /// processor.
  double fall_asleep = 1'000;
  double wake_call = 1'500;     ///< The waker's cost of a wake-up, if a thread slept.
  double wake_another = 500;    ///< The waker's cost for each further sleeper of the same call.
  double wake_latency = 5'000;  ///< From the waker's call until the sleeper runs.
  /// The lateness of the end of a sleep: Linux' timer slack of 50 µs, and the wake-up.
  double timer_late = 55'000;
  /// The same for a thread with precise sleeps (the slot ticker).
  double precise_timer_late = 5'000;
  /// A barrier in every thread of the process (membarrier), the rare side of a two-sided fence.
  double barrier = 2'000;
  /// To allocate and build a message, without the locked operation on the receiver's line.
  double send = 20;
  double receive = 15;  ///< To dispatch and free a message.
  double run = 15;      ///< A worker's entry into an actor and exit, without the policy's part.
  /// Added to `run` for cold caches and predictions, if the worker has run more than a few other
  /// actors since the actor's last run.
  double cold = 15;
  double spawn = 100;  ///< To make an actor and to end it.
};

}  // namespace garrick::machine
