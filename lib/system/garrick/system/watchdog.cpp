#include <garrick/base/message_type.hpp>
#include <garrick/base/platform.hpp>
#include <garrick/base/thread_state.hpp>
#include <garrick/system/watchdog.hpp>

#include <chrono>

namespace garrick::system {

namespace {
// A handler is reported when this many looks in a row, `after / looks` apart, found it unchanged.
constexpr std::uint32_t looks_per_warning = 2;
}  // namespace

watchdog::watchdog(sched::scheduler& pool, base::duration after, base::probe* probe, watchdog_listener& listener)
    : pool_(pool),
      interval_ns_(after.count() / looks_per_warning > 0 ? after.count() / looks_per_warning : 1),
      probe_(probe),
      listener_(listener),
      samples_(pool.worker_count()),
      thread_([this] { loop(); }) {}

watchdog::~watchdog() {
  {
    const std::lock_guard guard(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void watchdog::loop() {
  base::platform::name_this_thread("garrick-watch");
  std::unique_lock guard(mutex_);
  while (!wake_.wait_for(guard, std::chrono::nanoseconds(interval_ns_), [this] { return stop_; })) {
    guard.unlock();
    look();
    guard.lock();
  }
}

void watchdog::look() {
  for (std::uint32_t i = 0; i < samples_.size(); ++i) {
    const base::thread_state* const t = pool_.worker_state(i);
    if (t == nullptr) continue;
    // order: relaxed: samples; a torn set only delays a report by one look
    const sample now{t->turns.load(std::memory_order_relaxed), t->actor_id.load(std::memory_order_relaxed),
                     t->handling.load(std::memory_order_relaxed)};
    sample& before = samples_[i];
    if (now.actor == 0 || now.turn != before.turn || now.actor != before.actor || now.handling != before.handling) {
      before = now;
      continue;
    }
    if (++before.looks < looks_per_warning || before.reported) continue;
    before.reported = true;
    const std::uint64_t ms = static_cast<std::uint64_t>(interval_ns_) * before.looks / 1'000'000;
    const std::string_view message = now.handling != nullptr ? now.handling->name : std::string_view("its start");
    const std::string name = listener_.name_of(now.actor);
    listener_.tell("actor " + name + "#" + std::to_string(now.actor) + " has been handling " + std::string(message) +
                   " for more than " + std::to_string(ms) +
                   " ms: a blocking call or an endless loop holds its worker; spawn it detached, or split the work");
    if (probe_ != nullptr)
      probe_->on_stall(i, now.actor, now.handling, base::duration::milliseconds(static_cast<std::int64_t>(ms)));
  }
}

}  // namespace garrick::system
