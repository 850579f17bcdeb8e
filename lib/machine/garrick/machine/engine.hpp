// A machine that does not exist: threads with a processor each, cache lines that cost time when
// they move, and a clock for every thread.
//
// Each simulated thread is a fibre. Shared memory is touched through `line`s: every access charges
// the toucher's clock by who has the line. The fibre whose clock is furthest behind runs, so
// accesses happen in the order of their times; nothing reads a real clock, and the whole machine is
// one real thread. It is what the shipped scheduling policies run on (traits.hpp).
//
// What is modelled: transfers by distance; that writers take a line one after the other, and
// readers wait for the writer before them, but not for each other (contention); that a plain store
// is buffered and a locked operation waits for the buffer; sleeping and waking through the system.
// What is not: false sharing (each atomic variable is a line of its own), caches that are too
// small, memory bandwidth, threads that share a processor, weak memory orders (the model checker
// looks at these).
//
// Thread safety: one real thread; one engine runs at a time on it.
//
// Invariants
// S1 No access happens before one with a smaller time: a fibre whose clock is ahead of another's
// gives way before it touches a line. What it charges afterwards is its own.
// S2 Of equal times the running thread's goes first, then the smallest number; nothing else
// decides. So one program, one seed and one set of costs give one result, bit by bit.
// S3 A thread is in the queue of those that go on exactly if it runs, is ready, or sleeps with a
// time limit. If the queue is empty while threads sleep, nobody will ever wake them: the run ends
// with an error.
//  S4 A wake-up is given to one sleeper of its word, the one that slept first.
#pragma once

#include <garrick/machine/costs.hpp>
#include <garrick/machine/ready_queue.hpp>
#include <garrick/sched/places/topology.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace garrick::machine {

class fiber;

/// Simulated time. A picosecond is fine enough to add costs without rounding.
using picoseconds = std::uint64_t;
[[nodiscard]] constexpr picoseconds from_ns(double ns) noexcept {
  return static_cast<picoseconds>(ns * 1000);
}

inline constexpr std::uint32_t max_threads = 128;
inline constexpr std::uint8_t no_thread = 0xff;

/// One cache line: who has it, who wrote it last, and when its present transfer is done.
struct line {
  std::array<std::uint64_t, 2> holders{};  ///< threads whose copy is good, one bit each
  picoseconds free_at = 0;
  std::uint8_t writer = no_thread;
  std::uint8_t last_reader = no_thread;
};

/// Counts of a run.
struct engine_stats {
  std::uint64_t accesses = 0;   ///< of lines
  std::uint64_t transfers = 0;  ///< those that had to fetch the line
  std::uint64_t switches = 0;   ///< between fibres
  std::uint64_t wakes = 0;      ///< through the system
};

class engine {
 public:
  engine(const costs& c, const sched::topology& machine);
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Before `run`: a thread on processing unit `unit`. `precise`: its sleeps are not stretched.
  /// Returns its number, counted from 0. Requires fewer than `max_threads`.
  std::uint32_t add_thread(std::uint32_t unit, bool precise, void (*body)(void*), void* argument);

  /// Once, while no other engine runs on this real thread. Until all threads have ended. Error
  /// text: they sleep for ever (S3), or the first of them to pass `limit` had not ended. Then
  /// nothing on their stacks is destroyed.
  [[nodiscard]] std::string run(picoseconds limit = std::numeric_limits<picoseconds>::max());

  /// The engine that runs on this real thread; null outside of `run`, and then accesses cost
  /// nothing.
  [[nodiscard]] static engine* current() noexcept { return current_; }

  // ---- for the running thread -------------------------------------------------------------------

  [[nodiscard]] std::uint32_t self() const noexcept { return running_; }
  [[nodiscard]] picoseconds now() const noexcept { return now_; }
  /// Work that touches nothing shared.
  void spend(picoseconds time) noexcept { now_ += time; }
  void spend_ns(double ns) noexcept { now_ += from_ns(ns); }
  /// Lets every thread that is behind catch up, as before an access.
  void settle() noexcept {
    if (now_ > limit_) [[unlikely]]
      give_way();
  }

  void read(line& l) noexcept;
  void write(line& l) noexcept;
  /// A locked operation, or a store that must be seen before the next load.
  void modify(line& l) noexcept;
  /// Waits until the thread's stores so far have reached memory.
  void drain() noexcept { now_ = std::max(now_, buffered_); }

  void sleep(picoseconds time) noexcept;
  /// Sleeps at `word`, if `unchanged(word)` when all accesses before now have happened.
  template <class Word, class Unchanged>
  void wait(const Word& word, const Unchanged& unchanged, picoseconds time_limit) noexcept {
    spend(system_call_);
    settle();
    if (!unchanged(word)) return;
    block(&word, time_limit);
  }
  static constexpr picoseconds for_ever = std::numeric_limits<picoseconds>::max();
  /// Wakes one sleeper of `word`, if there is one.
  void wake_one(const void* word) noexcept;
  void wake_all(const void* word) noexcept;

  // ---- for everybody ----------------------------------------------------------------------------

  [[nodiscard]] const costs& prices() const noexcept { return costs_; }
  [[nodiscard]] const engine_stats& stats() const noexcept { return stats_; }
  /// Time that the thread was not asleep, as far as it has come.
  [[nodiscard]] picoseconds busy(std::uint32_t thread) const noexcept;
  /// By distance of two threads' units: 0 to 3.
  [[nodiscard]] std::uint32_t distance(std::uint32_t a, std::uint32_t b) const noexcept {
    return distances_[a * max_threads + b];
  }
  [[nodiscard]] std::uint32_t unit_of(std::uint32_t thread) const noexcept;
  /// What it takes the running thread to fetch a line from `thread`.
  [[nodiscard]] picoseconds transfer_time(std::uint32_t thread) const noexcept {
    return transfer_[distance(running_, thread)];
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
    return l.writer == running_ && l.last_reader == running_;
  }
  [[nodiscard]] picoseconds fetch(const line& l) const noexcept;

  void give_way() noexcept;
  void resume_next(bool ended) noexcept;
  void block(const void* word, picoseconds time_limit) noexcept;
  void wake(std::uint32_t sleeper, picoseconds at) noexcept;
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
  picoseconds now_ = 0;
  picoseconds limit_ = 0;     ///< the clock of the thread that is next
  picoseconds buffered_ = 0;  ///< when its stores so far have reached memory
  picoseconds deadline_ = 0;
  // all
  ready_queue ready_;
  std::vector<std::unique_ptr<strand>> threads_;
  std::vector<std::uint32_t> sleepers_;  ///< oldest first
  std::unique_ptr<fiber> home_;
  std::string failure_;
  engine_stats stats_;
};

// ---- accesses -----------------------------------------------------------------------------------

inline void engine::read(line& l) noexcept {
  settle();
  ++stats_.accesses;
  if (has(l, running_)) {
    now_ += hit_;
    return;
  }
  now_ = std::max(now_, l.free_at) + fetch(l);
  l.holders[running_ >> 6] |= std::uint64_t{1} << (running_ & 63);
  l.last_reader = static_cast<std::uint8_t>(running_);
  ++stats_.transfers;
}

inline void engine::write(line& l) noexcept {
  settle();
  ++stats_.accesses;
  now_ += hit_;
  if (is_mine_alone(l)) return;
  l.free_at = std::max(now_, l.free_at) + fetch(l);
  buffered_ = std::max(buffered_, l.free_at);
  only(l, running_);
  ++stats_.transfers;
}

inline void engine::modify(line& l) noexcept {
  settle();
  ++stats_.accesses;
  drain();
  if (!is_mine_alone(l)) {
    now_ = std::max(now_, l.free_at) + fetch(l);
    only(l, running_);
    ++stats_.transfers;
  }
  now_ += locked_;
  l.free_at = now_;
}

/// What it takes to get the line to the running thread, which has no good copy or wants to write.
inline picoseconds engine::fetch(const line& l) const noexcept {
  const std::uint8_t from = l.writer == running_ ? l.last_reader : l.writer;
  return from == no_thread ? hit_ : transfer_[distance(running_, from)];
}

}  // namespace garrick::machine
