// Timers in real time: one thread around a timing wheel, asleep until the first deadline and
// without any wake-up when there is none. And the same in virtual time, moved by a test.
//
// Thread safety: stated per function.
#pragma once

#include <memory>

#include "garrick/base/time/clock.hpp"

namespace garrick::base {

/// Real time. The thread starts with the first `arm` and ends with the object; timers that are
/// still armed then are dropped. A timer fires at most one millisecond after its deadline on a
/// machine that has a core free.
class timer_service final : public clock_service {
 public:
  timer_service();
  /// Any thread but the timer's own. Returns when no task is running and none will.
  ~timer_service();

  [[nodiscard]] instant now() const noexcept override { return real_clock().now(); }
  timer_id arm(instant deadline, const timer_task& task) override;
  bool cancel(timer_id id) noexcept override;

  /// Timers armed now. Any thread.
  [[nodiscard]] std::size_t pending() const noexcept;
  /// How often the thread has woken since it started: for tests and for the idle benchmark. Any
  /// thread.
  [[nodiscard]] std::uint64_t wake_ups() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Virtual time: stands still until it is moved. Arming and cancelling on any thread; moving on one
/// thread at a time. While a timer fires, `now()` is its deadline, so that what it arms is placed
/// exactly.
class manual_clock_service final : public clock_service {
 public:
  explicit manual_clock_service(instant start = instant::at(duration::seconds(1)));
  /// Drops the timers that are still armed.
  ~manual_clock_service();

  [[nodiscard]] instant now() const noexcept override;
  timer_id arm(instant deadline, const timer_task& task) override;
  bool cancel(timer_id id) noexcept override;

  /// Moves time forward and fires what is due, in order, also what is armed meanwhile. Returns how
  /// many timers fired.
  std::size_t advance(duration by);
  /// The same up to a point in time; does nothing if that has passed.
  std::size_t advance_to(instant when);
  /// Moves to the first deadline and fires one timer; false if there is none.
  bool fire_next();
  /// The first deadline, `never()` without timers.
  [[nodiscard]] instant next_deadline() noexcept;
  [[nodiscard]] std::size_t pending() const noexcept;

 private:
  bool fire_first(instant limit);

  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace garrick::base
