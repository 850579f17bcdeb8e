// The timer thread.
//
// Invariants:
// T1 The thread sleeps until `sleeping_until`, and whoever arms an earlier deadline wakes it. Both
//    happen under the mutex, so no timer is missed.
// T2 Tasks run outside the mutex, so they may arm and cancel.
// T3 Under the mutex the thread moves at most `most_moves` timers and takes out at most `batch`,
//    whatever is due. If somebody waits for the mutex then, it goes on when they have had it.
//    (docs/internals/time.md)
#include "garrick/base/time/timer_service.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "garrick/base/platform/assert.hpp"
#include "garrick/base/platform/platform.hpp"
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

  std::mutex mutex;
  std::condition_variable changed;
  // Those who found the mutex taken, and those of them who have had it since. Who finds it free is
  // not counted, so arming costs nothing more while nobody is in the way.
  std::atomic<std::uint32_t> visitors{0};
  std::atomic<std::uint32_t> served{0};
  // under the mutex
  timing_wheel wheel{real_clock().now()};
  instant sleeping_until = instant::at(duration());  // the beginning of time: not asleep
  std::uint64_t wake_ups = 0;
  bool stopping = false;
  std::thread thread;

  void queue_up();
  void run();
  bool take_due(instant now, std::vector<timing_wheel::expired>& due);
  void wait_for_visitors() const;
};

/// Takes the mutex after it was found taken. The timer thread has it for microseconds, and to sleep
/// and be woken takes tens of them. So this tries for a while first.
void timer_service::state::queue_up() {
  constexpr int most_tries = 100;
  visitors.fetch_add(1, std::memory_order_relaxed);  // order: a hint, see wait_for_visitors
  bool taken = false;
  for (int i = 0; i < most_tries && !taken; ++i) {
    platform::pause();
    taken = mutex.try_lock();
  }
  if (!taken) mutex.lock();
  served.fetch_add(1, std::memory_order_relaxed);  // order: as above
}

/// Holds the mutex, for everybody but the timer thread.
class timer_service::visit {
 public:
  explicit visit(state& of) : of_(of) {
    if (!of.mutex.try_lock()) of.queue_up();
  }
  ~visit() { of_.mutex.unlock(); }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;

 private:
  state& of_;
};

/// T3. Without the mutex. A mutex goes to whoever asks first, and that would be the timer thread
/// again and again: who sleeps takes microseconds to wake.
void timer_service::state::wait_for_visitors() const {
  constexpr int most_yields = 1000;  // in case that one of them does not get a core
  // order: relaxed; a visitor that is overlooked is seen after the next step
  const std::uint32_t here = visitors.load(std::memory_order_relaxed);
  for (int i = 0; i < most_yields; ++i) {
    const auto left = here - served.load(std::memory_order_relaxed);  // order: as above
    if (static_cast<std::int32_t>(left) <= 0) return;
    std::this_thread::yield();
  }
}

/// One step (T3). False if there may be more that is due.
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
  std::unique_lock lock(mutex);
  while (!stopping) {
    const instant now = real_clock().now();
    const bool was_all = take_due(now, due);
    if (!due.empty() || !was_all) {
      lock.unlock();
      for (const auto& d : due) fire(d.task);  // T2
      due.clear();
      wait_for_visitors();
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
    const visit lock(*state_);
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
    const visit lock(*state_);
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
  const visit lock(*state_);
  return state_->wheel.cancel(id);
}

std::size_t timer_service::pending() const noexcept {
  const visit lock(*state_);
  return state_->wheel.size();
}

std::uint64_t timer_service::wake_ups() const noexcept {
  const visit lock(*state_);
  return state_->wake_ups;
}

}  // namespace garrick::base
