// Runs the model of a program on a simulated machine under a shipped scheduling policy.
//
//   simulation s({.machine = *sched::topology::synthetic("pack:4 numa:2 l3:1 core:8 pu:1"), .workers = 64, .policy = "locality_guided"});
//   auto& a = s.spawn<worker>();
//   s.outside([&](outside& o) { o.send(a, 1); });
//   const outcome result = s.run();                     // until every message has been handled
//
// The result depends on nothing but the options and the model: run it again and it is the same.
//
// Thread safety: one real thread.
#pragma once

#include <garrick/machine/model.hpp>
#include <garrick/machine/pool.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace garrick::machine {

struct simulation_options {
  sched::topology machine = sched::topology::flat(1);
  std::uint32_t workers = 1;  ///< 1 to 120
  std::string policy = "work_stealing";
  /// Builds a policy of one's own instead: `std::make_unique<simulated_pool<mine<machine_traits>>>(machine, options)`.
  std::unique_ptr<pool> (*make_policy)(engine& machine,
                                       const sched::policy_options& options) = nullptr;
  std::uint64_t seed = 1;
  std::uint32_t quantum = 1024;
  std::uint32_t idle_spin_us = 0;
  sched::neighbourhood neighbours = sched::neighbourhood::cache;
  costs prices;
  std::uint32_t soft_limit = 512;  ///< messages in a mailbox above which senders are slowed
  /// simulated, up to 1e7; an error if there is work then, also if all workers sleep beside it
  double limit_seconds = 1e6;
};

struct outcome {
  std::string error;        ///< empty: all messages have been handled
  double seconds = 0;       ///< simulated, until then
  double busy_seconds = 0;  ///< processor time of the workers
  std::uint64_t messages = 0;
  sched::scheduler_stats policy;
  engine_stats machine;
};

/// A thread that is no worker: where a program starts, or a detached actor that generates load.
class outside {
 public:
  [[nodiscard]] double now_ns() const noexcept;
  void work(double ns) noexcept;
  /// Not stretched by the timer's slack.
  void sleep_until(double ns) noexcept;
  void send(model_actor& to, std::uint64_t value) noexcept;

 private:
  friend class simulation;
  explicit outside(simulation& of) noexcept : of_(of) {}
  simulation& of_;
};

class simulation {
 public:
  /// Throws std::invalid_argument: no such policy, no workers or too many, a quantum or mailbox of
  /// nothing, a limit or price out of range.
  explicit simulation(simulation_options options);
  ~simulation();
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;

  template <std::derived_from<model_actor> A, class... Args>
  A& spawn(Args&&... args) {
    auto made = std::make_unique<A>(std::forward<Args>(args)...);
    A& ref = *made;
    ref.of_ = this;
    actors_.push_back(std::move(made));
    return ref;
  }
  /// Before `run`; six times at most.
  void outside(std::function<void(machine::outside&)> body);

  /// Once.
  [[nodiscard]] outcome run();

  [[nodiscard]] const simulation_options& options() const noexcept { return options_; }

 private:
  friend class turn;
  friend class machine::outside;
  friend class model_actor;

  struct outsider;
  /// What belongs to a simulated thread.
  struct here {
    std::uint64_t runs = 0;
    bool in_place = false;  ///< runs receivers in a sender's place
    std::uint32_t in_place_batches = 0;
    std::uint32_t free_sends = 0;          ///< after a wait that was in vain
    model_actor* next_in_place = nullptr;  ///< claimed, runs when the present batch in place ends
    model_actor* woken_in_place = nullptr;
  };

  void send(model_actor* from, model_actor& to, std::uint64_t value) noexcept;
  void make_room(model_actor& to) noexcept;
  bool run_in_place(model_actor& to) noexcept;
  void run_chain(model_actor& first, here& h) noexcept;
  /// One thing less to wait for: a message that has been handled, or an outside thread that has
  /// ended.
  void done() noexcept;
  static void live_outside(void* argument) noexcept;
  static void end_at_limit(void* argument) noexcept;

  simulation_options options_;
  sched::worker_places places_;
  engine engine_;
  std::unique_ptr<pool> pool_;
  std::vector<std::unique_ptr<outsider>> outsiders_;
  std::vector<std::unique_ptr<model_actor>> actors_;
  std::vector<here> here_;
  base::random_source random_;
  std::uint64_t open_ = 0;
  std::uint64_t messages_ = 0;
  picoseconds ended_at_ = 0;
  std::string unfinished_;  ///< what the limit found
};

template <class A, class... Args>
A& turn::spawn(Args&&... args) {
  engine& e = *engine::current();
  e.spend_ns(e.prices().spawn);
  A& made = of_.spawn<A>(std::forward<Args>(args)...);
  // who has its lines
  static_cast<model_actor&>(made).last_thread_ = static_cast<std::uint8_t>(e.self());
  return made;
}

}  // namespace garrick::machine
