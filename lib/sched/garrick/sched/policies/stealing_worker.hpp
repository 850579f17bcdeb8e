// A worker of work_stealing.hpp: its slot, its deque, its inbox and its figures.
//
// Thread safety: each member names its owner; the functions are for any thread.
#pragma once

#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/sched/parking/slot_looks.hpp>
#include <garrick/sched/policies/policy.hpp>
#include <garrick/sched/policies/stalled_watch.hpp>
#include <garrick/sched/policies/worker_figures.hpp>
#include <garrick/sched/policies/worker_round.hpp>
#include <garrick/sched/queues/inbox.hpp>
#include <garrick/sched/queues/next_slot.hpp>
#include <garrick/sched/queues/work_stealing_deque.hpp>

#include <atomic>
#include <cstdint>
#include <string>

namespace garrick::sched {

/// The data of one worker of `work_stealing`.
template <class Traits>
struct alignas(64) stealing_worker {
  using atomics = typename Traits::atomics;  ///< as the traits have them

  /// Makes the worker with this number, from 0. `longest_round` is the most messages of its rounds.
  stealing_worker(std::uint32_t number, std::uint32_t longest_round, const policy_options& options)
      : own_index(number),
        round(longest_round, worker_round::first_of(longest_round)),
        watch(number, longest_round, options.look_interval),
        random(seed_of_worker(options.seed, number)),
        figures(number, options.probe) {}

  /// Returns its number, from 0.
  [[nodiscard]] std::uint32_t index() const noexcept { return own_index; }

  /// Returns true if it has work that all workers may take.
  [[nodiscard]] bool has_open_work() const noexcept {
    return !inbox.looks_empty() || !deque.looks_empty();
  }

  /// Returns true if it has begun a run since any thread last called this function. Any thread; a
  /// hint: if it has not, it may be in a long handler, and should get no more work.
  [[nodiscard]] bool has_begun_run_since_asked() noexcept {
    const std::uint64_t now = figures.runs();
    // order: relaxed both; a hint
    if (runs_when_asked.load(std::memory_order_relaxed) == now) return false;
    runs_when_asked.store(now, std::memory_order_relaxed);  // order: as above
    return true;
  }

  /// Returns its figures, and the length of its queues.
  [[nodiscard]] worker_stats statistics() const noexcept {
    worker_stats now = figures.read();
    now.queued = deque.size() + (front.slot.look().item != nullptr ? 1 : 0);
    now.has_inbox = !inbox.looks_empty();
    return now;
  }

  /// Returns the state of its queues in words.
  [[nodiscard]] std::string describe() const {
    std::string text =
        "worker " + std::to_string(own_index) + ": deque " + std::to_string(deque.size());
    text += inbox.looks_empty() ? ", inbox empty" : ", inbox filled";
    text += front.slot.look().item == nullptr ? ", slot empty" : ", slot filled";
    return text;
  }

  // constant
  std::uint32_t own_index;  ///< from 0
  // the owner's; others read the counters
  worker_round round;                                 ///< W3
  stalled_watch watch;                                ///< W4: the worker that it watches
  typename next_slot<atomics>::picture watched_slot;  ///< W4: the slot of that worker
  typename Traits::random random;                     ///< for the order in which it visits victims
  worker_figures<Traits> figures;                     ///< its counts
  own_counter<atomics> beats;                         ///< W4: signs of life
  own_counter<atomics> emptied;    ///< how often it found nothing in its slot and its deque
  bool handles_event = false;      ///< the owner's: in a loop (leading.hpp), not in a run
  bool had_event_at_once = false;  ///< the owner's: the last event came without a wait
  // owner, and now and then the ticker or a worker that looks about
  alignas(64) worker_front<Traits> front;  ///< its slot, and the processor of its thread
  // owner and thieves (aligns itself)
  work_stealing_deque<atomics> deque;  ///< own work
  // all threads
  alignas(64) work_inbox<atomics> inbox;  ///< from others, or from a run that ended in mid-round
  /// for `has_begun_run_since_asked`
  typename atomics::template atomic<std::uint64_t> runs_when_asked{0};
};

}  // namespace garrick::sched
