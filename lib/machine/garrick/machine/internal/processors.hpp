// The system's scheduler on the simulated machine: it assigns processors to the threads that share
// them. It follows Linux' EEVDF; all threads have the same weight.
//
// Each thread has a virtual time, which advances while it runs, and a virtual deadline, which is
// one slice after the virtual time at which it got its turn. A thread of a processor is eligible if
// its virtual time is not above the mean of all threads that run or wait there. The eligible thread
// with the earliest deadline is next. The lag of a thread is its distance behind the mean when it
// falls asleep; the thread starts with this lag when it wakes up.
//
// The scheduler checks a processor when a thread wakes up there, when its thread falls asleep, and
// at its ticks. A processor has ticks only while a thread waits there.
//
// Times are picoseconds. Each function gets the present time, and is called in the order of these
// times. The ready queue holds the threads' clocks: a running thread is in it with the time at
// which its next action will be done, if it keeps its processor. A waiting thread is not in it. A
// processor with a pending tick is in it under the number `first_tick` plus its own.
//
// Thread safety: none; one owner.
#pragma once

#include <garrick/base/values/random.hpp>
#include <garrick/machine/ready_queue.hpp>
#include <garrick/machine/time_sharing.hpp>
#include <garrick/sched/places/topology.hpp>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace garrick::machine {

/// The processors and the threads that share them.
class processors {
 public:
  using time = ready_queue::time;  ///< picoseconds
  /// The most processors.
  static constexpr std::size_t most = 128;
  /// The number of processor 0 in the ready queue.
  static constexpr std::uint32_t first_tick = 128;
  /// The processors on which a thread may run.
  using set = std::bitset<most>;

  /// Makes the processors for the units of `machine`. `seed` decides the times of each processor's
  /// ticks, and the latencies of wake-ups.
  processors(const time_sharing& how, const sched::topology& machine, ready_queue& clocks,
             std::uint64_t seed);

  /// Adds a thread that is asleep and ran on `unit` last. Threads are numbered in the order of
  /// these calls.
  void add(std::uint32_t unit);
  /// Keeps a thread on these processors, from its next wake-up on.
  void allow(std::uint32_t thread, const set& where) noexcept { tasks_[thread].allowed = where; }
  /// Gives this thread a processor of its own, outside this set.
  void set_apart(std::uint32_t thread) noexcept { tasks_[thread].is = state::apart; }
  /// Sets the slice that this thread asks for.
  void set_slice(std::uint32_t thread, time slice) noexcept {
    tasks_[thread].slice = static_cast<virtual_time>(slice);
  }
  /// Makes this thread preempt no other thread when it wakes up.
  void set_batch(std::uint32_t thread) noexcept { tasks_[thread].batch = true; }
  /// Reports each event from now on to `log`.
  void observe(const std::function<void(const thread_event&)>* log) noexcept { log_ = log; }

  /// Starts all threads: each on an idle processor or, if there is none, on the one with the fewest
  /// threads.
  void begin();
  /// Makes `thread` able to run; does nothing if it already is. On an idle processor the thread
  /// runs after about `latency`. `waker` is the running thread that wakes it, which keeps its
  /// processor until `yield`, or `thread_event::nobody`.
  void wake(std::uint32_t thread, time now, time latency, std::uint32_t waker);
  /// Gives the running thread's processor to a thread that it has woken, if it must.
  void yield(std::uint32_t thread, time now);
  /// Puts the running thread to sleep or, if it has `ended`, removes it.
  void leave(std::uint32_t thread, time now, bool ended);
  /// Moves the running thread to the first idle processor where it may run or, if none is idle, to
  /// the one with the fewest threads.
  void move(std::uint32_t thread, time now);
  /// Handles a tick of processor `unit`.
  void tick(std::uint32_t unit, time now);
  /// Makes all further work of the thread end at `end`, however often it loses its processor, like
  /// the work of a thread that spins until a time. After a call with 0, work takes its full time
  /// again.
  void spins_until(std::uint32_t thread, time end) noexcept { tasks_[thread].spin_end = end; }

  /// Returns true if the thread sleeps.
  [[nodiscard]] bool asleep(std::uint32_t thread) const noexcept {
    return tasks_[thread].is == state::asleep;
  }
  /// Returns the processor where the thread runs, waits or ran last.
  [[nodiscard]] std::uint32_t unit_of(std::uint32_t thread) const noexcept {
    return tasks_[thread].unit;
  }
  /// Returns the thread's processor time until now.
  [[nodiscard]] time busy(std::uint32_t thread, time now) const noexcept;
  /// Returns the time for which the thread could run and had no processor, up to the last time it
  /// got one.
  [[nodiscard]] time waited(std::uint32_t thread) const noexcept;

 private:
  using virtual_time = std::int64_t;
  enum class state : std::uint8_t { asleep, waits, runs, apart };
  static constexpr std::uint32_t nobody = thread_event::nobody;

  struct task {
    std::uint32_t unit = 0;
    state is = state::asleep;
    bool batch = false;
    set allowed;
    virtual_time slice = 0;
    virtual_time now = 0;
    virtual_time deadline = 0;
    virtual_time protected_until = 0;
    virtual_time lag = 0;  ///< at the time it fell asleep
    time used = 0;
    time waited = 0;
    time since = 0;    ///< when it began to wait
    time begins = 0;   ///< when it has its processor, if it runs
    time stopped = 0;  ///< when it ran last
    time left = 0;     ///< the rest of its work when it lost its processor
    time spin_end = 0;
  };
  struct processor {
    std::uint32_t runs = nobody;
    std::uint32_t woken = nobody;  ///< the thread that the running one has woken; it waits here
    std::vector<std::uint32_t> waiting;
    time counted_until = 0;  ///< the virtual time of the running thread
    time first_tick = 0;
    virtual_time mean = 0;  ///< at the time the last thread left
  };

  void count(processor& p, time now) noexcept;
  [[nodiscard]] virtual_time mean(const processor& p) const noexcept;
  [[nodiscard]] virtual_time shortest_slice(const processor& p) const noexcept;
  [[nodiscard]] std::uint32_t best(const processor& p) const noexcept;
  [[nodiscard]] std::uint32_t place_for(const task& t) const noexcept;
  template <class Cost>
  [[nodiscard]] std::uint32_t cheapest(const task& t, const Cost& cost) const noexcept;
  void join(std::uint32_t thread, std::uint32_t unit, time now, time latency);
  void start(std::uint32_t thread, std::uint32_t unit, time now, time delay);
  void stop(std::uint32_t unit, time now, std::uint32_t by);
  void reconsider(std::uint32_t unit, time now, std::uint32_t woken);
  void next(std::uint32_t unit, time now);
  bool has_run(std::uint32_t thread, time now);
  void forget(processor& p, std::uint32_t thread) noexcept;
  bool pull(std::uint32_t to, std::uint32_t from, time now);
  void want_tick(std::uint32_t unit, time now);
  void tell(thread_event::kind what, std::uint32_t thread, std::uint32_t unit, time at,
            std::uint32_t other = nobody, time waited = 0) const;

  const sched::topology& machine_;
  ready_queue& clocks_;
  virtual_time slice_;
  time tick_, switch_, hot_;
  double jitter_;
  wake_up_preemption preemption_;
  base::random_source random_;
  std::vector<task> tasks_;
  std::vector<processor> all_;
  const std::function<void(const thread_event&)>* log_ = nullptr;
};

}  // namespace garrick::machine
