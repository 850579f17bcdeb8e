// One central queue for all workers, first in, first out: for few workers and for comparison. Also
// the shortest complete policy.
//
// Thread safety: see policy.hpp. Sleeping: sleepers.hpp, with the central queue as the only place
// of open work.
//
// Invariants
// Q1 head_, tail_ and the links of queued runnables are protected by mutex_; size_ changes under it
//    and is read without it.
#pragma once

#include <garrick/sched/parking/sleepers.hpp>
#include <garrick/sched/policies/policy.hpp>
#include <garrick/sched/policies/worker_figures.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace garrick::sched {

/// The policy with one queue. See `scheduling_policy` for its functions.
template <class Traits = real_traits>
class work_sharing {
  using atomics = typename Traits::atomics;
  using runnable = base::runnable;

 public:
  static constexpr std::string_view name = "work_sharing";  ///< as settings have it

  /// A worker: it has no queue, only its number and counts.
  struct alignas(64) worker_data {
    /// Makes the worker with this number, from 0.
    worker_data(std::uint32_t number, base::probe* probe) noexcept
        : index(number), figures(number, probe) {}
    std::uint32_t index;             ///< from 0
    worker_figures<Traits> figures;  ///< its counts
  };

  /// Makes the workers' data; `options.places` is not needed.
  explicit work_sharing(const policy_options& options)
      : quantum_(options.quantum), idle_spin_ns_(options.idle_spin_ns), sleepers_(options.workers) {
    for (std::uint32_t i = 0; i < options.workers; ++i)
      workers_.push_back(std::make_unique<worker_data>(i, options.probe));
  }

  /// Returns the worker with this index.
  [[nodiscard]] worker_data& worker(std::uint32_t index) noexcept { return *workers_[index]; }

  /// Puts `r` at the back of the queue. Blocks on its lock for a few instructions, like every use
  /// of the queue.
  void central_enqueue(runnable& r) noexcept {
    if (!r.offer()) return;  // its old entry is valid again
    push(r);
    sleepers_.announce();
  }
  /// Puts `r` at the back of the queue; wakes `target` if a worker must be woken.
  void external_enqueue(worker_data& target, runnable& r) noexcept {
    if (!r.offer()) return;
    push(r);
    sleepers_.announce(target.index);
  }
  /// Puts `r` at the back of the queue.
  void internal_enqueue(worker_data&, runnable& r) noexcept { central_enqueue(r); }

  /// Puts `r` at the back of the queue. If it is alone there, this worker will take it at once, so
  /// no worker is called for it.
  void resume_later(worker_data&, runnable& r) noexcept {
    if (r.offer() && !push(r)) sleepers_.announce();
  }

  /// Takes the oldest runnable out of the queue. Blocks until there is one; returns null if the
  /// pool stops.
  [[nodiscard]] runnable* dequeue(worker_data& self) noexcept {
    // order: relaxed; request_stop wakes all workers
    if (stopping_.load(std::memory_order_relaxed)) return nullptr;
    if (runnable* r = pop()) return r;
    bool searching = idle_spin_ns_ != 0 && sleepers_.try_begin_search();
    for (;;) {
      if (searching) {
        if (runnable* r = search()) {
          sleepers_.end_search([this] { return !looks_empty(); });
          return r;
        }
      }
      sleepers_.prepare_park(self.index, searching);
      if (!looks_empty()) sleepers_.announce(self.index);
      self.figures.park([&] { sleepers_.park(self.index); });
      // order: relaxed; the token carried it
      if (stopping_.load(std::memory_order_relaxed)) return nullptr;
      searching = true;
    }
  }

  /// Returns a whole quantum, always.
  [[nodiscard]] std::uint32_t before_resume(worker_data& self, runnable&) noexcept {
    self.figures.ran();
    return quantum_;
  }
  /// Does nothing: a quantum is not carried over.
  void after_resume(worker_data&, std::uint32_t) noexcept {}
  /// Does nothing.
  void after_completion(worker_data&) noexcept {}

  /// Takes `r` out of the queue. Returns false if it does not wait there.
  [[nodiscard]] bool claim(worker_data&, runnable& r) noexcept { return r.claim(); }
  /// Does nothing: all work is open.
  void expose(worker_data&) noexcept {}
  /// Returns true if the queue holds something. Any thread.
  [[nodiscard]] bool has_open_work() const noexcept { return !looks_empty(); }

  /// Returns false: no helper.
  [[nodiscard]] bool wants_helper() const noexcept { return false; }
  /// Does nothing.
  void helper() noexcept {}

  /// Wakes all workers; each `dequeue` returns null.
  void request_stop() noexcept {
    stopping_.store(true, std::memory_order_release);  // order: release; the tokens carry it
    sleepers_.wake_all();
  }
  /// Returns the oldest runnable that is left, or null.
  [[nodiscard]] runnable* drain_one() noexcept { return pop(); }

  /// Returns sums over all workers.
  [[nodiscard]] scheduler_stats statistics() const noexcept {
    scheduler_stats sum;
    for (const auto& w : workers_) {
      const worker_stats one = w->figures.read();
      sum.runs += one.runs;
      sum.parks += one.parks;
    }
    sum.wakes = sleepers_.wakes();
    return sum;
  }

  /// Returns the figures of the worker with this index.
  [[nodiscard]] worker_stats worker_statistics(std::uint32_t index) const noexcept {
    return workers_[index]->figures.read();
  }

  /// Returns a text such as "searching 0, parked 2, queued 0".
  [[nodiscard]] std::string describe() const {
    return sleepers_.describe() + ", queued " +
           std::to_string(size_.load(std::memory_order_relaxed));  // order: relaxed; a picture
  }

 private:
  /// Adds `r` at the back. Returns true if the queue was empty.
  bool push(runnable& r) noexcept {
    r.queue_link = nullptr;
    const std::lock_guard lock(mutex_);
    const bool first = head_ == nullptr;
    (first ? head_ : tail_->queue_link) = &r;
    tail_ = &r;
    // order: relaxed load, changed under the lock only; seq_cst store, pairs with looks_empty
    // (sleepers.hpp, S4 and S5)
    size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    return first;
  }

  runnable* pop() noexcept {
    if (looks_empty()) return nullptr;
    const std::lock_guard lock(mutex_);
    runnable* const oldest = head_;
    if (oldest == nullptr) return nullptr;
    head_ = oldest->queue_link;
    // order: relaxed both, changed under the lock only, and a size that is too large for a moment
    // does no harm
    size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    return oldest;
  }

  runnable* search() noexcept {
    const std::uint64_t end = idle_spin_ns_ == 0 ? 0 : Traits::clock::now_ns() + idle_spin_ns_;
    for (;;) {
      if (runnable* r = pop()) return r;
      // order: relaxed; the token carries it
      if (stopping_.load(std::memory_order_relaxed)) return nullptr;
      if (end == 0 || Traits::clock::now_ns() >= end) return nullptr;
      atomics::pause();
    }
  }

  [[nodiscard]] bool looks_empty() const noexcept {
    // order: seq_cst, pairs with push: after the sleeper's change of state
    return size_.load(std::memory_order_seq_cst) == 0;
  }

  // constant
  std::uint32_t quantum_;
  std::uint64_t idle_spin_ns_;
  std::vector<std::unique_ptr<worker_data>> workers_;
  // all threads
  sleepers<atomics, typename Traits::parker> sleepers_;
  typename atomics::template atomic<bool> stopping_{false};
  // under mutex_
  alignas(64) typename Traits::mutex mutex_;
  runnable* head_ = nullptr;
  runnable* tail_ = nullptr;
  typename atomics::template atomic<std::uint64_t> size_{0};
};

}  // namespace garrick::sched
