// Delayed and periodic sends, and the time-outs of requests and behaviors: records that the clock
// service fires.
//
// A record holds a strong handle to its target, so an actor that a timer can still wake is not
// reclaimed (L4). Firing happens on the clock's thread and only pushes an envelope: it never waits.
// Firing copies no user's object either: periodic messages share one content, and a handler that
// wants a content of its own copies it on the receiver's turn. Of user code, only the destructor of
// a message that no actor takes, and its printing for the dead letters, may run there.
// (docs/internals/time.md)
//
// Private: installed because templates need it.
//
// Thread safety: a record is created and cancelled on its owner's turn; firing may happen at the
// same time on the clock's thread. `state` decides between the two (internal/timer_steps.hpp).
#pragma once

#include <garrick/base/memory/swept_list.hpp>
#include <garrick/base/time/clock.hpp>
#include <garrick/core/cell/cell.hpp>

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace garrick::core {

/// A timer that this actor has set and that has yet to fire.
struct pending_timer {
  std::uint64_t target;            ///< id of the actor that gets the message
  const base::message_type* type;  ///< of the message
  base::instant due;               ///< of a periodic timer: the next time, or the present one
  base::duration period;           ///< zero: it fires once
};

/// A timer that its owner may cancel. References are counted: those of the clock service, the
/// owner's list and the owner's handle.
class timer_record : public base::swept_entry<timer_record> {
 public:
  using atomics = base::real_atomics;
  enum class kind : std::uint8_t { once, periodic };

  /// Arms a timer that pushes `e` to `target` after `delay`. The caller gets one reference. Throws
  /// std::bad_alloc, and std::system_error if the service has no thread; then `e` has been
  /// destroyed. In a process that was forked from the system's, the timer ends at once and pushes
  /// nothing.
  static timer_record* arm_once(environment& env, cell& target, envelope* e, base::duration delay);
  /// Arms a timer that pushes a copy of `prototype` to `target` after each period. Requires a
  /// period above zero, and content that is shared or trivial and small. The caller gets one
  /// reference. Throws as above.
  static timer_record* arm_periodic(environment& env, cell& target, envelope* prototype,
                                    base::duration period);

  /// Stops the timer; messages already pushed stay. Returns true if the timer had yet to fire.
  bool cancel() noexcept;
  // order: the caller is a holder
  void add_holder() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
  void drop_holder() noexcept;
  /// Cancels the timer and drops the owner's reference.
  void cancel_and_drop() noexcept {
    cancel();
    drop_holder();
  }
  [[nodiscard]] bool active() const noexcept {
    return state_.load(std::memory_order_acquire) != over;  // order: pairs with cancel and fire
  }

  /// Returns the data of an active timer. For the owner.
  [[nodiscard]] pending_timer facts() const noexcept;

  /// Like `cancel`; on the owner's turn, the owner also forgets the record at once.
  bool cancel_and_unlist() noexcept;

  /// The actor that lists the record. Set and read on that actor's turn; the pointer is followed
  /// only if it points to the running actor.
  cell* owner = nullptr;

 private:
  friend struct timer_steps;

  timer_record(environment& env, cell& target, envelope* e, std::int64_t period_ns) noexcept
      : env_(&env),
        target_(&target),
        envelope_(e),
        period_ns_(period_ns),
        target_id_(target.id()),
        type_(e->type) {}
  static timer_record* arm(environment& env, cell& target, envelope* e, base::duration delay,
                           std::int64_t period_ns);
  [[nodiscard]] std::uint64_t arm_at_service();
  /// Arms the next beat; without memory, the program ends with an error message.
  void hand_to_service_again() noexcept;
  /// Ends a timer that the service does not know.
  void give_up() noexcept;
  void fire() noexcept;
  void service_ended() noexcept;
  void push(envelope* e) noexcept;
  /// Pushes one beat; without memory for it, a dead letter.
  void push_copy() noexcept;
  /// Returns true if too much mail waits for this beat to be sent; the beat has then become a dead
  /// letter.
  [[nodiscard]] bool receiver_is_late() noexcept;
  void finish() noexcept;
  [[nodiscard]] bool cancel_at_service(std::uint64_t id) noexcept;
  void free_self() noexcept;
  static constexpr std::uint8_t over = 1;  ///< a state: it neither fires nor will fire again

  /// used only while `state` is armed or busy: the service ends before the system, and leaves no
  /// record in these states
  environment* env_;
  cell* target_;        ///< a strong reference while armed
  envelope* envelope_;  ///< the message to push, or the prototype to copy
  const std::int64_t period_ns_;
  const std::uint64_t target_id_;         ///< for diagnosis; the target may have gone
  const base::message_type* const type_;  ///< of the message; for diagnosis, too
  std::atomic<base::instant> due_{};      ///< written before it is armed, each time
  std::atomic<std::uint64_t> id_{0};
  std::atomic<std::uint8_t> state_{0};  ///< of timer_steps.hpp; at first armed
  std::atomic<std::uint32_t> holders_{2};
};

/// Lists `r` with the timers that are cancelled when the actor ends or restarts; takes over one
/// reference. Constant time, however many are listed or over. The runner.
void list_timer(cell& self, timer_record* r);

/// Cancels and forgets every timer that belongs to the actor. The runner.
void cancel_all_timers(cell& self) noexcept;

/// Returns up to `most` of the timers that `self` has set (delayed and periodic sends, behaviors'
/// time-outs; not those of requests, which are listed with the requests), the newest first. Looks
/// at no more than four times as many records. Throws std::bad_alloc.
[[nodiscard]] std::vector<pending_timer> list_timers(cell& self, std::size_t most);

}  // namespace garrick::core
