// Timers in real time: one thread around a timing wheel. It sleeps until the first deadline, and is
// never woken while no timer is armed. Its counterpart in virtual time is `virtual_clock`.
//
// Thread safety: every function but the destructor may be called on any thread.
#pragma once

#include <memory>

#include "garrick/base/time/clock.hpp"

namespace garrick::base {

/// A clock service in real time.
///
/// The thread starts with the first `arm` and ends with the object; timers that are still armed
/// then are dropped. On a machine with a free core, a timer fires at most one millisecond after its
/// deadline, unless more timers are due than the one thread can run: a million of them take it some
/// tenths of a second. A task that blocks delays all others, too. `arm` and `cancel` wait for some
/// hundred microseconds at most, even if many timers are due.
class timer_service final : public clock_service {
 public:
  /// Starts no thread yet. Throws std::bad_alloc when there is no memory.
  timer_service();
  /// Drops the timers that are still armed. Blocks until no task is running. Must not be called on
  /// the service's own thread, that is, by a task.
  ~timer_service();

  /// Ends the thread and drops the timers that are armed, as the destructor does; but `now` still
  /// works, and a timer that is armed later is dropped at once, within `arm`.
  void stop() noexcept;

  /// Returns the time of the machine's steady clock.
  [[nodiscard]] instant now() const noexcept override { return real_clock().now(); }
  /// Like `clock_service::arm`. The first call starts the thread, and throws std::system_error if
  /// the system cannot start it.
  timer_id arm(instant deadline, const timer_task& task) override;
  /// Like `clock_service::cancel`. Does not wait for a task that is running.
  bool cancel(timer_id id) noexcept override;

  /// Returns the number of armed timers.
  [[nodiscard]] std::size_t pending() const noexcept;
  /// Returns how often the thread has woken since it started. For tests and for the idle benchmark.
  [[nodiscard]] std::uint64_t wake_ups() const noexcept;
  /// Returns how often the thread has held its lock for timers that were due. Each time it moved at
  /// most 64 of them in the wheel and took out at most 16. For tests.
  [[nodiscard]] std::uint64_t steps() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace garrick::base
