// A timing wheel under a mutex, and the time up to which it has been emptied.
#include "garrick/base/time/virtual_clock.hpp"

#include <mutex>

#include "garrick/base/platform/assert.hpp"
#include "garrick/base/time/timing_wheel.hpp"

namespace garrick::base {

struct virtual_clock::state {
  explicit state(instant start) noexcept : now(start), wheel(start) {}
  mutable std::mutex mutex;
  // under the mutex
  instant now;
  timing_wheel wheel;
};

virtual_clock::virtual_clock(instant start) : state_(std::make_unique<state>(start)) {}

virtual_clock::~virtual_clock() {
  timer_task task;
  while (state_->wheel.pop_any(task))
    if (task.drop != nullptr) task.drop(task.context, task.argument);
}

instant virtual_clock::now() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->now;
}

timer_id virtual_clock::arm(instant deadline, const timer_task& task) {
  GARRICK_ASSERT(task.fire != nullptr, "a timer needs a function to call");
  const std::lock_guard lock(state_->mutex);
  return state_->wheel.arm(deadline, task);
}

bool virtual_clock::cancel(timer_id id) noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->wheel.cancel(id);
}

std::size_t virtual_clock::advance(duration by) { return advance_to(now() + by); }

std::size_t virtual_clock::advance_to(instant when) {
  std::size_t fired = 0;
  while (fire_first(when)) ++fired;
  const std::lock_guard lock(state_->mutex);
  if (when > state_->now) state_->now = when;
  return fired;
}

bool virtual_clock::fire_next() { return fire_first(instant::never()); }

bool virtual_clock::fire_first(instant limit) {
  timing_wheel::expired due;
  {
    const std::lock_guard lock(state_->mutex);
    const instant deadline = state_->wheel.first_deadline();
    if (deadline.is_never() || deadline > limit) return false;
    if (!state_->wheel.pop(deadline, due)) return false;
    if (deadline > state_->now) state_->now = deadline;
  }
  due.task.fire(due.task.context, due.task.argument);
  return true;
}

instant virtual_clock::next_deadline() noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->wheel.first_deadline();
}

std::size_t virtual_clock::pending() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->wheel.size();
}

}  // namespace garrick::base
