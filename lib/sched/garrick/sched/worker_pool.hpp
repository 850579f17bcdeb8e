// Turns a scheduling policy into an executor: the threads, the loop around `runnable::run`, start
// and stop.
//
// Thread safety: see scheduler.hpp.
//
// Invariants
// T1 A worker thread has this_thread.worker_of and worker_index set before its start hook and until
//    after its stop hook.
// T2 worker_state(i) is valid from start() to stop(): a worker publishes it before start() returns,
//    and stop() withdraws it before it joins.
#pragma once

#include <garrick/sched/policies/policy.hpp>
#include <garrick/sched/pool_places.hpp>
#include <garrick/sched/scheduler.hpp>
#include <garrick/sched/scheduler_settings.hpp>

#include <garrick/base/concurrency/forked.hpp>
#include <garrick/base/concurrency/leader_seat.hpp>
#include <garrick/base/concurrency/waiting_workers.hpp>
#include <garrick/base/platform/platform.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace garrick::sched {

/// A pool of threads that run the runnables of `Policy`. For a policy of one's own:
///
///     o.make_scheduler = [](const sched::scheduler_settings& settings)
///         -> std::unique_ptr<sched::scheduler> {
///       return std::make_unique<sched::worker_pool<my_policy>>(settings);
///     };
template <scheduling_policy Policy>
class worker_pool final : public scheduler {
 public:
  /// Makes the policy; no thread runs yet. Requires settings that were `checked`.
  explicit worker_pool(scheduler_settings settings)
      : settings_(std::move(settings)),
        places_(settings_, needs_places),
        policy_(
            policy_options{.workers = settings_.workers,
                           .quantum = settings_.quantum,
                           .idle_spin_ns = static_cast<std::uint64_t>(settings_.idle_spin.count()),
                           .places = places_.get(),
                           .probe = settings_.probe,
                           .seat = seat_.get()}),
        waiting_(settings_.workers),
        unbound_(settings_.workers),
        states_(settings_.workers) {
    // Called here and not in start(): other code may make threads in between, and in a process that
    // has threads this call takes the kernel ten milliseconds.
    base::platform::enable_process_barrier();
    if (std::string warning =
            places_.warning(needs_places ? std::string_view(Policy::name) : std::string_view());
        !warning.empty())
      warnings_.push_back(std::move(warning));
  }

  ~worker_pool() override { stop(); }

  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  // base::executor

  [[gnu::hot]] void schedule(base::runnable& r) noexcept override {
    if (on_own_worker()) [[likely]] {
      policy_.internal_enqueue(self(), r);
    } else {
      if (base::fork_count() != made_after_) [[unlikely]]
        base::refuse_in_child("a message was sent or an actor started");
      policy_.central_enqueue(r);
      waiting_.queued();
    }
  }
  bool claim(base::runnable& r) noexcept override {
    return on_own_worker() && policy_.claim(self(), r);
  }
  bool claim_next(const base::runnable* r) noexcept override {
    if constexpr (requires { policy_.claim_next(self(), r); })
      return on_own_worker() && policy_.claim_next(self(), r);
    else
      return false;
  }
  void expose() noexcept override {
    if (on_own_worker()) policy_.expose(self());
  }
  void begin_wait() noexcept override {
    if (!on_own_worker()) return;
    policy_.expose(self());
    waiting_.begin([this] { return may_have_open_work(); });
  }
  void end_wait() noexcept override {
    if (on_own_worker()) waiting_.end();
  }
  [[nodiscard]] bool all_wait() const noexcept override { return waiting_.all_wait(); }
  /// Calls `call(context)` on the last worker that begins to wait, or on a thread outside.
  void when_all_wait(void (*call)(void*) noexcept, void* context) noexcept override {
    waiting_.listen(call, context);
  }

  [[nodiscard]] std::shared_ptr<base::leader_seat> seat() const noexcept override { return seat_; }

  // scheduler

  void start() override {
    if (started_) return;
    started_ = true;
    if constexpr (leads)
      seat_->guests_come_by(
          [](void* policy) noexcept { static_cast<Policy*>(policy)->wake_guest(); }, &policy_);
    try {
      // The helper is started first, since the workers may use up the threads that the system
      // allows. With `best_effort` the pool can do without some workers, but not without the
      // helper.
      if (policy_.wants_helper()) {
        helper_ = std::thread([this] {
          base::platform::name_this_thread(settings_.thread_name + "-tick");
          base::platform::precise_sleeps();
          base::platform::short_time_slices();
          policy_.helper();
        });
      }
      while (threads_.size() < settings_.workers && start_worker()) {}
    } catch (...) {
      wait_until_ready();  // T2: no worker publishes a state after the stop
      stop();
      throw;
    }
    wait_until_ready();
    for (const base::error& error : unbound_) {
      if (!error) continue;
      if (!settings_.best_effort) {
        stop();
        throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                                error.to_string());
      }
      warnings_.push_back(error.to_string());
    }
  }

  void stop() noexcept override {
    if (stopped_ || !started_) return;
    stopped_ = true;
    for (auto& state : states_)
      // order: release, the watchdog looks no more (T2)
      state.store(nullptr, std::memory_order_release);
    if constexpr (leads) seat_->guests_come_by(nullptr, nullptr);
    policy_.request_stop();
    if (helper_.joinable()) helper_.join();  // first: it looks at the workers' threads
    for (auto& thread : threads_) thread.join();
  }

  std::size_t drain(void (*sink)(void* context, base::runnable& r), void* context) override {
    std::size_t drained = 0;
    while (base::runnable* r = policy_.drain_one()) {
      if (!r->take()) continue;
      ++drained;
      sink(context, *r);
    }
    return drained;
  }

  [[nodiscard]] std::string_view policy_name() const noexcept override { return Policy::name; }
  [[nodiscard]] std::int32_t memory_node(base::locality_hint hint) const noexcept override {
    if constexpr (needs_places)
      return places_.get()->memory_of(
          hint, on_own_worker() ? base::this_thread.worker_index : worker_places::no_worker);
    else
      return -1;
  }

  [[nodiscard]] std::uint32_t worker_count() const noexcept override { return settings_.workers; }
  [[nodiscard]] std::uint32_t concurrency() const noexcept override { return settings_.workers; }
  [[nodiscard]] scheduler_stats stats() const noexcept override { return policy_.statistics(); }
  [[nodiscard]] std::optional<worker_stats> worker_statistics(
      std::uint32_t index) const noexcept override {
    if constexpr (requires { policy_.worker_statistics(index); })
      if (index < settings_.workers) return policy_.worker_statistics(index);
    return {};
  }
  [[nodiscard]] std::string describe() const override { return policy_.describe(); }
  [[nodiscard]] base::thread_state* worker_state(std::uint32_t index) noexcept override {
    // order: acquire, pairs with run_worker: the state's fields
    return index < states_.size() ? states_[index].load(std::memory_order_acquire) : nullptr;
  }
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept override {
    return warnings_;
  }

 private:
  using worker_data = typename Policy::worker_data;

  /// A policy that depends on places declares `static constexpr bool needs_places = true`.
  static constexpr bool needs_places = [] {
    if constexpr (requires { Policy::needs_places; })
      return Policy::needs_places;
    else
      return false;
  }();

  /// True for a policy with workers that wait for events: `static constexpr bool leads = true`.
  static constexpr bool leads = requires { requires Policy::leads; };

  static std::shared_ptr<base::leader_seat> make_seat() {
    if constexpr (leads)
      return std::make_shared<base::leader_seat>();
    else
      return nullptr;
  }

  bool may_have_open_work() const noexcept {
    if constexpr (requires { policy_.has_open_work(); })
      return policy_.has_open_work();
    else
      return true;
  }

  bool on_own_worker() const noexcept { return base::this_thread.worker_of == this; }
  worker_data& self() noexcept { return policy_.worker(base::this_thread.worker_index); }

  /// Starts the next worker. Returns false if its thread could not be created and `best_effort`
  /// lets the others go on.
  bool start_worker() {
    const auto index = static_cast<std::uint32_t>(threads_.size());
    try {
      threads_.emplace_back([this, index] { run_worker(index); });
      return true;
    } catch (const std::system_error& error) {
      const std::string could_not = " could not be started";
      if (!settings_.best_effort || index == 0)
        throw std::system_error(error.code(),
                                "scheduler.workers is " + std::to_string(settings_.workers) +
                                    ", but worker " + std::to_string(index) + could_not);
      const std::uint32_t last = settings_.workers - 1;
      const std::string missing =
          index == last ? "worker " + std::to_string(last)
                        : "workers " + std::to_string(index) + " to " + std::to_string(last);
      warnings_.push_back(missing + could_not + " (" + error.what() + "); the others do the work");
      if constexpr (requires { policy_.use_first(index); }) policy_.use_first(index);
      waiting_.limit(index);
      return false;
    }
  }

  void wait_until_ready() noexcept {
    const auto wanted = static_cast<std::uint32_t>(threads_.size());
    // order: acquire both, pairs with run_worker: the published states
    for (auto seen = ready_.load(std::memory_order_acquire); seen != wanted;
         seen = ready_.load(std::memory_order_acquire))
      base::platform::futex_wait(ready_, seen);
  }

  void run_worker(std::uint32_t index) noexcept {
    base::platform::name_this_thread(settings_.thread_name + "-" + std::to_string(index));
    base::this_thread.worker_of = this;
    base::this_thread.worker_index = index;
    base::platform::short_time_slices();
    unbound_[index] = places_.bind_worker(index);
    if (settings_.on_thread_start.call != nullptr)
      settings_.on_thread_start.call(settings_.on_thread_start.context, index);
    // order: release, pairs with worker_state
    states_[index].store(&base::this_thread, std::memory_order_release);
    // order: release, pairs with wait_until_ready
    ready_.fetch_add(1, std::memory_order_release);
    base::platform::futex_wake_all(ready_);
    work(policy_.worker(index));
    if (settings_.on_thread_stop.call != nullptr)
      settings_.on_thread_stop.call(settings_.on_thread_stop.context, index);
    base::this_thread.worker_of = nullptr;
  }

  [[gnu::hot]] void work(worker_data& me) noexcept {
    while (base::runnable* r = policy_.dequeue(me)) {
      if (!r->take()) [[unlikely]]
        continue;  // another thread claimed it in its queue
      const std::uint32_t budget = policy_.before_resume(me, *r);
      std::uint32_t left = budget;
      const base::run_outcome outcome = r->run(left);
      if (!on_own_worker()) [[unlikely]]
        base::refuse_in_child("a handler returned to its worker");
      policy_.after_resume(me, budget - left);
      if (outcome == base::run_outcome::more) {
        policy_.resume_later(me, *r);
      } else {
        policy_.after_completion(me);
      }
    }
  }

  // constant after start
  scheduler_settings settings_;
  const std::uint32_t made_after_ = base::watch_forks();
  pool_places places_;
  const std::shared_ptr<base::leader_seat> seat_ = make_seat();
  Policy policy_;
  base::waiting_workers<> waiting_;
  std::vector<std::thread> threads_;
  std::thread helper_;
  std::vector<std::string> warnings_;
  // only for the thread that starts and stops the pool
  bool started_ = false;
  bool stopped_ = false;
  // each written by its worker before it is ready, read afterwards
  std::vector<base::error> unbound_;
  // atomic
  std::vector<std::atomic<base::thread_state*>> states_;
  std::atomic<std::uint32_t> ready_{0};
};

}  // namespace garrick::sched
