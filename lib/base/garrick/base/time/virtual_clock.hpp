// Virtual time for tests: a clock that does not advance until a caller moves it, and timers that
// fire while it is moved. Its counterpart in real time is `timer_service`.
//
//   virtual_clock clock;
//   clock.arm(clock.now() + duration::seconds(3600), task);
//   clock.advance(duration::seconds(3600));                    // the task runs inside this call
//
// Thread safety: any thread may arm, cancel and ask; one thread at a time may move the clock.
#pragma once

#include <memory>

#include "garrick/base/time/clock.hpp"

namespace garrick::base {

/// A clock service in virtual time.
///
/// While a timer fires, `now()` is its deadline, so timers that its task arms are placed exactly.
/// Timers fire on the thread that moves the clock, inside the call that moves it.
class virtual_clock final : public clock_service {
 public:
  /// Time begins at `start`, by default one second after the clock's own beginning, so that earlier
  /// instants exist.
  explicit virtual_clock(instant start = instant::at(duration::seconds(1)));
  /// Drops the timers that are still armed.
  ~virtual_clock();

  /// Returns the present virtual time: `start` until the clock is moved.
  [[nodiscard]] instant now() const noexcept override;
  /// Like `clock_service::arm`. A deadline in the past fires with the next move, even one of length
  /// zero.
  timer_id arm(instant deadline, const timer_task& task) override;
  /// Like `clock_service::cancel`.
  bool cancel(timer_id id) noexcept override;

  /// Moves time forward and fires the timers that become due, in order, including those armed
  /// meanwhile. Returns the number of timers that fired.
  std::size_t advance(duration by);
  /// Like `advance`, up to a point in time. If that point has passed, time stays where it is.
  std::size_t advance_to(instant when);
  /// Moves time to the first deadline and fires one timer; returns false if none is armed.
  bool fire_next();

  /// Returns the first deadline; `never()` without timers.
  [[nodiscard]] instant next_deadline() noexcept;
  /// Returns the number of armed timers.
  [[nodiscard]] std::size_t pending() const noexcept;

 private:
  bool fire_first(instant limit);

  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace garrick::base
