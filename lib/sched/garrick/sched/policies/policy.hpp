// A scheduling policy decides where a runnable waits and which worker takes it; the worker pool
// only runs the loop around it. Following paper 001 §6 (docs/papers.md) a policy is a compile-time
// concept, not a base class, so no call between the pool's loop and the queues is virtual. A policy
// can also be made of other atomics, clocks, random sources and parking, so that a simulator or a
// model checker runs the shipped code.
//
// A policy is a class with a `worker_data` and the functions of `scheduling_policy`. It takes
// `policy_options` and, by convention, the traits as template parameter. `work_sharing.hpp` is a
// complete policy in a page. To ship a policy, add it to policy_list.hpp.
//
// Thread safety: of the functions that take a `worker_data&`, `external_enqueue` is for any thread
// but that worker, the others are for that worker alone. `central_enqueue`, `request_stop` and
// `statistics` are for any thread. `drain_one` is for one thread after the workers have ended.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/concurrency/leader_seat.hpp>
#include <garrick/base/concurrency/parker.hpp>
#include <garrick/base/concurrency/probe.hpp>
#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/base/platform/platform.hpp>
#include <garrick/sched/policies/quantum.hpp>
#include <garrick/sched/policies/stalled_watch.hpp>
#include <garrick/sched/policies/worker_stats.hpp>

#include <concepts>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace garrick::sched {

class worker_places;

/// The options of every policy. The values have been checked (scheduler_settings.hpp), so a policy
/// need not check them.
struct policy_options {
  std::uint32_t workers = 1;                ///< 1 to `most_workers`
  std::uint32_t quantum = default_quantum;  ///< messages; see `scheduler_settings`
  std::uint64_t idle_spin_ns = 0;           ///< the time of a worker's search before it parks
  std::uint64_t seed = 0x9e3779b97f4a7c15;  ///< of the random order in which victims are visited
  /// messages that a busy worker handles between two looks at another one (stalled_watch.hpp)
  std::uint32_t look_interval = default_look_interval;
  /// the places of the workers; null unless the policy has `needs_places = true`; outlives it
  const worker_places* places = nullptr;
  base::probe* probe = nullptr;  ///< is told of parks and thefts; may be null; outlives it
  /// the seat of an idle worker that waits for events (leading.hpp); may be null; outlives it
  base::leader_seat* seat = nullptr;
};

/// Sums over all workers since the start. Read while workers run, the numbers may be a little old.
struct scheduler_stats {
  std::uint64_t runs = 0;    ///< calls of `runnable::run`
  std::uint64_t steals = 0;  ///< runnables or batches taken from another worker
  std::uint64_t parks = 0;   ///< times that a worker went to sleep
  /// times that a worker or the announcer of work had to wake a worker through the system
  std::uint64_t wakes = 0;
  std::uint64_t exposed = 0;  ///< runnables taken out of the next slot of a worker that stayed busy
  std::uint64_t ticks = 0;    ///< looks of the thread that does that
};

/// A small random source; one for each worker, so that a seed repeats a run. It is worse than
/// base::random_source and good enough for the order of victims. Its one word lies beside a
/// worker's other data, and a number costs less.
class xorshift {
 public:
  /// Equal seeds give equal numbers.
  explicit xorshift(std::uint64_t seed) noexcept : state_(seed | 1) {}
  std::uint32_t operator()() noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::uint32_t>(state_ >> 32);
  }

 private:
  std::uint64_t state_;
};

/// Returns the seed of worker `index`'s random source. Different for each worker.
[[nodiscard]] constexpr std::uint64_t seed_of_worker(std::uint64_t seed,
                                                     std::uint32_t index) noexcept {
  return seed + (index + 1) * 0x9e3779b97f4a7c15;
}

/// Time for a policy.
struct real_clock {
  /// Returns the time of a clock that only goes forward, in nanoseconds.
  static std::uint64_t now_ns() noexcept { return base::platform::monotonic_ns(); }
  /// Returns the processor time that the calling thread has used, in nanoseconds.
  static std::uint64_t thread_cpu_ns() noexcept { return base::platform::thread_cpu_ns(); }
  /// Blocks the calling thread for `ns` nanoseconds.
  static void sleep_ns(std::uint64_t ns) noexcept { base::platform::sleep_ns(ns); }
};

/// Processors for a policy.
struct real_place {
  using thread = base::platform::thread_place;  ///< the place where a thread runs just now
  /// Returns the place of the calling thread, for others to ask.
  static thread of_this_thread() noexcept { return thread::of_this_thread(); }
  /// Moves the calling thread to a processor that is not among `busy`. Returns false if there is
  /// none.
  static bool leave(std::span<const std::int32_t> busy) noexcept {
    return base::platform::leave_processors(busy);
  }
};

/// The traits of a policy in the product.
struct real_traits {
  using atomics = base::real_atomics;  ///< atomics and fences
  using parker = base::parker;         ///< the sleep of a worker
  using clock = real_clock;            ///< time
  using place = real_place;            ///< processors
  using random = xorshift;             ///< the order in which victims are visited
  using mutex = std::mutex;            ///< a lock
};

/// A counter that one thread raises and others read.
template <class Atomics>
class own_counter {
 public:
  /// Raises the counter. Only for the thread that owns it; no locked operation.
  [[gnu::hot]] void add(std::uint64_t by = 1) noexcept {
    // order: relaxed both; a statistic
    value_.store(value_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  /// Returns its value, perhaps an older one. Any thread.
  [[nodiscard]] std::uint64_t get() const noexcept {
    return value_.load(std::memory_order_relaxed);  // order: relaxed; a statistic
  }

 private:
  typename Atomics::template atomic<std::uint64_t> value_{0};
};

// clang-format off

/// The requirements of a scheduling policy. Every function except `describe` is noexcept; the
/// comment beside each tells its duty. `self` is the `worker_data` of the worker that calls, or
/// into which something is put.
template <class Policy>
concept scheduling_policy =
  std::constructible_from<Policy, const policy_options&> &&
  requires { typename Policy::worker_data; } &&
  requires(Policy& all, const Policy& seen, typename Policy::worker_data& self,
           base::runnable& r, std::uint32_t n) {
    { Policy::name } -> std::convertible_to<std::string_view>;
    { all.worker(n) } noexcept -> std::same_as<typename Policy::worker_data&>;
    // Queueing a runnable: from a thread that is not a worker; into a given worker; from the worker
    // itself; and after its quantum, when others have their turn first.
    { all.central_enqueue(r) } noexcept;
    { all.external_enqueue(self, r) } noexcept;
    { all.internal_enqueue(self, r) } noexcept;
    { all.resume_later(self, r) } noexcept;
    // The next runnable of this worker. Waits for one; null when the pool stops.
    { all.dequeue(self) } noexcept -> std::same_as<base::runnable*>;
    // Around a run: the number of messages that it may handle; the number that it handled; and the
    // end of a run that leaves nothing to do, after which the runnable may be gone.
    { all.before_resume(self, r) } noexcept -> std::same_as<std::uint32_t>;
    { all.after_resume(self, n) } noexcept;
    { all.after_completion(self) } noexcept;
    // base::executor's functions of these names, on the worker itself. A policy with a private next
    // slot also has claim_next(self, const base::runnable*).
    { all.claim(self, r) } noexcept -> std::same_as<bool>;
    { all.expose(self) } noexcept;
    // A policy that gives work to certain workers also has use_first(n), which the pool calls once,
    // at any time, if only the first n workers could be started. A policy with figures for each
    // worker has worker_statistics(n) const noexcept -> worker_stats. A policy with workers that
    // wait for events declares `static constexpr bool leads = true`, and has wake_guest() noexcept,
    // for any thread, which wakes a sleeping worker. A policy may have has_open_work() const
    // noexcept -> bool, for any thread: true if something waits in a queue that all workers can
    // reach. It must not return false wrongly (A1 of waiting_workers.hpp).
    // A thread of the policy's own, if it wants one: `helper` runs until `request_stop`.
    { seen.wants_helper() } noexcept -> std::same_as<bool>;
    { all.helper() } noexcept;
    // The end: every `dequeue` and `helper` returns soon. Then `drain_one` gives out the rest, one
    // by one, and null after the last.
    { all.request_stop() } noexcept;
    { all.drain_one() } noexcept -> std::same_as<base::runnable*>;
    // Sums over all workers; and the queues and sleepers in words, for a diagnosis.
    { seen.statistics() } noexcept -> std::same_as<scheduler_stats>;
    { seen.describe() } -> std::same_as<std::string>;
  };
// clang-format on

}  // namespace garrick::sched
