// Builds and ends the parts of a system, keeps the list of living actors, and waits for them.
#include <garrick/base/platform/platform.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/sched/shipped_policies.hpp>
#include <garrick/system/diagnosis/log.hpp>
#include <garrick/system/diagnosis/stack_overflow.hpp>
#include <garrick/system/system_core.hpp>

#include <chrono>
#include <stdexcept>

namespace garrick::system {

namespace {

sched::scheduler_options scheduler_options_of(const options& o) {
  sched::scheduler_options given;
  given.policy = o.policy;
  given.workers = o.workers;
  given.quantum = o.limits.quantum;
  given.idle_spin_us = o.idle_spin_us;
  given.best_effort = o.best_effort;
  given.thread_name = o.thread_name;
  given.affinity = o.affinity;
  given.pin = o.pin;
  given.neighbours = o.neighbours;
  given.machine = o.machine;
  if (o.report_stack_overflow) {
    given.on_thread_start = {[](void*, std::uint32_t) { report_stack_overflow_on_this_thread(); },
                             nullptr};
    given.on_thread_stop = {[](void*, std::uint32_t) { forget_stack_overflow_on_this_thread(); },
                            nullptr};
  }
  return given;
}

std::unique_ptr<sched::scheduler> make_pool(const options& o) {
  const sched::scheduler_options given = scheduler_options_of(o);
  return o.make_scheduler != nullptr ? o.make_scheduler(sched::checked(given))
                                     : sched::make_scheduler(given);
}

void check(const options& o) {
  const auto refuse = [](const char* what) { throw std::invalid_argument(what); };
  if (o.limits.soft_limit == 0 || o.limits.soft_limit > 32768)
    refuse("limits.soft_limit: must be 1 to 32768 messages");
  if (o.limits.hard_limit < o.limits.soft_limit)
    refuse("limits.hard_limit: must not be below limits.soft_limit (messages)");
  if (o.limits.in_place_batch == 0) refuse("limits.in_place_batch: must be at least 1 message");
  if (o.limits.full_wait_ns < 0 || o.limits.full_wait_ns > 60'000'000'000)
    refuse("limits.full_wait_ns: must be 0 to 60 seconds (in nanoseconds)");
  if (o.limits.outstanding_limit == 0 || o.limits.outstanding_limit > (1u << 20))
    refuse("limits.outstanding_limit: must be 1 to 1048576 requests");
  if (o.watchdog_after.count() < 0)
    refuse("watchdog_after: must not be negative; zero turns it off");
  if (o.shutdown_deadline.count() < 0) refuse("shutdown_deadline: must not be negative");
  if (o.thread_name.size() > 10)
    refuse(
        "thread_name: must not be longer than 10 bytes: the system keeps 15, and numbers follow");
}

sched::affinity affinity_of(const std::string& text, const char* setting) {
  auto parsed = sched::affinity::parse(text, base::platform::usable_processors());
  if (!parsed)
    throw std::invalid_argument(std::string("setting ") + setting + ": " +
                                parsed.error().to_string());
  return std::move(*parsed);
}

detached_pool::places places_of(const options& o) {
  return {affinity_of(o.affinity_detached, "detached.affinity"),
          affinity_of(o.affinity_blocking, "detached.affinity_blocking")};
}

detached_pool::thread_hooks hooks_of(const options& o) {
  if (!o.report_stack_overflow) return {};
  return {report_stack_overflow_on_this_thread, forget_stack_overflow_on_this_thread};
}

const options& checked(const options& o) {
  check(o);
  return o;
}

}  // namespace

system_core::system_core(const options& o)
    : options_(checked(o)),
      clock_(std::make_unique<base::timer_service>()),
      log_(*clock_, o.log, standard_error()),
      pool_(make_pool(o)),
      detached_(o.detached_threads, o.limits.quantum, o.thread_name, places_of(o), hooks_of(o)),
      letters_(o.dead_letter_backlog) {
  limits = o.limits;
  workers = pool_.get();
  probe = o.probe;
  clock = clock_.get();
  timers = clock_.get();
  lot = &drain_lot_;
  if (limits.detect_request_cycles) waits = &wait_graph_;
  // Its thread comes before the workers, who may take all that there are (`best_effort`).
  if (o.watchdog_after.count() > 0)
    watchdog_ = std::make_unique<watchdog>(*pool_, detached_, o.watchdog_after, o.probe, *this);
  pool_->start();
  if (watchdog_ != nullptr) watchdog_->begin();
  // As they are: there are no more of them than threads, and each says something else.
  if (log_.wants(log_level::warning))
    for (const std::string& w : pool_->warnings()) write_log(log_level::warning, "scheduler", 0, w);
}

watchdog_listener::subject system_core::about(std::uint64_t id) {
  subject s;
  for_each_cell([&](const core::cell& c) {
    if (c.id() == id) s = {std::string(c.name()), c.kind() == core::cell_kind::blocking};
  });
  return s;
}

void system_core::tell(std::string_view who, const std::string& text) {
  log_.write({log_level::warning, "held up", who}, "watchdog", 0, [&] { return text; });
}

void system_core::stop_threads() noexcept {
  watchdog_.reset();
  letters_.close();
  directory_.close();
  detached_.stop();
  pool_->stop();
  // What was queued and never ran ends here, on this thread.
  pool_->drain(
      [](void*, base::runnable& r) {
        std::uint32_t budget = sched::unlimited;
        r.run(budget);
      },
      nullptr);
  log_.close();
  clock_.reset();
  clock = &base::real_clock();
}

std::size_t system_core::my_shard() const noexcept {
  const auto& t = base::this_thread;
  return t.worker_of == workers ? 1 + t.worker_index % (shard_count - 1) : 0;
}

bool system_core::joined(core::cell& who) noexcept {
  const std::size_t number = my_shard();
  shard& mine = shards_[number];
  const bool hidden = who.ext_if() != nullptr && who.ext_if()->hidden;
  const std::lock_guard guard(mine.lock);
  if (mine.closed) return false;
  mine.actors.add(who, static_cast<std::uint8_t>(number));
  ++mine.all;
  if (!hidden) ++mine.visible;
  return true;
}

void system_core::left(core::cell& who) noexcept {
  if (probe != nullptr) probe->on_actor_ended(who.id(), who.end_reason());
  shard& its_shard = shards_[core::cell_list::shard_of(who)];
  const bool hidden = who.ext_if() != nullptr && who.ext_if()->hidden;
  bool emptied = false;
  {
    const std::lock_guard guard(its_shard.lock);
    its_shard.actors.remove(who);
    --its_shard.all;
    if (!hidden) --its_shard.visible;
    emptied = its_shard.visible == 0;
  }
  // Whoever empties the last list that was not empty tells the waiters.
  // order: relaxed: a waiter sets it before it takes each list's lock, so either it sees this list
  // without `who`, or we see it
  if (emptied && waiters_.load(std::memory_order_relaxed) != 0) {
    const std::lock_guard guard(empty_mutex_);
    empty_.notify_all();
  }
}

template <class F>
void system_core::for_each_cell(F f) const {
  for (const shard& s : shards_) {
    const std::lock_guard guard(s.lock);
    s.actors.for_each(f);
  }
}

void system_core::dead_letter(const core::undelivered& what) noexcept {
  if (probe != nullptr)
    probe->on_dead_letter(what.receiver, what.sender, what.descriptor, what.reason);
  letters_.take(what);
  if (log_.wants(log_level::debug))
    log_.write({log_level::debug, "dead letter", what.type, what.reason}, "dead letter",
               what.receiver,
               [&] { return std::string(what.type) + ": " + what.reason.to_string(); });
}

void system_core::failed(const core::cell& who, const base::error& why) noexcept {
  // order: relaxed: own thread's value
  const base::message_type* const handling =
      base::this_thread.handling.load(std::memory_order_relaxed);
  if (probe != nullptr) probe->on_actor_failed(who.id(), handling, why);
  if (log_.wants(log_level::error))
    log_.write({log_level::error, "failed", who.type_name(), why}, who.name(), who.id(),
               [&] { return "failed: " + why.to_string(); });
}

core::waiting_executor* system_core::detached_executor(bool blocking) noexcept {
  return detached_.take(blocking);
}

std::size_t system_core::living(bool hidden_too) const noexcept {
  std::size_t sum = 0;
  for (const shard& s : shards_) {
    const std::lock_guard guard(s.lock);
    sum += hidden_too ? s.all : s.visible;
  }
  return sum;
}

bool system_core::wait_until_empty(base::duration limit, bool hidden_too) {
  waiters_.fetch_add(1, std::memory_order_relaxed);  // order: see left()
  std::unique_lock guard(empty_mutex_);
  const auto empty = [this, hidden_too] { return living(hidden_too) == 0; };
  bool done = true;
  if (limit.is_infinite())
    empty_.wait(guard, empty);
  else
    done = empty_.wait_for(guard, std::chrono::nanoseconds(limit.count()), empty);
  waiters_.fetch_sub(1, std::memory_order_relaxed);  // order: see left()
  return done;
}

bool system_core::looks_quiet(std::uint64_t& fingerprint) const {
  bool quiet = true;
  fingerprint = 0;
  for_each_cell([&](core::cell& c) {
    const std::uint64_t head = c.gate().peek_acquire();
    if ((head & core::mailbox_word::idle) == 0) quiet = false;
    fingerprint = fingerprint * 1099511628211ull + c.id() + core::mailbox_word::count(head);
  });
  return quiet;
}

bool system_core::wait_until_quiet(base::duration limit) {
  // order: see timer_record.cpp; clocks that go on ticking would never let it get quiet
  draining.store(true, std::memory_order_relaxed);
  const base::instant deadline = base::real_clock().now() + limit;
  std::uint64_t before = 0;
  bool was_quiet = false;
  for (std::int64_t pause_us = 20;; pause_us = pause_us < 2000 ? pause_us * 2 : pause_us) {
    std::uint64_t now = 0;
    const bool quiet = looks_quiet(now);
    // Twice quiet with nothing pushed in between: a message on its way would have changed a count.
    if (quiet && was_quiet && now == before) return true;
    was_quiet = quiet;
    if (quiet) pause_us = 10;
    before = now;
    if (base::real_clock().now() >= deadline) return false;
    // Nobody announces "nothing to do"; this looks again, more and more seldom, and only while a
    // system is being shut down.
    base::platform::sleep_ns(static_cast<std::uint64_t>(pause_us) * 1000);
  }
}

void system_core::refuse_spawns() noexcept {
  for (shard& s : shards_) {
    const std::lock_guard guard(s.lock);
    s.closed = true;
  }
}

std::vector<core::address> system_core::end_all(bool kill) {
  std::vector<core::address> all;
  for_each_cell([&](core::cell& c) {
    // Supervised children are ended by their supervisors, in order, unless there is no time for
    // that.
    if (kill || !c.is_supervised()) all.push_back(core::handle_access::make_address(&c));
  });
  tell_to_end(all, kill);
  return all;
}

void system_core::tell_to_end(std::vector<core::address>& who, bool kill) {
  std::erase_if(who, [&](const core::address& a) {
    return kill ? core::detail::kill_cell(a, base::exit_code::user_shutdown, true)
                : core::detail::exit_cell(nullptr, a, base::exit_code::user_shutdown);
  });
}

bool system_core::end_all_and_wait(bool kill, base::duration limit) {
  const base::instant deadline = base::real_clock().now() + limit;
  std::vector<core::address> untold = end_all(kill);
  for (base::duration pause = base::duration::milliseconds(5);; pause = pause * 2) {
    const base::duration left =
        deadline.is_never() ? base::duration::infinite() : deadline - base::real_clock().now();
    if (untold.empty() || left <= pause)
      return wait_until_empty(left > base::duration() ? left : base::duration(), true);
    if (wait_until_empty(pause, true)) return true;
    tell_to_end(untold, kill);
  }
}

namespace {

/// In which handler it is, or how many messages it has not taken.
struct busy_thread {
  std::uint64_t actor;
  const base::message_type* type;
  bool response;
};

std::string what_it_does(core::cell& c, const std::vector<busy_thread>& busy) {
  for (const busy_thread& b : busy)
    if (b.actor == c.id())
      return (b.type != nullptr ? " in its handler of " : " in ") +
             what_is_handled(b.type, b.response);
  const std::uint64_t head = c.gate().peek_acquire();
  std::string text;
  if (const std::uint32_t n = c.mailbox_length(); n != 0)
    text = " with " + std::to_string(n) + (n == 1 ? " message" : " messages") + " not taken";
  if ((head & core::mailbox_word::stalled) != 0)
    text += " which waits for a response, for other messages first, or for its supervisor";
  return text;
}

}  // namespace

std::vector<std::string> system_core::names_of_the_living() const {
  std::vector<busy_thread> busy;
  const auto look = [&](const base::thread_state& t) {
    // order: relaxed: samples for a diagnosis
    if (const std::uint64_t id = t.actor_id.load(std::memory_order_relaxed); id != 0)
      busy.push_back({id, t.handling.load(std::memory_order_relaxed),
                      t.in_response.load(std::memory_order_relaxed)});
  };
  for (std::uint32_t i = 0; i < pool_->worker_count(); ++i)
    if (const base::thread_state* const t = pool_->worker_state(i)) look(*t);
  detached_.for_each_thread(look);
  std::vector<std::string> names;
  for_each_cell([&](core::cell& c) {
    names.push_back(std::string(c.name()) + "#" + std::to_string(c.id()) + what_it_does(c, busy));
  });
  return names;
}

bool system_core::on_own_thread() const noexcept {
  const auto& t = base::this_thread;
  return t.worker_of == workers ||
         (t.actor != nullptr && &static_cast<const core::cell*>(t.actor)->env() == this);
}

}  // namespace garrick::system
