// The scheduler of a deterministic world, of one system or several: one list of runnable actors,
// and one random number that chooses among them.
//
// Problem: the behaviour of a concurrent program depends on the order of turns. Here a seed decides
// that order, in one place: every actor that can run is in `runnable_`, and a turn takes one actor
// from the list and lets it handle a few messages. Nothing depends on addresses, on real time or on
// the operating system's scheduler, so equal seeds give equal runs.
//
// Thread safety: only the holder of the baton (baton.hpp): the system's own thread or the thread of
// a detached or blocking actor.
//
// Invariants:
// D1 An actor that can run is in `runnable_` exactly while no running thread holds its run right.
// D2 Only the holder of the baton changes `runnable_`.
// D3 Every choice takes its number from `random_`, which has no other use.
#pragma once

#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/base/time/virtual_clock.hpp>
#include <garrick/base/values/random.hpp>
#include <garrick/testkit/internal/history.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace garrick::core {
class cell;
struct envelope;
}  // namespace garrick::core

namespace garrick::testkit::internal {

/// A thread with an actor of its own, as the scheduler sees it.
class scheduled_thread {
 public:
  /// Returns the actor that waits here with its run right; null if the thread only wakes for a
  /// time-out.
  [[nodiscard]] virtual base::runnable* actor() const noexcept = 0;
  /// Lets the thread run until it waits again.
  virtual void go() noexcept = 0;

  bool queued = false;  ///< is in the scheduler's list

 protected:
  ~scheduled_thread() = default;
};

/// A candidate for a turn: an event-based actor, or a thread with an actor of its own.
struct candidate {
  base::runnable* event_actor = nullptr;
  scheduled_thread* thread = nullptr;  ///< if there is no event-based actor
  /// Returns the actor that waits here with its run right; null if a thread wakes for a time-out.
  [[nodiscard]] base::runnable* actor() const noexcept {
    return thread != nullptr ? thread->actor() : event_actor;
  }
};

enum class drive_outcome : std::uint8_t { progress, time_over, stuck };

class deterministic_scheduler;

/// The executor of one system's event-based actors: it only adds those that can run to the list.
class deterministic_workers final : public base::executor {
 public:
  explicit deterministic_workers(deterministic_scheduler& scheduler) noexcept
      : scheduler_(&scheduler) {}

  void schedule(base::runnable& actor) noexcept override;
  bool claim(base::runnable& actor) noexcept override;
  void expose() noexcept override {}

  /// Stops: no actor runs here after the end of the system.
  void stop() noexcept;

 private:
  deterministic_scheduler* scheduler_;  ///< null: the system has ended
};

/// The candidates of all systems of one world, and the turns that they take.
class deterministic_scheduler {
 public:
  deterministic_scheduler(std::uint64_t seed, base::virtual_clock& clock, history& past) noexcept
      : random_(seed), clock_(clock), past_(past) {}

  void add(const candidate& who) { runnable_.push_back(who); }
  /// Takes an event-based actor out of the list, for its next runner. Returns false if it is not in
  /// the list.
  bool claim(const base::runnable& actor) noexcept;
  /// Removes the candidates that `which` picks, because their system has ended.
  template <class Which>
  void forget(Which which) noexcept {
    std::erase_if(runnable_, which);
  }
  [[nodiscard]] bool idle() const noexcept { return runnable_.empty(); }
  [[nodiscard]] const candidate* find(const core::cell& who) const noexcept;

  /// Runs a turn of a randomly chosen candidate: up to `messages` messages. Returns true if a
  /// message was handled. Requires that a candidate can run.
  bool turn(std::uint32_t messages);
  /// Runs such a turn with a random limit of messages.
  bool turn() { return turn(random_quantum()); }
  /// Lets this actor, which must be able to run, handle one message. Returns true if it was
  /// handled.
  bool turn_of(core::cell& who);
  /// Runs a turn of a candidate. If no candidate can run, fires the next timer, provided that it is
  /// due by `deadline`.
  drive_outcome drive(base::instant deadline);

  /// Returns the next message of `who`; null if the actor cannot run or has none.
  [[nodiscard]] const core::envelope* next_of(const core::cell& who) const noexcept;
  /// Returns all messages that wait for `who`, oldest first within each priority, urgent ones
  /// first.
  [[nodiscard]] std::vector<const core::envelope*> waiting_for(core::cell& who) const;
  [[nodiscard]] bool signals_wait_for(core::cell& who) const noexcept;

  [[nodiscard]] base::virtual_clock& time() noexcept { return clock_; }
  [[nodiscard]] const history& past() const noexcept { return past_; }

  std::uint64_t next_id = 1;  ///< the actors of every world are numbered from 1

 private:
  [[nodiscard]] std::uint32_t random_quantum() noexcept;
  bool run_only(const core::cell& who);
  bool run_candidate(const candidate& chosen, std::uint32_t messages);
  bool run_event_actor(core::cell& who, std::uint32_t messages);
  [[nodiscard]] std::optional<turn_record> record_of(core::cell& who) const;

  base::random_source random_;
  base::virtual_clock& clock_;
  history& past_;
  std::vector<candidate> runnable_;
};

/// Returns the id of the message's sender; 0: the test, or a thread.
[[nodiscard]] std::uint64_t sender_of(const core::envelope* message) noexcept;

}  // namespace garrick::testkit::internal
