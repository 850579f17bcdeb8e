// A policy's workers on a simulated machine: the counterpart of sched/worker_pool.hpp, which does
// the same with real threads.
//
// Thread safety: like the engine's: everything belongs to one real thread.
#pragma once

#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/machine/engine.hpp>
#include <garrick/sched/places/worker_places.hpp>
#include <garrick/sched/policies/policy.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace garrick::machine {

/// The workers of a simulated machine under a policy whose type is erased. Any simulated thread may
/// call the executor's functions.
class pool : public base::executor {
 public:
  virtual ~pool() = default;
  /// Asks the workers to end. Call it from a simulated thread.
  virtual void stop() noexcept = 0;
  /// Returns the policy's counts.
  [[nodiscard]] virtual sched::scheduler_stats stats() const noexcept = 0;
  /// Returns a description of the queues and sleepers, for an error's text.
  [[nodiscard]] virtual std::string describe() const = 0;
  /// Returns true if this simulated thread is one of the workers.
  [[nodiscard]] virtual bool is_worker(std::uint32_t thread) const noexcept = 0;
};

/// The workers of `Policy` on a machine: one thread for each worker, with the worker's number, then
/// a thread for the policy's helper if the policy wants one.
template <class Policy>
class simulated_pool final : public pool {
 public:
  /// Adds the threads. Requires `options.places`, and an engine without threads.
  simulated_pool(engine& machine, const sched::policy_options& options)
      : machine_(machine), workers_(options.workers), policy_(options) {
    for (std::uint32_t i = 0; i < workers_; ++i) seats_.push_back({this, i});
    for (seat& s : seats_)
      machine_.add_thread(options.places->index_of(s.index), false, &simulated_pool::work, &s);
    if (policy_.wants_helper())
      machine_.add_thread(options.places->index_of(0), true, &simulated_pool::help, this);
  }

  void schedule(base::runnable& r) noexcept override {
    if (on_worker())
      policy_.internal_enqueue(self(), r);
    else
      policy_.central_enqueue(r);
  }
  bool claim(base::runnable& r) noexcept override {
    return on_worker() && policy_.claim(self(), r);
  }
  bool claim_next(const base::runnable* r) noexcept override {
    if constexpr (requires { policy_.claim_next(self(), r); })
      return on_worker() && policy_.claim_next(self(), r);
    else
      return false;
  }
  void expose() noexcept override {
    if (on_worker()) policy_.expose(self());
  }

  void stop() noexcept override { policy_.request_stop(); }
  [[nodiscard]] sched::scheduler_stats stats() const noexcept override {
    return policy_.statistics();
  }
  [[nodiscard]] std::string describe() const override { return policy_.describe(); }
  [[nodiscard]] bool is_worker(std::uint32_t thread) const noexcept override {
    return thread < workers_;
  }

 private:
  struct seat {
    simulated_pool* owner;
    std::uint32_t index;
  };

  [[nodiscard]] bool on_worker() const noexcept { return machine_.self() < workers_; }
  auto& self() noexcept { return policy_.worker(machine_.self()); }

  static void work(void* argument) noexcept {
    const seat& s = *static_cast<seat*>(argument);
    Policy& policy = s.owner->policy_;
    auto& me = policy.worker(s.index);
    while (base::runnable* actor = policy.dequeue(me)) {
      if (!actor->take()) continue;
      const std::uint32_t budget = policy.before_resume(me, *actor);
      std::uint32_t left = budget;
      const base::run_outcome outcome = actor->run(left);
      policy.after_resume(me, budget - left);
      if (outcome == base::run_outcome::more)
        policy.resume_later(me, *actor);
      else
        policy.after_completion(me);
    }
  }
  static void help(void* argument) noexcept {
    static_cast<simulated_pool*>(argument)->policy_.helper();
  }

  engine& machine_;
  std::uint32_t workers_;
  Policy policy_;
  std::vector<seat> seats_;
};

/// Makes a shipped policy by its name, on simulated atomics, clock and parking. Returns null if no
/// policy has this name.
[[nodiscard]] std::unique_ptr<pool> make_pool(std::string_view policy, engine& machine,
                                              const sched::policy_options& options);

}  // namespace garrick::machine
