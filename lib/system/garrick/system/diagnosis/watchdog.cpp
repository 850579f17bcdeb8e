// The watchdog's thread: it compares the present message of each worker and detached thread with
// that of the last look.
#include <garrick/base/concurrency/thread_state.hpp>
#include <garrick/base/platform/platform.hpp>
#include <garrick/base/types/message_type.hpp>
#include <garrick/core/protocol/protocol.hpp>
#include <garrick/system/diagnosis/watchdog.hpp>

#include <algorithm>
#include <chrono>

namespace garrick::system {

namespace {
// A handler is reported when this many looks in a row have found it unchanged. They take the time
// `after` together.
constexpr std::uint32_t looks_per_warning = 2;
// A detached actor may compute or wait for seconds. It is reported after this multiple of the time.
constexpr std::uint32_t detached_patience = 30;

std::int64_t interval_for(base::duration after) noexcept {
  if (after.count() <= 0) return 0;
  return std::max<std::int64_t>(after.count() / looks_per_warning, 1);
}
}  // namespace

std::string what_is_handled(const base::message_type* type, bool response) {
  if (type == nullptr) return "its start";
  if (!response) return std::string(type->name);
  if (type == &base::message_type_of<core::unit>) return "a response without content";
  return "a response (" + std::string(type->name) + ")";
}

watchdog::watchdog(sched::scheduler& pool, const detached_pool& detached, base::duration after,
                   base::probe* probe, watchdog_listener& listener)
    : pool_(pool),
      detached_(detached),
      probe_(probe),
      listener_(listener),
      samples_(pool.worker_count()),
      wanted_ns_(interval_for(after)),
      thread_([this] { loop(); }) {}

watchdog::~watchdog() {
  {
    const std::lock_guard guard(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void watchdog::begin() {
  {
    const std::lock_guard guard(mutex_);
    begun_ = true;
  }
  wake_.notify_one();
}

void watchdog::set_limit(base::duration after) {
  {
    const std::lock_guard guard(mutex_);
    wanted_ns_ = interval_for(after);
  }
  wake_.notify_one();
}

// Takes a new interval, and forgets the looks at the old one.
void watchdog::take_interval(std::int64_t interval_ns) {
  interval_ns_ = interval_ns;
  for (sample& s : samples_) s.looks = 0;
  for (sample& s : detached_samples_) s.looks = 0;
}

void watchdog::loop() {
  base::platform::name_this_thread("garrick-watch");
  std::unique_lock guard(mutex_);
  wake_.wait(guard, [this] { return begun_ || stop_; });
  const auto changed = [this] { return stop_ || wanted_ns_ != interval_ns_; };
  while (!stop_) {
    if (wanted_ns_ != interval_ns_) take_interval(wanted_ns_);
    if (interval_ns_ == 0) {
      wake_.wait(guard, changed);
    } else if (!wake_.wait_for(guard, std::chrono::nanoseconds(interval_ns_), changed)) {
      guard.unlock();
      look();
      guard.lock();
    }
  }
}

bool watchdog::compare(sample& before, const base::thread_state& thread,
                       std::uint32_t looks) noexcept {
  // order: relaxed: samples; values of two moments only delay a report by one look
  const sample now{thread.turns.load(std::memory_order_relaxed),
                   thread.actor_id.load(std::memory_order_relaxed),
                   thread.handling.load(std::memory_order_relaxed),
                   thread.in_response.load(std::memory_order_relaxed)};
  if (now.actor == 0 || now.turn != before.turn || now.actor != before.actor ||
      now.handling != before.handling) {
    before = now;
    return false;
  }
  if (++before.looks < looks || before.reported) return false;
  before.reported = true;
  return true;
}

void watchdog::report(const sample& stuck, std::uint32_t worker,
                      const watchdog_listener::subject& who, const std::string& advice) {
  const std::uint64_t ms = static_cast<std::uint64_t>(interval_ns_) * stuck.looks / 1'000'000;
  listener_.tell(who.name, "actor " + who.name + "#" + std::to_string(stuck.actor) +
                               " has been handling " +
                               what_is_handled(stuck.handling, stuck.in_response) +
                               " for more than " + std::to_string(ms) + " ms" + advice);
  if (probe_ != nullptr)
    probe_->on_stall(worker, stuck.actor, stuck.handling,
                     base::duration::milliseconds(static_cast<std::int64_t>(ms)));
}

std::string watchdog::advice_for(const base::thread_state& t, const std::string& who) {
  constexpr const char* of_a_worker =
      "a blocking call or an endless loop holds its worker; spawn it detached, or split the work";
  // order: relaxed: a sample; the handler is stalled, and so are the turns that it runs inside
  const std::uint32_t depth = t.in_place_depth.load(std::memory_order_relaxed);
  if (depth == 0) return std::string(": ") + of_a_worker;
  const std::uint32_t known =
      std::min(depth, static_cast<std::uint32_t>(t.in_place_senders.size()));
  std::string text;
  if (depth > known)
    text +=
        ", inside " + std::to_string(depth - known) + " sends that run their receivers in place";
  for (std::uint32_t i = known; i-- != 0;) {
    const base::in_place_sender& s = t.in_place_senders[i];
    // order: relaxed, all: as above
    const std::uint64_t actor = s.actor.load(std::memory_order_relaxed);
    const base::message_type* const type = s.handling.load(std::memory_order_relaxed);
    const bool response = s.in_response.load(std::memory_order_relaxed);
    text += ", inside a send of actor " + listener_.about(actor).name + "#" +
            std::to_string(actor) + ", which is handling " + what_is_handled(type, response);
  }
  text +=
      ": the receiver was full, so that send runs it in place. If the sender holds a lock that " +
      who +
      " wants, they stand still for good: forbid it with a no_in_place_scope before the "
      "lock is taken. Else " +
      of_a_worker;
  return text;
}

void watchdog::look() {
  for (std::uint32_t i = 0; i < samples_.size(); ++i) {
    const base::thread_state* const t = pool_.worker_state(i);
    if (t == nullptr || !compare(samples_[i], *t, looks_per_warning)) continue;
    const watchdog_listener::subject who = listener_.about(samples_[i].actor);
    report(samples_[i], i, who, advice_for(*t, who.name));
  }
  look_at_detached();
}

void watchdog::look_at_detached() {
  std::vector<sample> stuck;
  for (detached_sample& s : detached_samples_) s.seen = false;
  detached_.for_each_thread([&](const base::thread_state& thread) {
    auto at = std::find_if(detached_samples_.begin(), detached_samples_.end(),
                           [&](const detached_sample& s) { return s.thread == &thread; });
    if (at == detached_samples_.end()) {
      at = detached_samples_.emplace(at);
      at->thread = &thread;
    }
    at->seen = true;
    if (!compare(*at, thread, detached_patience * looks_per_warning) || at->told == at->actor)
      return;
    at->told = at->actor;
    stuck.push_back(*at);
  });
  std::erase_if(detached_samples_, [](const detached_sample& s) { return !s.seen; });
  // These calls are made without the pool's lock, since the listener may block.
  for (const sample& s : stuck) {
    const watchdog_listener::subject who = listener_.about(s.actor);
    if (!who.blocking)
      report(s, base::probe::no_worker, who,
             ": it holds up only its own mail, since it is detached; if it is not meant to "
             "wait there, it loops or hangs. "
             "Said once");
  }
}

}  // namespace garrick::system
