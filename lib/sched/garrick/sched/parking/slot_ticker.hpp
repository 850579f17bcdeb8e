// Work in a next slot is not announced, because its owner usually takes it within a microsecond. If
// the owner stays busy in a handler instead, another thread must notice: this helper thread looks
// at the slots every 25 µs, watches an occupied one for up to 12 µs more, and takes out an item
// that has not moved. So work waits in the slot of a busy worker for about 50 µs at most, as long
// as the budget below lasts.
//
// The ticker costs nothing in an idle system. It sleeps until, while another worker is parked, a
// worker puts something into its slot, or open work is left to workers that are awake. It goes back
// to sleep when all workers are parked, or when for a millisecond no slot was used and no open work
// was there. While it runs it keeps to a budget: a timer costs 2 µs of processor time on bare metal
// but 40 µs on some virtual machines, so it may use a sixty-fourth of a core, with an allowance for
// bursts. If the budget is used up the looks become rarer: at 2.5 µs a look, one in 160 µs. An
// exposure shows that the looks are of use, and fills the budget up again.
//
// The ticker also handles open work that waits although a worker is awake. No worker is called for
// such work at once, since a worker that is awake takes it sooner than another could wake up. But
// the handler of that worker may take long, or a worker that was woken may have to wait for a
// processor that is in use. If a worker has open work at two looks in a row and has not emptied its
// slot and its deque in between, another worker is woken, even if others search.
//
// Waking the ticker takes a system call, 2 µs on bare metal and 15 on some virtual machines. If a
// message from outside wakes a worker and that worker had to make the call, the message would wait
// for it. So the outside thread that wakes the worker also arms the ticker, ahead of need, if the
// ticker was needed after the last wake-up from outside.
//
// Thread safety: `armed`, `arm`, `arm_ahead` and `keep_promise` are for any thread, `disarm`,
// `stay_awake` and `sleep_until_armed` for the helper thread, `stop` for the pool.
//
// Invariants
// K1 A worker that puts an item into its slot and, after a fence, sees a parked worker, finds the
//    ticker armed or arms it. A worker that parks and, after a fence, sees an occupied slot does
//    the same. One of the two sees the other, as in S4 of sleepers.hpp. Where S5 leaves out the
//    fence, all slots are empty, and a worker that fills one later sees the parked worker.
// K2 The ticker disarms itself first. Then, after a fence, it looks at slots and parked workers
//    once more. So either it sees the change by the worker of K1, or that worker sees it disarmed
//    and arms it. So while a worker is parked and a slot stays occupied, the ticker is armed.
// K3 A thread that arms ahead first promises it, before the work is visible, since the woken
//    worker may run before the call that wakes it returns. The thread keeps the promise with its
//    next step after that call. Workers rely on the promise. If the system takes the processor away
//    from that thread in between, exposure is late by as much, just as if the ticker itself got no
//    processor. The state goes from asleep to promised or armed, and from promised to armed. Only
//    the ticker sets it back, when it is awake. The thread that sets it to armed leaves a token, so
//    there is exactly one between two disarms.
// K4 A worker that has lost its processor to the ticker itself only looks stuck. So the ticker
//    judges a worker only from a processor other than the worker's, and moves to one if it has to.
//    If there is none, it judges by the changes while it slept.
// K5 A thread may make work open and call no worker for it, since one is awake, or as many as the
//    limit allows (W1 and W5 of work_stealing.hpp). If this thread, after a fence, sees a parked
//    worker, it finds the ticker armed or arms it. K2 holds for such work as for occupied slots. So
//    while a worker is parked and such work waits, the ticker is armed.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace garrick::sched {

/// Decides when the helper may look again, given the cost of its looks, and when it may rest.
class tick_budget {
 public:
  static constexpr std::uint64_t period_ns = 25'000;    ///< between two looks
  static constexpr std::uint64_t patience_ns = 12'000;  ///< the watch of an occupied slot
  static constexpr std::uint64_t quiet_ns = 1'000'000;  ///< after this without a used slot it rests
  /// if the helper is woken more often than this, timers are cheaper
  static constexpr std::uint64_t often_ns = 50'000;
  static constexpr std::int64_t share = 64;  ///< one sixty-fourth of a core
  /// processor time that may be used at once
  static constexpr std::int64_t allowance_ns = 500'000;

  /// Notes that the helper was woken at `wall_ns`.
  void armed(std::uint64_t wall_ns) noexcept {
    // Frequent wake-ups cost more than a timer. So the helper then stays awake between bursts.
    lingers_ = wall_ns - armed_at_ns_ < often_ns;
    armed_at_ns_ = wall_ns;
    used_at_ns_ = wall_ns;
  }

  /// Returns true if the helper may go back to sleep after a look at `wall_ns`. `used`: a slot was
  /// in use, or open work was there.
  [[nodiscard]] bool may_rest(std::uint64_t wall_ns, bool used, bool everybody_parked) noexcept {
    if (everybody_parked && !lingers_) return true;
    if (used) used_at_ns_ = wall_ns;
    return wall_ns - used_at_ns_ >= quiet_ns;
  }

  /// Notes a look: `wall_ns` and `cpu_ns` are the clocks now. Returns the time to sleep.
  std::uint64_t after_look(std::uint64_t wall_ns, std::uint64_t cpu_ns) noexcept {
    const auto passed = static_cast<std::int64_t>(wall_ns - wall_ns_);
    const auto used = static_cast<std::int64_t>(cpu_ns - cpu_ns_);
    wall_ns_ = wall_ns;
    cpu_ns_ = cpu_ns;
    credit_ns_ = std::min(allowance_ns, credit_ns_ + passed / share - used);
    if (credit_ns_ >= 0) return period_ns;
    return std::max(period_ns, static_cast<std::uint64_t>(-credit_ns_ * share));
  }

  /// Restores the allowance, because the last look found something.
  void refill() noexcept { credit_ns_ = allowance_ns; }

 private:
  bool lingers_ = false;
  std::uint64_t armed_at_ns_ = 0;
  std::uint64_t used_at_ns_ = 0;
  std::uint64_t wall_ns_ = 0;
  std::uint64_t cpu_ns_ = 0;
  std::int64_t credit_ns_ = allowance_ns;
};

/// The sleep and the waking of the helper thread. Its work while it is awake is the policy's.
template <class Atomics, class Parker>
class slot_ticker {
 public:
  /// Returns true if the helper is awake, or a thread has promised to wake it (K3). Any thread,
  /// after a fence.
  [[nodiscard]] bool armed() const noexcept {
    // order: relaxed, after the caller's fence (K1, K2)
    return state_.load(std::memory_order_relaxed) != asleep;
  }

  /// Wakes the helper, since a worker is parked, and a slot is occupied or open work waits. Any
  /// thread.
  void arm() noexcept {
    if (!make_armed()) wake_.unpark();
  }

  /// Called before a thread that is not a worker wakes a worker. Returns true if the caller must
  /// call `keep_promise` afterwards (K3).
  [[nodiscard]] bool arm_ahead() noexcept {
    std::uint32_t seen = asleep;
    // order: relaxed all; a hint, and the token carries the rest
    return expected_.load(std::memory_order_relaxed) && !armed() &&
           state_.compare_exchange_strong(seen, promised, std::memory_order_relaxed,
                                          std::memory_order_relaxed);
  }

  /// Wakes the helper, after `arm_ahead` returned true and the worker was woken.
  void keep_promise() noexcept {
    std::uint32_t seen = promised;  // or another thread has armed it since
    // order: relaxed both; the token carries the rest
    if (state_.compare_exchange_strong(seen, is_armed, std::memory_order_relaxed,
                                       std::memory_order_relaxed))
      wake_.unpark();
  }

  /// For the helper: the first half of going to sleep. `unused`: no slot has been used since it
  /// slept last, so no thread arms ahead the next time. The caller looks at everything once more,
  /// and calls `stay_awake` if it finds a reason.
  void disarm(bool unused) noexcept {
    if (unused) expected_.store(false, std::memory_order_relaxed);  // order: relaxed; a hint
    // order: relaxed, before the fence (K2)
    state_.store(asleep, std::memory_order_relaxed);
    Atomics::heavy_fence();
  }

  /// For the helper: takes `disarm` back, so that it does not go to sleep.
  void stay_awake() noexcept {
    if (make_armed()) wake_.park();  // takes the token of the thread that was first
  }

  /// For the helper: the second half of going to sleep. Blocks until the ticker is armed or
  /// stopped.
  void sleep_until_armed() noexcept { wake_.park(); }

  /// For the pool, at the end: lets `sleep_until_armed` return.
  void stop() noexcept { wake_.unpark(); }

 private:
  static constexpr std::uint32_t asleep = 0;
  static constexpr std::uint32_t promised = 1;
  static constexpr std::uint32_t is_armed = 2;

  /// Returns true if it was armed.
  bool make_armed() noexcept {
    expected_.store(true, std::memory_order_relaxed);  // order: relaxed; a hint
    // order: relaxed; the token carries the rest
    return state_.exchange(is_armed, std::memory_order_relaxed) == is_armed;
  }

  typename Atomics::template atomic<std::uint32_t> state_{asleep};
  /// a thread had to arm the ticker, and it found something then
  typename Atomics::template atomic<bool> expected_{false};
  Parker wake_;
};

}  // namespace garrick::sched
