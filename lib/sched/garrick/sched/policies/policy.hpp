// A scheduling policy decides where a runnable waits and who takes it; the worker pool only turns
// the crank. Following paper 001 §6 a policy is a compile-time concept, not a base class: nothing
// between the pool's loop and the queues is virtual, and a policy can be instantiated with other
// atomics, clocks, random sources and parking, so that a simulator or a model checker runs the
// shipped code.
//
// To write one: a class with a `worker_data` and the functions below, taking `policy_options` and,
// by convention, the traits as template parameter. `work_sharing.hpp` is a complete one in a page.
//
// Thread safety: of the functions that take a `worker_data&`, `external_enqueue` is for any thread
// but that worker, the others are for that worker alone. `central_enqueue`, `request_stop` and
// `statistics` are for any thread. `drain_one` is for one thread after the workers have ended.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/concurrency/parker.hpp>
#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/base/platform/platform.hpp>

#include <concepts>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace garrick::sched {

/// A run without a bound on its messages.
inline constexpr std::uint32_t unlimited = 0xffff'ffff;

class worker_places;

/// What every policy gets. Checked before (`check_options`), so a policy need not.
struct policy_options {
  std::uint32_t workers = 1;
  std::uint32_t quantum = 1024;             ///< messages; see `scheduler_options`
  std::uint64_t idle_spin_ns = 0;           ///< how long a worker looks for work before it parks
  std::uint64_t seed = 0x9e3779b97f4a7c15;  ///< of the random order in which victims are visited
  /// where the workers stand; null unless the policy has `needs_places = true`; outlives it
  const worker_places* places = nullptr;
};

/// Sums over all workers since the start. Read while workers run, the numbers may be a little old.
struct scheduler_stats {
  std::uint64_t runs = 0;    ///< calls of `runnable::run`
  std::uint64_t steals = 0;  ///< runnables or batches taken from another worker
  std::uint64_t parks = 0;   ///< times that a worker went to sleep
  /// times that a worker or the announcer of work had to wake somebody through the system
  std::uint64_t wakes = 0;
  std::uint64_t exposed = 0;  ///< runnables taken out of the next slot of a worker that stayed busy
  std::uint64_t ticks = 0;    ///< looks of the thread that does that
};

/// A small random source; one for each worker, so that a seed repeats a run.
class xorshift {
 public:
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

/// Time as a policy sees it.
struct real_clock {
  static std::uint64_t now_ns() noexcept { return base::platform::monotonic_ns(); }
  static std::uint64_t thread_cpu_ns() noexcept { return base::platform::thread_cpu_ns(); }
  static void sleep_ns(std::uint64_t ns) noexcept { base::platform::sleep_ns(ns); }
};

/// Processors as a policy sees them.
struct real_place {
  using thread = base::platform::thread_place;
  static thread of_this_thread() noexcept { return thread::of_this_thread(); }
  static bool leave(std::span<const std::int32_t> busy) noexcept {
    return base::platform::leave_processors(busy);
  }
};

/// What a policy is made of in the product.
struct real_traits {
  using atomics = base::real_atomics;
  using parker = base::parker;
  using clock = real_clock;
  using place = real_place;
  using random = xorshift;
  using mutex = std::mutex;
};

/// A counter that one thread raises and others read.
template <class Atomics>
class own_counter {
 public:
  void add(std::uint64_t n = 1) noexcept {
    // order: relaxed both; a statistic
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t get() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }  // order: relaxed; a statistic

 private:
  typename Atomics::template atomic<std::uint64_t> value_{0};
};

// clang-format off
template <class P>
concept scheduling_policy = std::constructible_from<P, const policy_options&> && requires { typename P::worker_data; } &&
  requires(P& all, const P& seen, typename P::worker_data& self, base::runnable& r, std::uint32_t n) {
    { P::name } -> std::convertible_to<std::string_view>;
    { all.worker(n) } noexcept -> std::same_as<typename P::worker_data&>;
    // Where a runnable goes: from a thread that is no worker; into a given worker; from the worker
    // itself; after its quantum.
    { all.central_enqueue(r) } noexcept;
    { all.external_enqueue(self, r) } noexcept;
    { all.internal_enqueue(self, r) } noexcept;
    { all.resume_later(self, r) } noexcept;
    // The next runnable of this worker; waits for one; null when the pool stops.
    { all.dequeue(self) } noexcept -> std::same_as<base::runnable*>;
    // Around a run: the budget for it; what it used; that it ended without more to do (the runnable
    // may be gone).
    { all.before_resume(self, r) } noexcept -> std::same_as<std::uint32_t>;
    { all.after_resume(self, n) } noexcept;
    { all.after_completion(self) } noexcept;
    // base::executor's two, on the worker itself.
    { all.claim(self, r) } noexcept -> std::same_as<bool>;
    { all.expose(self) } noexcept;
    // A policy with a private next slot has also claim_next(self, const base::runnable*), for the
    // executor's. A thread of the policy's own, if it wants one: runs until request_stop.
    { seen.wants_helper() } noexcept -> std::same_as<bool>;
    { all.helper() } noexcept;
    { all.request_stop() } noexcept;
    { all.drain_one() } noexcept -> std::same_as<base::runnable*>;
    { seen.statistics() } noexcept -> std::same_as<scheduler_stats>;
    // The queues and sleepers in words, for a diagnosis.
    { seen.describe() } -> std::same_as<std::string>;
  };
// clang-format on

}  // namespace garrick::sched
