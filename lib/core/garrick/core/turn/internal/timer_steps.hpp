// The steps of the owner and of the clock service with one timer: pushing, cleaning up, freeing.
//
// A timer may be cancelled at any moment while it fires on another thread. As in cell_steps.hpp the
// steps are templates, so that the model checker runs them (timer_steps.model.cpp). A `Record` has
// `atomics` (the policy), `state_`, `holders_`, `id_`, and the functions that are called below.
//
// Thread safety: `cancel` and `hand_to_service` are for the owner, `fire_once`, `fire_again` and
// `hand_to_service_again` for the clock service. The two sides may run at the same time.
//
// Invariants
// T1 The thread that takes `armed` away cleans up (`finish`): it owns the envelope and the handle
//    to the target from then on. While the state is `busy`, the clock's thread always owns them.
// T2 The record has two references: the owner's, and that of the service while it has the timer.
//    The thread that takes the timer out of the service (by firing it, or by cancelling it there)
//    gives up the latter. The service gives it up itself once it has ended, perhaps within
//    `arm_at_service`.
// T3 The thread that takes `armed` away finds the timer's present id at the service in `id_`. The
//    first beat may be over before the arming thread has got the first id: then `id_` has a newer
//    one, and keeps it.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>

#include <cstdint>

namespace garrick::core {

/// The memory orders below that the model checker weakens, one at a time.
enum class timer_order : std::uint8_t { cancel, armed_again, drop_holder };

/// The steps. A timer that hides its state and count makes this struct a friend.
struct timer_steps {
  template <class Record>
  using atomics = typename Record::atomics;

  static constexpr std::uint8_t armed = 0;
  static constexpr std::uint8_t over = 1;
  /// the clock's thread pushes a copy of a periodic message
  static constexpr std::uint8_t busy = 2;

  /// Returns true if the timer had yet to fire.
  template <class Record>
  static bool cancel(Record& r) noexcept {
    // order: acquire, pairs with fire_again: the clock's thread has used the data cleaned up here
    const std::uint8_t was = r.state_.exchange(
        over, base::order<atomics<Record>, timer_order::cancel>(std::memory_order_acquire));
    // busy: the clock's thread cleans up when it has pushed
    if (was != armed) return was == busy;
    // If the clock service is about to fire, it finds `over`, and drops its own reference. If the
    // timer was still pending, this thread drops that reference.
    if (cancel_at_service(r)) drop_holder(r);
    r.finish();
    return true;
  }

  /// Hands the owner's timer to the service; from then on it may fire.
  template <class Record>
  static void hand_to_service(Record& r) {
    const std::uint64_t first = r.arm_at_service();
    std::uint64_t none = 0;
    // order: relaxed, both: the data of an id is under the service's lock; a newer id stays
    r.id_.compare_exchange_strong(none, first, std::memory_order_relaxed,
                                  std::memory_order_relaxed);
  }

  /// The same for each further beat, on the clock's thread, while the state is `busy`.
  template <class Record>
  static void hand_to_service_again(Record& r) {
    // order: relaxed: the release that arms it again comes after (T3)
    r.id_.store(r.arm_at_service(), std::memory_order_relaxed);
  }

  /// Fires a timer that fires once. Called when the timer is due, or when the service ends before
  /// that; then `push` does nothing.
  template <class Record, class Push>
  static void fire_once(Record& r, Push push) noexcept {
    // order: relaxed: only the first of the two goes on; the writes of `arm` came through the
    // service
    if (r.state_.exchange(over, std::memory_order_relaxed) == armed) {
      push();
      r.finish();
    }
    drop_holder(r);
  }

  /// Fires a periodic timer: `push` pushes a copy, and `arm` hands the timer to the service again.
  /// The timer stays armed meanwhile, so `cancel` may come at any moment: `busy` keeps the
  /// prototype and the target.
  template <class Record, class Push, class Arm>
  static void fire_again(Record& r, Push push, Arm arm) noexcept {
    std::uint8_t expected = armed;
    // order: relaxed: as in fire_once
    if (!r.state_.compare_exchange_strong(expected, busy, std::memory_order_relaxed,
                                          std::memory_order_relaxed)) {
      drop_holder(r);
      return;
    }
    push();
    // The reference that came with the firing stays for the next beat. A service that has ended
    // drops that reference within `arm`, and the owner's may be gone by then, so this thread takes
    // another one for the later steps.
    // order: relaxed: this thread has a reference
    r.holders_.fetch_add(1, std::memory_order_relaxed);
    arm();
    expected = busy;
    // A cancel that came meanwhile has left `over` and the clean-up to this thread.
    // order: release, pairs with cancel
    if (!r.state_.compare_exchange_strong(
            expected, armed,
            base::order<atomics<Record>, timer_order::armed_again>(std::memory_order_release),
            std::memory_order_relaxed)) {
      if (cancel_at_service(r)) drop_holder(r);
      r.finish();
    }
    drop_holder(r);
  }

  template <class Record>
  static void drop_holder(Record& r) noexcept {
    // order: acq_rel: the last holder frees the record after the other's uses
    if (r.holders_.fetch_sub(1, base::order<atomics<Record>, timer_order::drop_holder>(
                                    std::memory_order_acq_rel)) == 1)
      r.free_self();
  }

 private:
  /// Returns true if the service held the record; the caller then drops its reference.
  template <class Record>
  [[nodiscard]] static bool cancel_at_service(Record& r) noexcept {
    return r.cancel_at_service(r.id_.load(std::memory_order_relaxed));  // order: T3
  }
};

}  // namespace garrick::core
