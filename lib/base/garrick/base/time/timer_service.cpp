// The timer thread.
//
// Invariants:
// T1 The thread sleeps until `sleeping_until`, and a caller that arms an earlier deadline wakes it.
//    Both happen under the mutex, so no timer is missed.
// T2 Tasks run outside the mutex, so they may arm and cancel.
// T3 Under the mutex the thread moves at most `most_moves` timers and takes out at most `batch`,
//    even if more are due. If other threads wait for the mutex then, the thread continues when they
//    have had it. (docs/internals/time.md)
#include "garrick/base/time/timer_service.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "garrick/base/platform/assert.hpp"
#include "garrick/base/time/internal/visited_mutex.hpp"
#include "garrick/base/time/timing_wheel.hpp"

namespace garrick::base {
namespace {

void drop(const timer_task& task) noexcept {
  if (task.drop != nullptr) task.drop(task.context, task.argument);
}

void fire(const timer_task& task) noexcept { task.fire(task.context, task.argument); }

std::chrono::steady_clock::time_point to_chrono(instant t) {
  return std::chrono::steady_clock::time_point(
      std::chrono::nanoseconds(t.since_beginning().count()));
}

}  // namespace

struct timer_service::state {
  // timers taken out at once; a cancel in between is answered "too late"
  static constexpr std::size_t batch = 16;
  // timers sorted at once: a few microseconds, or some ten if none is in a cache
  static constexpr unsigned most_moves = 64;
  // the longest wait for threads that want the mutex, between two steps
  static constexpr unsigned most_yields = 1000;

  visited_mutex mutex;  // the thread is its host
  std::condition_variable changed;
  // under the mutex
  timing_wheel wheel{real_clock().now()};
  instant sleeping_until = instant::at(duration());  // the beginning of time: not asleep
  std::uint64_t wake_ups = 0;
  std::uint64_t steps = 0;
  bool stopping = false;
  std::thread thread;

  void run();
  bool take_due(instant now, std::vector<timing_wheel::expired>& due);
};

/// Makes a step (T3). Returns false if more timers may be due.
bool timer_service::state::take_due(instant now, std::vector<timing_wheel::expired>& due) {
  timing_wheel::expired first;
  unsigned moves = most_moves;
  while (due.size() < batch) {
    if (!wheel.sort_until(now, moves)) return false;
    if (!wheel.pop(now, first)) return true;
    due.push_back(first);
  }
  return false;
}

void timer_service::state::run() {
  std::vector<timing_wheel::expired> due;
  due.reserve(batch);
  std::unique_lock lock(mutex.host());
  while (!stopping) {
    const instant now = real_clock().now();
    const bool was_all = take_due(now, due);
    if (!due.empty() || !was_all) {
      ++steps;
      lock.unlock();
      for (const auto& d : due) fire(d.task);  // T2
      due.clear();
      mutex.let_visitors_in(most_yields);  // T3
      lock.lock();
      continue;
    }
    sleeping_until = wheel.next_look();
    if (sleeping_until.is_never())
      changed.wait(lock);
    else if (sleeping_until > now)
      changed.wait_until(lock, to_chrono(sleeping_until));
    sleeping_until = instant::at(duration());
    ++wake_ups;
  }
}

timer_service::timer_service() : state_(std::make_unique<state>()) {}

timer_service::~timer_service() { stop(); }

void timer_service::stop() noexcept {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->changed.notify_one();
  if (state_->thread.joinable()) {
    GARRICK_ASSERT(state_->thread.get_id() != std::this_thread::get_id(),
                   "a timer must not destroy the service that runs it");
    state_->thread.join();
  }
  timer_task task;
  while (state_->wheel.pop_any(task)) drop(task);
}

timer_id timer_service::arm(instant deadline, const timer_task& task) {
  GARRICK_ASSERT(task.fire != nullptr, "a timer needs a function to call");
  bool wake = false;
  bool stopped = false;
  timer_id id;
  {
    const std::lock_guard lock(state_->mutex);
    stopped = state_->stopping;
    if (!stopped) {
      if (!state_->thread.joinable())
        state_->thread = std::thread([s = state_.get()] { s->run(); });
      id = state_->wheel.arm(deadline, task);
      wake = deadline < state_->sleeping_until;  // T1
      // a later arm before the thread runs need not wake it again
      if (wake) state_->sleeping_until = deadline;
    }
  }
  if (wake) state_->changed.notify_one();
  if (stopped && !deadline.is_never()) drop(task);
  return id;
}

bool timer_service::cancel(timer_id id) noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->wheel.cancel(id);
}

std::size_t timer_service::pending() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->wheel.size();
}

std::uint64_t timer_service::wake_ups() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->wake_ups;
}

std::uint64_t timer_service::steps() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->steps;
}

}  // namespace garrick::base
