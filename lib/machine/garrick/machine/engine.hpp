// A simulated machine: threads with a processor each or with processors that they share, cache
// lines that cost time when they move, and a clock for every thread.
//
// Each simulated thread is a fibre. It touches shared memory through `line`s. Every access adds a
// cost to the fibre's clock, which depends on the holder of the line. The fibre whose clock is
// furthest behind runs, so accesses happen in the order of their times. No code reads a real clock,
// and the whole machine runs on one real thread. The shipped scheduling policies run on it
// (traits.hpp).
//
// Modelled are: transfers by distance; contention (writers take a line one after the other, and
// readers wait for the writer before them, but not for each other); store buffers (a plain store is
// buffered, and a locked operation waits for the buffer); sleeping and waking through the system;
// and, as an option, a system that shares the processors among the threads (time_sharing.hpp).
//
// Not modelled are: false sharing (each atomic variable is a line of its own), the size of caches,
// memory bandwidth, and weak memory orders, which the model checker explores.
//
// Thread safety: everything belongs to one real thread, on which one engine runs at a time.
//
// Invariants:
// S1 No access happens before one with a smaller time: a fibre whose clock is ahead of another's
//    gives way before it touches a line. The time of the access itself is added afterwards.
// S2 Of threads with equal times the running thread goes first, then the one with the smallest
//    number; nothing else decides. So the same program, seed and costs give the same result, bit by
//    bit.
// S3 A thread is in the queue `ready_` exactly if it runs, is ready, or sleeps with a time limit.
//    If the queue is empty while threads sleep, no thread will ever wake them: the run ends with an
//    error.
// S4 A wake-up goes to one sleeper of its word, the one that has slept longest.
// S5 A shared processor runs a thread whenever one could run there. Of the threads that share
//    processors, only running ones and sleepers with a time limit are in the queue of S3. So a
//    thread does nothing while it waits: its clock jumps over that time.
// S6 The system's actions (a tick, a wake-up, the end of a sleep) happen in the order of their
//    times, like accesses. A thread that loses its processor has done nothing after that time, and
//    its unfinished work takes the rest of its time when the thread runs again.
// S7 A thread waits only where its affinity lets it run, and only until it is next by the order of
//    processors.hpp, at the latest until a tick. No thread is lost, and none is in two places.
// S8 If threads do not share processors, there are no ticks, no switches and no waits for a
//    processor.
#pragma once

#include <garrick/machine/costs.hpp>
#include <garrick/machine/ready_queue.hpp>
#include <garrick/machine/time_sharing.hpp>
#include <garrick/sched/places/topology.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace garrick::machine {

class fiber;
class processors;

/// Simulated time. A picosecond is fine enough to add costs without rounding.
using picoseconds = std::uint64_t;
/// Returns nanoseconds as simulated time.
[[nodiscard]] constexpr picoseconds from_ns(double ns) noexcept {
  return static_cast<picoseconds>(ns * 1000);
}

/// The largest number of threads of one engine.
inline constexpr std::uint32_t max_threads = 128;
/// The number that means no thread.
inline constexpr std::uint8_t no_thread = 0xff;

/// A cache line: its holders, its last writer, and the end of its present transfer.
struct line {
  std::array<std::uint64_t, 2> holders{};  ///< caches with a valid copy, one bit each
  picoseconds free_at = 0;                 ///< the end of its present transfer
  std::uint8_t writer = no_thread;         ///< the thread that wrote it last
  std::uint8_t last_reader = no_thread;    ///< the thread that fetched it last
};

/// Counts of a run.
struct engine_stats {
  std::uint64_t accesses = 0;   ///< reads and writes of lines
  std::uint64_t transfers = 0;  ///< accesses that had to fetch the line
  std::uint64_t switches = 0;   ///< from one fibre to another
  std::uint64_t wakes = 0;      ///< sleepers woken through the system
};

/// The simulated machine: its threads, its lines and its time.
class engine {
 public:
  /// Makes a machine without threads. Each thread will have a processor and a cache of its own; if
  /// `how` is given, threads share the units of `machine`, at most 128, and their caches. `seed`
  /// decides the times of each unit's ticks. `machine` must outlive the engine.
  engine(const costs& c, const sched::topology& machine,
         const std::optional<time_sharing>& how = {}, std::uint64_t seed = 0);
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Adds a thread on processing unit `unit`, which runs `body(argument)`. The sleeps of a
  /// `precise` thread end nearly on time, as if the thread had reduced its timer slack. Returns the
  /// thread's number, counted from 0. Call it before `run`, at most `max_threads` times. If threads
  /// share processors, the thread probably begins on `unit`.
  std::uint32_t add_thread(std::uint32_t unit, bool precise, void (*body)(void*), void* argument);
  /// Gives a thread a processor of its own, so that it disturbs no other thread. Call it before
  /// `run`.
  void set_apart(std::uint32_t thread);
  /// Keeps a thread on one unit, if threads share units. Call it before `run`.
  void pin(std::uint32_t thread, std::uint32_t unit);
  /// Sets the slice that the thread asks the system for, in nanoseconds (sched_setattr). Does
  /// nothing if threads do not share processors.
  void set_slice(std::uint32_t thread, double ns) noexcept;
  /// Makes the thread preempt no other thread when it wakes up (SCHED_BATCH). Does nothing if
  /// threads do not share processors.
  void set_batch(std::uint32_t thread) noexcept;
  /// Reports every event of a thread from now on to `log`, which must outlive the run. Null ends
  /// the reports.
  void observe(const std::function<void(const thread_event&)>* log) noexcept;

  /// Runs until all threads have ended. Call it once, and while no other engine runs on this real
  /// thread.
  ///
  /// Returns an empty text, or an error: all remaining threads sleep for ever (S3), or a thread had
  /// not ended at `limit`. After an error, objects on these threads' stacks are not destroyed.
  [[nodiscard]] std::string run(picoseconds limit = std::numeric_limits<picoseconds>::max());

  /// Returns the engine that runs on this real thread; null outside `run`, where accesses cost
  /// nothing.
  [[nodiscard]] static engine* current() noexcept { return current_; }

  // ---- for the running thread -------------------------------------------------------------------

  /// Returns the running thread's number.
  [[nodiscard]] std::uint32_t self() const noexcept { return running_; }
  /// Returns the number of its cache: its own or, if threads share processors, its processor's.
  [[nodiscard]] std::uint32_t here() const noexcept { return here_; }
  /// Returns the running thread's clock.
  [[nodiscard]] picoseconds now() const noexcept { return now_; }
  /// Takes time for work that touches no shared memory.
  void spend(picoseconds time) noexcept { now_ += time; }
  /// Like `spend`, in nanoseconds.
  void spend_ns(double ns) noexcept { now_ += from_ns(ns); }
  /// Reads the clock until `time`. Unlike work, this ends at `time` even if the thread was without
  /// its processor for a while.
  void spin_until(picoseconds time) noexcept;
  /// Moves the running thread to a processor that is not in `busy`, and keeps it away from `busy`
  /// until the next call. Returns false if there is no other processor, or threads do not share
  /// processors.
  bool leave_processors(std::span<const std::int32_t> busy) noexcept;
  /// Lets every thread that is behind catch up (S1). Every access calls it first.
  void settle() noexcept {
    if (now_ > limit_) [[unlikely]]
      give_way();
  }

  /// Does a load.
  void read(line& l) noexcept;
  /// Does a plain store.
  void write(line& l) noexcept;
  /// Does a locked operation, or a store that others must see before this thread's next load.
  void modify(line& l) noexcept;
  /// Waits until the thread's stores so far have reached memory.
  void drain() noexcept { now_ = std::max(now_, buffered_); }

  /// Sleeps for that time, plus the lateness of timers.
  void sleep(picoseconds time) noexcept;
  /// Sleeps until a wake-up of `word`, for at most `time_limit`. Returns at once unless
  /// `unchanged(word)` holds after all earlier accesses of other threads.
  template <class Word, class Unchanged>
  void wait(const Word& word, const Unchanged& unchanged, picoseconds time_limit) noexcept {
    spend(system_call_);
    settle();
    if (!unchanged(word)) return;
    block(&word, time_limit);
  }
  /// No time limit.
  static constexpr picoseconds for_ever = std::numeric_limits<picoseconds>::max();
  /// Wakes the sleeper of `word` that has slept longest, if there is one (S4).
  void wake_one(const void* word) noexcept;
  /// Wakes all sleepers of `word`.
  void wake_all(const void* word) noexcept;

  // ---- for all ----------------------------------------------------------------------------------

  /// Returns the costs of operations.
  [[nodiscard]] const costs& prices() const noexcept { return costs_; }
  /// Returns the counts so far.
  [[nodiscard]] const engine_stats& stats() const noexcept { return stats_; }
  /// Returns the number of threads.
  [[nodiscard]] std::uint32_t threads() const noexcept {
    return static_cast<std::uint32_t>(threads_.size());
  }
  /// Returns true if threads share processors.
  [[nodiscard]] bool shares_processors() const noexcept { return sharing_ != nullptr; }
  /// Returns the time for which the thread has had a processor, up to its own clock.
  [[nodiscard]] picoseconds busy(std::uint32_t thread) const noexcept;
  /// Returns the time for which the thread could run and had no processor, up to the last time it
  /// got one.
  [[nodiscard]] picoseconds run_delay(std::uint32_t thread) const noexcept;
  /// Returns the distance of two caches (`here`), 0 to 3: same cache, same node, same package,
  /// elsewhere.
  [[nodiscard]] std::uint32_t distance(std::uint32_t a, std::uint32_t b) const noexcept {
    return distances_[a * max_threads + b];
  }
  /// Returns the processing unit of a thread: where it runs or ran last.
  [[nodiscard]] std::uint32_t unit_of(std::uint32_t thread) const noexcept;
  /// Returns the time in which the running thread fetches a line from the cache `from`.
  [[nodiscard]] picoseconds transfer_time(std::uint32_t from) const noexcept {
    return transfer_[distance(here_, from)];
  }

 private:
  struct strand;

  static bool has(const line& l, std::uint32_t t) noexcept {
    return (l.holders[t >> 6] >> (t & 63) & 1) != 0;
  }
  static void only(line& l, std::uint32_t t) noexcept {
    l.holders = {};
    l.holders[t >> 6] = std::uint64_t{1} << (t & 63);
    l.writer = static_cast<std::uint8_t>(t);
    l.last_reader = static_cast<std::uint8_t>(t);
  }
  [[nodiscard]] bool is_mine_alone(const line& l) const noexcept {
    return l.writer == here_ && l.last_reader == here_;
  }
  [[nodiscard]] picoseconds fetch(const line& l) const noexcept;

  void set_distances(std::uint32_t cache, std::uint32_t unit);
  [[nodiscard]] bool shares(std::uint32_t thread) const noexcept;
  void run_system() noexcept;
  void give_up_processor() noexcept;
  void give_way() noexcept;
  void resume_next(bool ended) noexcept;
  void block(const void* word, picoseconds time_limit) noexcept;
  void wake(std::uint32_t sleeper, picoseconds call) noexcept;
  void tell(thread_event::kind what, std::uint32_t thread, picoseconds at, std::uint32_t other,
            picoseconds waited) const;
  void wake_up_to(const void* word, std::uint32_t count) noexcept;
  static void enter(void* argument) noexcept;

  static inline constinit thread_local engine* current_ = nullptr;

  // constant while it runs
  costs costs_;
  const sched::topology& machine_;
  picoseconds hit_, locked_, system_call_;
  std::array<picoseconds, 4> transfer_{};
  std::vector<std::uint8_t> distances_;
  // the running thread
  std::uint32_t running_ = 0;
  std::uint32_t here_ = 0;  ///< its cache
  picoseconds now_ = 0;
  picoseconds limit_ = 0;     ///< the clock of the next thread
  picoseconds buffered_ = 0;  ///< the time at which its stores so far have reached memory
  picoseconds deadline_ = 0;
  // all
  ready_queue ready_;
  std::vector<std::unique_ptr<strand>> threads_;
  std::vector<std::uint32_t> sleepers_;  ///< oldest first
  std::unique_ptr<processors> sharing_;  ///< null: each thread has a processor of its own
  const std::function<void(const thread_event&)>* log_ = nullptr;
  std::unique_ptr<fiber> home_;
  std::string failure_;
  engine_stats stats_;
};

// ---- accesses -----------------------------------------------------------------------------------

inline void engine::read(line& at) noexcept {
  settle();
  ++stats_.accesses;
  if (has(at, here_)) {
    now_ += hit_;
    return;
  }
  now_ = std::max(now_, at.free_at) + fetch(at);
  at.holders[here_ >> 6] |= std::uint64_t{1} << (here_ & 63);
  at.last_reader = static_cast<std::uint8_t>(here_);
  ++stats_.transfers;
}

inline void engine::write(line& at) noexcept {
  settle();
  ++stats_.accesses;
  now_ += hit_;
  if (is_mine_alone(at)) return;
  at.free_at = std::max(now_, at.free_at) + fetch(at);
  buffered_ = std::max(buffered_, at.free_at);
  only(at, here_);
  ++stats_.transfers;
}

inline void engine::modify(line& at) noexcept {
  settle();
  ++stats_.accesses;
  drain();
  if (!is_mine_alone(at)) {
    now_ = std::max(now_, at.free_at) + fetch(at);
    only(at, here_);
    ++stats_.transfers;
  }
  now_ += locked_;
  at.free_at = now_;
}

/// Returns the time to bring the line to the running thread, which has no valid copy or is about to
/// write.
inline picoseconds engine::fetch(const line& l) const noexcept {
  const std::uint8_t from = l.writer == here_ ? l.last_reader : l.writer;
  return from == no_thread ? hit_ : transfer_[distance(here_, from)];
}

}  // namespace garrick::machine
