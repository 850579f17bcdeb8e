// Runs the model of a program on a simulated machine under a shipped scheduling policy.
//
//   const auto machine = sched::topology::synthetic("pack:4 numa:2 l3:1 core:8 pu:1");
//   simulation sim({.machine = *machine, .workers = 64, .policy = "locality_guided"});
//   auto& first = sim.spawn<worker>();
//   sim.outside([&](outside& program) { program.send(first, 1); });
//   const outcome result = sim.run();                   // until every message has been handled
//
// The result depends only on the options and the model: every run of them gives the same result.
//
// Thread safety: everything belongs to one real thread.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/machine/model.hpp>
#include <garrick/machine/pool.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace garrick::machine {

/// The options of a simulation. The defaults are those of an actor system on a machine with one
/// core.
struct simulation_options {
  sched::topology machine = sched::topology::flat(1);  ///< where the workers have their places
  std::uint32_t workers = 1;                           ///< 1 to 120
  std::string policy = "work_stealing";                ///< the name of a shipped policy
  /// Null, or a function that builds another policy in place of `policy`:
  /// `std::make_unique<simulated_pool<mine<machine_traits>>>(machine, options)`.
  std::unique_ptr<pool> (*make_policy)(engine& machine,
                                       const sched::policy_options& options) = nullptr;
  std::uint64_t seed = 1;  ///< decides every random choice of the policy and the model
  std::uint32_t quantum = sched::default_quantum;  ///< the most messages of one run
  base::duration idle_spin{};  ///< how long a worker looks for work before it sleeps
  /// The workers that count as neighbours.
  sched::neighbourhood neighbours = sched::neighbourhood::cache;
  costs prices;  ///< the costs of operations
  /// Present: all threads share the units of `machine`, at most 128, by these rules. Absent: each
  /// thread has a processor of its own.
  std::optional<time_sharing> sharing{};
  /// Keeps each worker on its unit, if threads share processors.
  bool pin_workers = false;
  /// The slice that each worker asks the system for, in nanoseconds, from 1e5 to 1e8. 0: none;
  /// workers get the slice of `sharing`.
  double worker_slice = 0;
  double helper_slice = 0;    ///< the same for the policy's helper
  bool worker_batch = false;  ///< workers preempt no thread when they wake up (SCHED_BATCH)
  /// The number of messages in a mailbox at which senders are slowed.
  std::uint32_t soft_limit = 512;
  /// The limit of a run in simulated seconds, up to 1e7. If work is left then, the run ends with an
  /// error, even if all workers sleep.
  double limit_seconds = 1e6;
};

/// The outcome of a simulation.
struct outcome {
  std::string error;          ///< empty: all messages have been handled
  double seconds = 0;         ///< simulated, until the last message had been handled
  double busy_seconds = 0;    ///< processor time of all workers
  double helper_seconds = 0;  ///< processor time of the policy's helper
  /// The sum of the times for which workers could run and had no processor. If threads share
  /// processors, it corresponds to the run delay of schedstat plus the latency of wake-ups.
  double waited_seconds = 0;
  std::uint64_t messages = 0;     ///< the number of messages sent
  sched::scheduler_stats policy;  ///< the policy's counts
  engine_stats machine;           ///< the machine's counts
};

/// A thread that is not a worker: a program's main thread, or a detached actor that generates load.
class outside {
 public:
  /// Returns the simulated nanoseconds since the beginning.
  [[nodiscard]] double now_ns() const noexcept;
  /// Uses `ns` nanoseconds of processor time.
  void work(double ns) noexcept;
  /// Sleeps until exactly that time: the lateness of timers is not added. If threads share
  /// processors, the thread may run later.
  void sleep_until(double ns) noexcept;
  /// Spins until that time, and keeps its processor busy.
  void spin_until(double ns) noexcept;
  /// Sends a message. If the receiver's mailbox is full, waits for room like an ordinary thread.
  void send(model_actor& to, std::uint64_t value) noexcept;

 private:
  friend class simulation;
  explicit outside(simulation& of) noexcept : of_(of) {}
  simulation& of_;
};

/// The options of a thread outside.
struct outside_options {
  std::string name = "outside";  ///< in a log
  /// Gives the thread a processor of its own even if threads share processors, so that it disturbs
  /// no other thread.
  bool apart = false;
};

/// A thread without actors, as of another program: it uses a processor that it may share with
/// workers.
struct foreign_thread {
  /// Nanoseconds of work between two rests; 0: it works for ever. Each stretch is drawn separately,
  /// between half of this value and one and a half times it.
  double busy = 0;
  double idle = 1e6;       ///< nanoseconds of each rest; drawn likewise
  bool pinned = false;     ///< whether it stays on `unit`
  std::uint32_t unit = 0;  ///< where it begins if possible
};

/// A run of a model of a program.
class simulation {
 public:
  /// Makes the machine and its workers. Throws std::invalid_argument if `policy` names no shipped
  /// policy, if the number of workers is zero or too large, if the quantum or the mailbox's limit
  /// is zero, and if the time limit, a price or a slice is out of range.
  explicit simulation(simulation_options options);
  ~simulation();
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;

  /// Makes an actor, which lives as long as the simulation.
  template <std::derived_from<model_actor> A, class... Args>
  A& spawn(Args&&... args) {
    auto made = std::make_unique<A>(std::forward<Args>(args)...);
    A& ref = *made;
    ref.of_ = this;
    actors_.push_back(std::move(made));
    return ref;
  }
  /// Adds a thread that is not a worker and runs `body` once. Call it before `run`, at most six
  /// times. The run does not end before the body has returned.
  void outside(std::function<void(machine::outside&)> body, outside_options how = {});
  /// Adds a foreign thread, which ends with the run. Call it before `run`. Workers, threads outside
  /// and foreign threads may be 126 in all. Throws std::invalid_argument if a time is out of range
  /// or the machine has no such unit.
  void foreign(const foreign_thread& how);
  /// Sets the function that is called for each event of a thread's scheduling. An event may be
  /// reported some microseconds before its time, so the events must be sorted by time
  /// (event_log.hpp). Call it before `run`.
  void observe(std::function<void(const thread_event&)> log);
  /// Returns the name of the thread with this number in a log. Call it before `run` ends.
  [[nodiscard]] const std::string& name_of(std::uint32_t thread) const { return names_[thread]; }

  /// Runs until every message has been handled and every thread outside has ended, and returns the
  /// outcome. Call it once, and while no other simulation runs on this real thread.
  [[nodiscard]] outcome run();

  /// Returns the options that the simulation was given.
  [[nodiscard]] const simulation_options& options() const noexcept { return options_; }

 private:
  friend class turn;
  friend class machine::outside;
  friend class model_actor;

  struct outsider;
  struct foreigner;
  /// The state of a simulated thread.
  struct here {
    std::uint64_t runs = 0;  ///< of actors
    bool in_place = false;   ///< a sender runs its receiver
    /// the present handler's sends ran receivers in place: the batch and the round end after this
    /// handler
    bool batch_over = false;
    std::uint32_t in_place_batches = 0;
    std::uint32_t free_sends = 0;  ///< sends that do not wait, since the last wait brought no room
    model_actor* next_in_place = nullptr;  ///< claimed; runs after the present batch in place
    model_actor* woken_in_place = nullptr;
  };

  void send(model_actor* from, model_actor& to, std::uint64_t value) noexcept;
  void make_room(model_actor& to) noexcept;
  bool run_in_place(model_actor& to) noexcept;
  void run_chain(model_actor& first, here& h) noexcept;
  /// Reduces the number of events for which the run waits: a message has been handled, or an
  /// outside thread has ended.
  void done() noexcept;
  static void live_outside(void* argument) noexcept;
  static void live_foreign(void* argument) noexcept;
  /// Adds a thread with this name to the engine.
  std::uint32_t add_thread(std::string name, std::uint32_t unit, void (*body)(void*),
                           void* argument);
  static void end_at_limit(void* argument) noexcept;

  simulation_options options_;
  sched::worker_places places_;
  base::random_source random_;
  engine engine_;
  std::unique_ptr<pool> pool_;
  std::vector<std::string> names_;  ///< of the engine's threads
  std::function<void(const thread_event&)> log_;
  std::vector<std::unique_ptr<outsider>> outsiders_;
  std::vector<std::unique_ptr<foreigner>> foreigners_;
  std::vector<std::unique_ptr<model_actor>> actors_;
  std::vector<here> here_;
  std::uint64_t open_ = 0;
  std::uint64_t messages_ = 0;
  picoseconds ended_at_ = 0;
  bool has_helper_ = false;  ///< the policy's helper has a thread, numbered after the workers
  bool over_ = false;        ///< tells foreign threads to end
  std::string unfinished_;   ///< the unfinished work at the limit
};

template <class A, class... Args>
A& turn::spawn(Args&&... args) {
  engine& e = *engine::current();
  e.spend_ns(e.prices().spawn);
  A& made = of_.spawn<A>(std::forward<Args>(args)...);
  // its lines are in the cache where it was made
  static_cast<model_actor&>(made).last_cache_ = static_cast<std::uint8_t>(e.here());
  return made;
}

}  // namespace garrick::machine
