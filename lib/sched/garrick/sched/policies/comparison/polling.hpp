// Workers that look for work by polling, in three phases that grow more patient: the scheduler that
// paper 000 measures, with its four configurations.
//
// A phase is a number of attempts at the worker's own queues, with a sleep after each. Every n-th
// attempt also tries to steal. When the attempts are used up the next phase begins; after a success
// the next search begins with the first phase. The last phase goes on for ever. It either sleeps
// (the paper's default, custom and aggressive) or waits for an event with a time limit (its
// proposal, new). A thread that puts work into a worker's inbox then wakes that worker.
//
//   | attempts / steal interval / sleep | aggressive   | moderate        | relaxed               |
//   | polling_default                   | 100 / 10 / 0 | 500 / 5 / 50 µs | ∞ / 1 / 10 ms         |
//   | polling_custom                    | 100 / 10 / 0 | 500 / 5 / 1 µs  | ∞ / 5 / 1 µs          |
//   | polling_aggressive                | 100 / 10 / 0 | 500 / 5 / 0     | ∞ / 1 / 0             |
//   | polling_new                       | 100 / 10 / 0 | 500 / 5 / 1 µs  | ∞ / 1 / event, 200 µs |
//
// The rows are the paper's table I. For its figures 6 and 7 `new` had a time limit of 10 ms; its
// figures 8 and 9 found 200 µs best.
//
// These policies serve for comparison: their idle workers use processor time, those of
// work_stealing do not. They are of use where a processor is set aside for each worker.
//
// Thread safety: see policy.hpp.
//
// Invariants
// P1 Nothing is announced: work in a deque or an inbox is found by its worker's next attempt or by
//    a thief's. The longest time until then is the last phase's sleep or time limit. If all others
//    are busy, work at a stalled worker is found by their looks, as W4 of work_stealing.hpp says,
//    though here a worker has no slot.
// P2 With an event, the worker takes its token only before it looks into its inbox, and a push
//    leaves the token after it: work in one's own inbox ends the wait.
// P3 Fairness. W3 of work_stealing.hpp holds, but there is no slot, no turn in the middle of a
//    round, and no round that depends on the time. Each round of at most a quarter of a quantum
//    begins with the oldest of the inbox or of the deque, in turns.
#pragma once

#include <garrick/sched/policies/policy.hpp>
#include <garrick/sched/policies/worker_figures.hpp>
#include <garrick/sched/policies/worker_round.hpp>
#include <garrick/sched/queues/inbox.hpp>
#include <garrick/sched/queues/work_stealing_deque.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace garrick::sched {

/// Attempts without end; for the last phase.
inline constexpr std::uint32_t for_ever = 0;

/// A phase: `Attempts` attempts, of which every `StealInterval`-th steals, and a sleep of `SleepNs`
/// nanoseconds after each.
template <std::uint32_t Attempts, std::uint32_t StealInterval, std::uint64_t SleepNs>
struct poll_phase {
  static_assert(StealInterval != 0, "garrick: a phase that never steals strands work");
  static constexpr std::uint32_t attempts = Attempts;             ///< or `for_ever`
  static constexpr std::uint32_t steal_interval = StealInterval;  ///< attempts from theft to theft
  static constexpr std::uint64_t sleep_ns = SleepNs;              ///< after each attempt
  static constexpr bool waits_for_event = false;                  ///< it sleeps its time out
};

/// A phase that waits after each attempt until another thread puts work into the worker's inbox,
/// for at most `LimitNs` nanoseconds.
template <std::uint32_t Attempts, std::uint32_t StealInterval, std::uint64_t LimitNs>
struct event_phase : poll_phase<Attempts, StealInterval, LimitNs> {
  static constexpr bool waits_for_event = true;  ///< work in the inbox ends the wait
};

/// The policy with these three phases; `Name::text` is its name. See `scheduling_policy` for its
/// functions.
template <class Name, class Aggressive, class Moderate, class Relaxed, class Traits = real_traits>
class polling {
  static_assert(Relaxed::attempts == for_ever,
                "garrick: the last phase of a polling policy goes on for ever");
  static_assert(Aggressive::attempts != for_ever && Moderate::attempts != for_ever,
                "garrick: only the last phase goes on for ever");
  using atomics = typename Traits::atomics;
  using runnable = base::runnable;
  using deque = work_stealing_deque<atomics>;
  using counter = own_counter<atomics>;

 public:
  static constexpr std::string_view name = Name::text;  ///< as settings have it

  /// A worker: its deque and its inbox.
  class alignas(64) worker_data {
   public:
    /// Makes the worker with this index. `round` is the number of messages in each of its rounds.
    worker_data(std::uint32_t index, std::uint32_t round, const policy_options& options)
        : index_(index),
          round_(round),
          watch_(index, round, options.look_interval),
          random_(seed_of_worker(options.seed, index)),
          figures_(index, options.probe) {}
    /// Returns its number, from 0.
    [[nodiscard]] std::uint32_t index() const noexcept { return index_; }

   private:
    friend class polling;
    std::uint32_t index_;
    worker_round round_;
    stalled_watch watch_;
    typename Traits::random random_;
    worker_figures<Traits> figures_;
    counter beats_;
    deque deque_;
    alignas(64) work_inbox<atomics> inbox_;
    typename Traits::parker event_;
  };

  /// Makes the workers' data; `options.places` is not needed.
  explicit polling(const policy_options& options)
      : count_(options.workers),
        started_(options.workers),
        quantum_(options.quantum),
        round_(worker_round::length_for(options.quantum)) {
    for (std::uint32_t i = 0; i < count_; ++i)
      workers_.push_back(std::make_unique<worker_data>(i, round_, options));
  }

  /// Returns the worker with this index.
  [[nodiscard]] worker_data& worker(std::uint32_t index) noexcept { return *workers_[index]; }

  /// Gives no more work to workers other than the first `started`, because only these have a
  /// thread. The started workers also take the work that the others have already (P1).
  void use_first(std::uint32_t started) noexcept {
    // order: relaxed; work that goes to the wrong one meanwhile is found
    started_.store(started, std::memory_order_relaxed);
  }

  /// Queues `r` at each worker in turn.
  void central_enqueue(runnable& r) noexcept {
    // order: relaxed both; any distribution will do
    const std::uint32_t turn = next_target_.fetch_add(1, std::memory_order_relaxed);
    external_enqueue(worker(turn % started_.load(std::memory_order_relaxed)), r);
  }
  /// Puts `r` into the inbox of `target`; signals its event if it has one.
  void external_enqueue(worker_data& target, runnable& r) noexcept {
    if (!r.offer()) return;  // its old entry is valid again
    target.inbox_.push(r);
    if constexpr (Relaxed::waits_for_event)
      // order: relaxed; a statistic
      if (target.event_.unpark()) wakes_.fetch_add(1, std::memory_order_relaxed);
  }
  /// Puts `r` into the deque of `self`.
  void internal_enqueue(worker_data& self, runnable& r) noexcept {
    if (r.offer()) self.deque_.push(&r);
  }
  /// Puts `r` into the inbox of `self`.
  void resume_later(worker_data& self, runnable& r) noexcept {
    if (r.offer()) self.inbox_.push(r);
  }

  /// Takes a runnable from the deque, the inbox or another worker, phase after phase. Blocks until
  /// there is one; returns null if the pool stops.
  [[nodiscard]] runnable* dequeue(worker_data& self) noexcept {
    if (stopped()) return nullptr;
    if (self.round_.is_over()) [[unlikely]] {
      if (runnable* r = start_round(self)) return r;
    }
    if (runnable* r = own(self)) return r;
    self.beats_.add();
    if (runnable* r = phase<Aggressive>(self)) return r;
    if (runnable* r = phase<Moderate>(self)) return r;
    return phase<Relaxed>(self);
  }

  /// Returns the rest of the round, and at most a quantum.
  [[nodiscard]] std::uint32_t before_resume(worker_data& self, runnable&) noexcept {
    self.figures_.ran();
    return self.round_.allowance(quantum_);
  }
  /// Counts the used messages towards the round (P3).
  void after_resume(worker_data& self, std::uint32_t used) noexcept { self.round_.use(used); }
  /// Does nothing.
  void after_completion(worker_data&) noexcept {}

  /// Takes `r` out of its queue. Returns false if it waits in none.
  [[nodiscard]] bool claim(worker_data&, runnable& r) noexcept { return r.claim(); }
  /// Does nothing: all work is open.
  void expose(worker_data&) noexcept {}
  /// Returns true if a deque or an inbox holds something. Any thread.
  [[nodiscard]] bool has_open_work() const noexcept {
    return std::ranges::any_of(workers_, [](const auto& w) {
      return !w->inbox_.looks_empty() || !w->deque_.looks_empty();
    });
  }

  /// Returns false: no helper.
  [[nodiscard]] bool wants_helper() const noexcept { return false; }
  /// Does nothing.
  void helper() noexcept {}

  /// Lets each `dequeue` return null at its next attempt; ends waits for events, but not sleeps.
  void request_stop() noexcept {
    // order: release; the events carry it, or the next attempt sees it
    stopping_.store(true, std::memory_order_release);
    for (auto& w : workers_) w->event_.unpark();
  }
  /// Returns a runnable that is left in any deque or inbox, or null.
  [[nodiscard]] runnable* drain_one() noexcept {
    for (auto& w : workers_)
      if (runnable* r = own(*w)) return r;
    return nullptr;
  }

  /// Returns sums over all workers; a sleep or wait counts as a park.
  [[nodiscard]] scheduler_stats statistics() const noexcept {
    scheduler_stats sum;
    for (const auto& w : workers_) {
      const worker_stats one = w->figures_.read();
      sum.runs += one.runs;
      sum.steals += one.steals;
      sum.parks += one.parks;
    }
    sum.wakes = wakes_.load(std::memory_order_relaxed);  // order: relaxed; a statistic
    return sum;
  }
  /// Returns the figures of the worker with this index, and the length of its queues.
  [[nodiscard]] worker_stats worker_statistics(std::uint32_t index) const noexcept {
    const worker_data& w = *workers_[index];
    worker_stats now = w.figures_.read();
    now.queued = w.deque_.size();
    now.has_inbox = !w.inbox_.looks_empty();
    return now;
  }
  /// Returns the state of each worker's queues.
  [[nodiscard]] std::string describe() const {
    std::string text = "polling";
    for (const auto& w : workers_)
      text += "; worker " + std::to_string(w->index_) + ": deque " +
              std::to_string(w->deque_.size()) +
              (w->inbox_.looks_empty() ? ", inbox empty" : ", inbox filled");
    return text;
  }

 private:
  [[nodiscard]] bool stopped() const noexcept {
    // order: relaxed; looked at again at each attempt
    return stopping_.load(std::memory_order_relaxed);
  }

  runnable* own(worker_data& self) noexcept {
    if (runnable* r = self.deque_.pop()) return r;
    return take_inbox(self, self);
  }

  /// Empties the inbox of `from`. Returns the oldest item; the rest goes into the deque of `self`,
  /// so that the oldest comes out first.
  static runnable* take_inbox(worker_data& self, worker_data& from) noexcept {
    return from.inbox_.take_all([&self](runnable& r) { self.deque_.push(&r); });
  }

  /// Begins a round (P3). Returns null if there is nothing.
  runnable* start_round(worker_data& self) noexcept {
    self.beats_.add();
    if (count_ > 1 && self.watch_.is_due()) look_about(self);
    const bool inbox_first = self.round_.begin();
    runnable* const oldest = inbox_first ? take_inbox(self, self) : self.deque_.steal_oldest();
    if (oldest != nullptr) return oldest;
    return inbox_first ? self.deque_.steal_oldest() : take_inbox(self, self);
  }

  /// P1: relieves the watched worker if it is stalled, and watches the next one.
  void look_about(worker_data& self) noexcept {
    worker_data& watched = worker(self.watch_.whom());
    if (self.watch_.stands_still(watched.beats_.get())) {
      const auto add = [&](runnable* r) {
        if (r == nullptr) return;
        self.inbox_.push(*r);
        self.figures_.stole(watched.index_);
      };
      runnable* oldest = nullptr;
      if (watched.deque_.steal(oldest) == deque::steal_result::taken) add(oldest);
      add(take_inbox(self, watched));
    }
    self.watch_.note(worker(self.watch_.watch_next(count_)).beats_.get());
  }

  /// Steals from one victim, at random.
  runnable* steal(worker_data& self) noexcept {
    if (count_ == 1) return nullptr;
    std::uint32_t victim = self.random_() % (count_ - 1);
    if (victim >= self.index_) ++victim;
    runnable* r = nullptr;
    if (worker(victim).deque_.steal(r) != deque::steal_result::taken)
      r = take_inbox(self, worker(victim));
    if (r != nullptr) self.figures_.stole(victim);
    return r;
  }

  /// Runs one phase. Returns null if its attempts are used up, or the pool stops.
  template <class Phase>
  runnable* phase(worker_data& self) noexcept {
    for (std::uint32_t i = 0; Phase::attempts == for_ever || i < Phase::attempts; ++i) {
      if (stopped()) return nullptr;
      if (runnable* r = own(self)) return r;
      if (i % Phase::steal_interval == 0)
        if (runnable* r = steal(self)) return r;
      if constexpr (Phase::sleep_ns == 0) {
        atomics::pause();
      } else {
        self.figures_.park([&] {
          if constexpr (Phase::waits_for_event)
            self.event_.park_for(Phase::sleep_ns);
          else
            Traits::clock::sleep_ns(Phase::sleep_ns);
        });
      }
    }
    return nullptr;
  }

  // constant
  std::uint32_t count_;
  typename atomics::template atomic<std::uint32_t> started_;  // almost: it falls at most once
  std::uint32_t quantum_;
  std::uint32_t round_;
  std::vector<std::unique_ptr<worker_data>> workers_;
  // written once, at the end
  typename atomics::template atomic<bool> stopping_{false};
  // all threads
  alignas(64) typename atomics::template atomic<std::uint32_t> next_target_{0};
  alignas(64) typename atomics::template atomic<std::uint64_t> wakes_{0};
};

/// The names of the configurations, as types.
namespace poll_names {
/// The name of `polling_default`.
struct caf_default {
  static constexpr std::string_view text = "polling_default";  ///< as settings have it
};
/// The name of `polling_custom`.
struct custom {
  static constexpr std::string_view text = "polling_custom";  ///< as settings have it
};
/// The name of `polling_aggressive`.
struct aggressive {
  static constexpr std::string_view text = "polling_aggressive";  ///< as settings have it
};
/// The name of `polling_new`.
struct event {
  static constexpr std::string_view text = "polling_new";  ///< as settings have it
};
}  // namespace poll_names

/// The paper's *default*: its last phase looks every 10 ms.
template <class Traits = real_traits>
using polling_default =
    polling<poll_names::caf_default, poll_phase<100, 10, 0>, poll_phase<500, 5, 50'000>,
            poll_phase<for_ever, 1, 10'000'000>, Traits>;
/// The paper's *custom*: its last phase looks every microsecond.
template <class Traits = real_traits>
using polling_custom = polling<poll_names::custom, poll_phase<100, 10, 0>,
                               poll_phase<500, 5, 1'000>, poll_phase<for_ever, 5, 1'000>, Traits>;
/// The paper's *aggressive*: it never sleeps.
template <class Traits = real_traits>
using polling_aggressive = polling<poll_names::aggressive, poll_phase<100, 10, 0>,
                                   poll_phase<500, 5, 0>, poll_phase<for_ever, 1, 0>, Traits>;
/// The paper's proposal, *new*: its last phase waits for an event, at most 200 µs at a time.
template <class Traits = real_traits>
using polling_new = polling<poll_names::event, poll_phase<100, 10, 0>, poll_phase<500, 5, 1'000>,
                            event_phase<for_ever, 1, 200'000>, Traits>;

}  // namespace garrick::sched
