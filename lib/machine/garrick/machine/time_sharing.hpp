// The rules by which the simulated system shares processors among threads, and the events that it
// reports.
//
// The defaults are those of Linux 6.18 with HZ=250 on a machine with eight or more processors, of
// which a virtual machine or a container may have two. In kernel/sched/fair.c, the slice is 0.7 ms
// times one more than the binary logarithm of the number of processors, at most eight, and no timer
// ends a slice between ticks (HRTICK is off).
//
// Thread safety: plain data.
#pragma once

#include <cstdint>

namespace garrick::machine {

/// Decides if a woken thread preempts the thread that runs on its processor.
enum class wake_up_preemption : std::uint8_t {
  /// Never: the woken thread waits until the running thread sleeps, or for a tick after the end of
  /// its slice.
  never,
  /// As Linux since 6.6 (EEVDF with RUN_TO_PARITY): the running thread keeps its processor until
  /// its slice has ended or it has had more than its share, but a thread with a shorter slice may
  /// preempt it.
  run_to_parity,
  /// Always: a bound for the possible gain.
  at_once,
};

/// The system's scheduler. Times in nanoseconds.
struct time_sharing {
  /// The time for which a thread runs if others wait, from 1e5 to 1e8. A thread may ask for another
  /// slice (`engine::set_slice`), as with sched_setattr's sched_runtime.
  double slice = 2'800'000;
  /// The time between two ticks of a processor where threads wait, from 1e4 to 1e8. A slice ends
  /// only at a tick.
  double tick = 4'000'000;
  /// The time of a switch from one thread of a processor to the next: Li, Ding and Shen,
  /// "Quantifying the cost of context switch" (ExpCS 2007), measured 3.8 µs at 2 GHz; half of it on
  /// current machines.
  double context_switch = 2'000;
  /// An idle processor takes no waiting thread that ran within this time, since its data are in
  /// another cache: sched_migration_cost.
  double cache_hot = 500'000;
  /// The largest relative deviation of the latency of a wake-up on an idle processor, from 0 to 1,
  /// since the latency depends on the processor's depth of sleep. The value is an assumption.
  /// Without a deviation, periodic programs run in lock-step.
  double latency_jitter = 0.5;
  wake_up_preemption preemption = wake_up_preemption::run_to_parity;  ///< the thread that comes
                                                                      ///< first
};

/// An event of a thread of the machine.
struct thread_event {
  /// The kind of the event.
  enum class kind : std::uint8_t {
    woken,      ///< it can run now; `other` has woken it
    runs,       ///< it has got a processor, after `waited`
    preempted,  ///< `other` has got its processor; if that is itself, it moves to another one
    sleeps,     ///< it has given its processor up
    ends        ///< its last event
  };
  static constexpr std::uint32_t nobody = 0xffff'ffff;  ///< a timer, or the system

  kind what = kind::woken;
  std::uint64_t at = 0;          ///< when, in picoseconds
  std::uint64_t waited = 0;      ///< how long it could have run, in picoseconds
  std::uint32_t thread = 0;      ///< its thread
  std::uint32_t other = nobody;  ///< see `kind`
  std::uint32_t processor = 0;   ///< where it runs, waits or ran last
};

}  // namespace garrick::machine
