// The rules by which the simulated system shares processors among threads, and the events that it
// reports.
//
// The defaults are Linux 6.18 with HZ=250 on a machine with eight or more processors, of which a
// virtual machine or a container may have two: kernel/sched/fair.c has a slice of 0.7 ms times the
// binary logarithm of their number plus one, and never asks for a timer in the middle of a slice
// (HRTICK is off).
//
// Thread safety: plain data.
#pragma once

#include <cstdint>

namespace garrick::machine {

/// Decides if a thread that has been woken preempts the thread that runs there.
enum class wake_up_preemption : std::uint8_t {
  /// Never: it waits for a tick at which the other's slice is over, or for its sleep.
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
  /// For how long a thread runs if others wait, from 1e5 to 1e8. A thread may ask for another time
  /// (`engine::set_slice`), as with sched_setattr's sched_runtime.
  double slice = 2'800'000;
  /// Between two looks at a processor where threads wait, from 1e4 to 1e8: only then a slice ends.
  double tick = 4'000'000;
  /// From one thread of a processor to the next: Li, Ding and Shen, "Quantifying the cost of
  /// context switch" (ExpCS 2007), measured 3.8 µs at 2 GHz; half of it on current machines.
  double context_switch = 2'000;
  /// A thread that ran this recently stays where its cache is when another processor is idle:
  /// sched_migration_cost.
  double cache_hot = 500'000;
  /// The largest relative difference of the latency of a wake-up on an idle processor, from 0 to 1:
  /// it depends on how deep the processor slept. Assumed. Without it, periodic programs run in
  /// lock-step.
  double latency_jitter = 0.5;
  wake_up_preemption preemption = wake_up_preemption::run_to_parity;  ///< the thread that comes
                                                                      ///< first
};

/// Something that happened to a thread of the machine.
struct thread_event {
  /// The kind of the event.
  enum class kind : std::uint8_t {
    woken,      ///< from here on it can run; `other` has woken it
    runs,       ///< it has got a processor, after `waited`
    preempted,  ///< `other` has got its processor; itself: it goes to another one
    sleeps,     ///< it has given its processor up
    ends        ///< its last
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
