// Builds and ends the parts of a system, keeps the list of living actors, and waits for them.
#include <garrick/base/platform/platform.hpp>
#include <garrick/core/seam/running.hpp>
#include <garrick/sched/shipped_policies.hpp>
#include <garrick/system/diagnosis/log.hpp>
#include <garrick/system/diagnosis/stack_overflow.hpp>
#include <garrick/system/system_core.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace garrick::system {

namespace {

/// On each worker thread the system's own hooks run first and last, and the program's between them.
sched::scheduler_settings with_hooks(const settings& of_system) {
  sched::scheduler_settings s = of_system.scheduler;
  if (s.probe == nullptr) s.probe = of_system.probe;
  if (!of_system.watchdog.report_stack_overflow) return s;
  static const auto call = [](const sched::thread_hook& hook, std::uint32_t worker) {
    if (hook.call != nullptr) hook.call(hook.context, worker);
  };
  // The context outlives the pool: both are members of the system's core.
  void* const own = const_cast<sched::scheduler_settings*>(&of_system.scheduler);
  s.on_thread_start = {[](void* program, std::uint32_t worker) {
                         report_stack_overflow_on_this_thread();
                         call(static_cast<sched::scheduler_settings*>(program)->on_thread_start,
                              worker);
                       },
                       own};
  s.on_thread_stop = {[](void* program, std::uint32_t worker) {
                        call(static_cast<sched::scheduler_settings*>(program)->on_thread_stop,
                             worker);
                        forget_stack_overflow_on_this_thread();
                      },
                      own};
  return s;
}

/// `values` must outlive the pool, which refers to them.
std::unique_ptr<sched::scheduler> make_pool(const settings& values) {
  const sched::scheduler_settings s = with_hooks(values);
  return values.make_scheduler != nullptr ? values.make_scheduler(sched::checked(s))
                                          : sched::make_scheduler(s);
}

/// Requires a text that was checked.
sched::affinity affinity_of(const std::string& text) {
  return *sched::affinity::parse(text, base::platform::usable_processors());
}

detached_pool::places places_of(const settings& values) {
  return {affinity_of(values.detached.affinity), affinity_of(values.detached.affinity_blocking)};
}

detached_pool::thread_hooks hooks_of(const settings& values) {
  if (!values.watchdog.report_stack_overflow) return {};
  return {report_stack_overflow_on_this_thread, forget_stack_overflow_on_this_thread};
}

const settings& checked(const settings& values) {
  if (const std::string why = why_refused(values); !why.empty()) throw std::invalid_argument(why);
  return values;
}

}  // namespace

system_core::system_core(const settings& values)
    : settings_(checked(values)),
      clock_(std::make_unique<base::timer_service>()),
      log_(*clock_, values.log.level, standard_error()),
      pool_(make_pool(settings_)),
      detached_(values.detached.threads, values.scheduler.quantum, values.scheduler.thread_name,
                places_of(values), hooks_of(values)),
      letters_(values.dead_letters.backlog) {
  mailbox = values.mailbox;
  requests = values.requests;
  workers = pool_.get();
  probe = values.probe;
  clock = clock_.get();
  timers = clock_.get();
  lot = &drain_lot_;
  if (requests.detect_cycles) waits = &wait_graph_;
  pool_->when_all_wait(
      [](void* all) noexcept { static_cast<core::drain_lot*>(all)->wake_claimers(); }, &drain_lot_);
  // The watchdog's thread is created before the workers, which may take all threads that the
  // operating system grants (`best_effort`).
  if (values.watchdog.after.count() > 0)
    watchdog_ =
        std::make_unique<watchdog>(*pool_, detached_, values.watchdog.after, values.probe, *this);
  pool_->start();
  if (watchdog_ != nullptr) watchdog_->begin();
  // These lines bypass the log's limit: they are about as many as threads at most, and each has
  // another text.
  if (log_.wants(log_level::warning))
    for (const std::string& w : pool_->warnings()) write_log(log_level::warning, "scheduler", 0, w);
  // Last: only `stop_threads` ends the keeper's duty, and nothing calls it if a step above throws.
  memory_.start(*clock_, settings_.memory.keep);
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

base::result<void> system_core::set_watchdog(base::duration after) {
  const std::lock_guard guard(watchdog_mutex_);
  if (watchdog_ != nullptr) {
    watchdog_->set_limit(after);
  } else if (after.count() > 0) {
    try {
      watchdog_ = std::make_unique<watchdog>(*pool_, detached_, after, probe, *this);
    } catch (const std::system_error& e) {
      return base::make_error(base::errc::spawn_failed, "watchdog", e.what());
    }
    watchdog_->begin();
  }
  return {};
}

void system_core::stop_threads() noexcept {
  {
    const std::lock_guard guard(watchdog_mutex_);
    watchdog_.reset();
  }
  letters_.close();
  directory_.close();
  detached_.stop();
  pool_->stop();
  // Runnables that were queued but have not run are run here, to their end.
  pool_->drain(
      [](void*, base::runnable& r) {
        std::uint32_t budget = sched::unlimited;
        r.run(budget);
      },
      nullptr);
  log_.close();
  memory_.leave();
  clock_->stop();
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
  // The system does not join the threads of a foreign loop, and may be freed as soon as no list has
  // the actor: so it is held here. All other threads end their turns before the system is freed.
  const bool on_loop = who.has_own_executor() && who.kind() == core::cell_kind::event;
  if (on_loop) hold();
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
  // The thread that empties the last list wakes the waiters.
  // order: relaxed: a waiter sets it before it takes each list's lock, so either it sees this list
  // without `who`, or we see it
  if (emptied && waiters_.load(std::memory_order_relaxed) != 0) {
    const std::lock_guard guard(empty_mutex_);
    empty_.notify_all();
  }
  if (on_loop) release();
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

void system_core::warn(std::string_view who, std::string_view what,
                       std::string_view text) noexcept {
  log_.write({log_level::warning, what, who}, who, 0, [&] { return text; });
}

base::result<core::waiting_executor*> system_core::detached_executor(
    bool blocking, std::string_view affinity) noexcept {
  return detached_.take(blocking, affinity);
}

namespace {

void end_one(const core::scoped_entry& who) noexcept {
  core::detail::kill_cell(core::handle_access::make_address(who.who),
                          base::exit_code::user_shutdown);
}

}  // namespace

void system_core::scoped_joined(core::scoped_entry& who) noexcept {
  const std::lock_guard guard(scoped_mutex_);
  who.next = scoped_;
  if (scoped_ != nullptr) scoped_->previous = &who;
  scoped_ = &who;
  if (scoped_end_) end_one(who);
}

void system_core::scoped_left(core::scoped_entry& who) noexcept {
  const std::lock_guard guard(scoped_mutex_);
  (who.previous != nullptr ? who.previous->next : scoped_) = who.next;
  if (who.next != nullptr) who.next->previous = who.previous;
}

void system_core::end_scoped() noexcept {
  const std::lock_guard guard(scoped_mutex_);
  scoped_end_ = true;
  for (const core::scoped_entry* e = scoped_; e != nullptr; e = e->next) end_one(*e);
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

class system_core::patience {
 public:
  patience(system_core& of, bool idle_too) noexcept : core_(of), idle_too_(idle_too) {}

  /// Names the living actors once, after a second.
  void name_the_late() {
    if (named_ || base::real_clock().now() - since_ < base::duration::seconds(1)) return;
    named_ = true;
    for (const std::string& name : core_.names_of_the_living(idle_too_))
      core_.log_.write({log_level::warning, "waiting", "shutdown"}, "shutdown", 0,
                       [&] { return "waiting for longer than a second for " + name; });
  }

 private:
  system_core& core_;
  const bool idle_too_;
  bool named_ = false;
  const base::instant since_ = base::real_clock().now();
};

bool system_core::looks_quiet(std::uint64_t& fingerprint) const {
  // First: an answer is put into a mailbox before it stops counting as due, so the look below finds
  // it.
  bool quiet = outside_due() == 0;
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
  patience waiting(*this, false);
  std::uint64_t before = 0;
  bool was_quiet = false;
  for (std::int64_t pause_us = 20;; pause_us = pause_us < 2000 ? pause_us * 2 : pause_us) {
    std::uint64_t now = 0;
    const bool quiet = looks_quiet(now);
    // Quiet twice with equal counts: a message that was sent in between would have changed a count.
    if (quiet && was_quiet && now == before) return true;
    was_quiet = quiet;
    if (quiet) pause_us = 10;
    before = now;
    if (base::real_clock().now() >= deadline) return false;
    waiting.name_the_late();
    // No thread reports the end of all work, so this loop polls, at growing intervals. It runs only
    // while a system is shut down.
    base::platform::sleep_ns(static_cast<std::uint64_t>(pause_us) * 1000);
  }
}

void system_core::refuse_newcomers() noexcept {
  directory_.seal();
  for (shard& s : shards_) {
    const std::lock_guard guard(s.lock);
    s.closed = true;
  }
}

std::vector<core::address> system_core::order_all(order what) {
  std::vector<core::address> all;
  for_each_cell([&](core::cell& c) {
    // Supervisors end their children, in order; only an order to kill is given to the children
    // themselves.
    if (what == order::kill || !c.is_supervised())
      all.push_back(core::handle_access::make_address(&c));
  });
  order_some(all, what);
  return all;
}

void system_core::order_some(std::vector<core::address>& who, order what) {
  std::erase_if(who, [&](const core::address& a) {
    switch (what) {
      case order::exit: return core::detail::exit_cell(nullptr, a, base::exit_code::user_shutdown);
      case order::leave: return core::detail::leave_cell(a);
      case order::kill: break;
    }
    return core::detail::kill_cell(a, base::exit_code::user_shutdown, true);
  });
}

bool system_core::end_all_and_wait(bool kill, base::duration limit) {
  constexpr base::duration longest_pause = base::duration::milliseconds(50);
  const base::instant deadline = base::real_clock().now() + limit;
  const order what = kill ? order::kill : order::exit;
  patience waiting(*this, true);
  std::vector<core::address> untold = order_all(what);
  std::uint64_t before = 0;
  bool was_quiet = false;
  for (base::duration pause = base::duration::milliseconds(1);;
       pause = std::min(pause * 2, longest_pause)) {
    const base::duration left =
        deadline.is_never() ? base::duration::infinite() : deadline - base::real_clock().now();
    if (wait_until_empty(std::clamp(left, base::duration(), pause), true)) return true;
    if (left <= pause) return false;
    waiting.name_the_late();
    order_some(untold, what);
    if (kill) continue;
    std::uint64_t now = 0;
    const bool quiet = looks_quiet(now);
    // The living actors have handled the exit signal, and no actor is left that could send them a
    // request.
    if (quiet && was_quiet && now == before) static_cast<void>(order_all(order::leave));
    was_quiet = quiet;
    before = now;
  }
}

namespace {

/// A thread with a running actor, and the message that this actor handles.
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
  const std::uint32_t n = c.mailbox_length();
  if (n != 0)
    text = " with " + std::to_string(n) + (n == 1 ? " message" : " messages") + " not taken";
  const bool skips = n != 0 && (head & core::mailbox_word::idle) != 0;
  if (skips || (head & core::mailbox_word::stalled) != 0)
    text += " which waits for a response, for other messages first, or for its supervisor";
  return text;
}

}  // namespace

std::vector<std::string> system_core::names_of_the_living(bool idle_too) const {
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
    if (!idle_too && (c.gate().peek() & core::mailbox_word::idle) != 0) return;
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
