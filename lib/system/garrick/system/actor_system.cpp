// The ways to end a system. A call by one of the system's own threads is refused, since that thread
// would wait for itself. So is a call in a forked process, which has none of the system's threads.
#include <garrick/base/platform/assert.hpp>
#include <garrick/system/actor_system.hpp>
#include <garrick/system/settings/internal/environment.hpp>
#include <garrick/system/system_core.hpp>

#include <utility>

namespace garrick::system {

namespace {

base::error waits_for_itself(std::string_view where) {
  return base::make_error(base::errc::would_block, where,
                          "this is one of the system's own threads, which would wait for itself: "
                          "let an outside thread do it");
}

/// Returns the reason why this thread must not wait for the system; no error if it may.
base::error why_not(std::string_view where, const system_core& core) {
  if (core.is_copy())
    return base::make_error(base::errc::would_block, where,
                            "this process is a fork of the one that made the system, whose threads "
                            "are not here");
  return core.on_own_thread() ? waits_for_itself(where) : base::error();
}

}  // namespace

#if defined(GARRICK_MINIMAL)
actor_system::actor_system() : actor_system(system::settings{}) {}
#else
actor_system::actor_system() : actor_system(internal::settings_of_environment()) {}
#endif

actor_system::actor_system(const system::settings& values) : core_(new system_core(values)) {}

actor_system::~actor_system() {
  if (core_->is_copy()) return;  // a forked child can neither end nor free the parent's parts
  GARRICK_ASSERT(!core_->on_own_thread(),
                 "an actor system is destroyed by one of its own workers; let the thread that made "
                 "it destroy it");
  const base::duration deadline = core_->settings_of().shutdown.deadline;
  const shutdown_report report = shutdown(deadline);
  if (report.outside_due != 0)
    core_->log().write({log_level::warning, "still due", "shutdown"}, "shutdown", 0, [&] {
      return std::to_string(report.outside_due) +
             (report.outside_due == 1 ? " answer was" : " answers were") +
             " still due from outside after the deadline (adapt, outside_work)";
    });
  if (!report.complete) {
    for (const std::string& name : report.still_alive)
      core_->log().write({log_level::warning, "still alive", "shutdown"}, "shutdown", 0, [&] {
        return "still alive after the deadline: " + name + "; it is ended without being asked";
      });
    core_->end_scoped();  // first: a handler that waits as a scoped actor would never return
    static_cast<void>(core_->end_all_and_wait(true, base::duration::infinite()));
  }
  core_->end_scoped();  // only now: the actors that owed scoped actors an answer have ended
  core_->stop_threads();
  core_->release();
}

base::result<void> actor_system::await_all() {
  if (base::error why = why_not("await_all()", *core_)) return why;
  core_->wait_until_empty(base::duration::infinite());
  return {};
}

shutdown_report actor_system::await_all(base::duration limit) {
  shutdown_report report;
  if (base::error why = why_not("await_all()", *core_)) {
    report.complete = false;
    report.error = std::move(why);
    return report;
  }
  report.complete = core_->wait_until_empty(limit);
  if (!report.complete) report.still_alive = core_->names_of_the_living();
  return report;
}

shutdown_report actor_system::shutdown(base::duration deadline) {
  shutdown_report report;
  if (base::error why = why_not("shutdown()", *core_)) {
    report.complete = false;
    report.error = std::move(why);
    return report;
  }
  if (!core_->wait_until_quiet(deadline)) report.outside_due = core_->outside_due();
  core_->refuse_newcomers();
  report.complete = core_->end_all_and_wait(false, deadline);
  if (!report.complete) report.still_alive = core_->names_of_the_living();
  return report;
}

shutdown_report actor_system::stop_now(base::duration deadline) {
  shutdown_report report;
  if (base::error why = why_not("stop_now()", *core_)) {
    report.complete = false;
    report.error = std::move(why);
    return report;
  }
  core_->refuse_newcomers();
  report.complete = core_->end_all_and_wait(true, deadline);
  if (!report.complete) report.still_alive = core_->names_of_the_living();
  return report;
}

std::size_t actor_system::actor_count() const { return core_->living(); }
std::uint64_t actor_system::dead_letter_count(base::errc reason) const noexcept {
  return core_->letters().count(reason);
}
std::uint64_t actor_system::dead_letter_count(const base::error& reason) const {
  return core_->letters().count(reason);
}
std::uint64_t actor_system::dead_letter_count() const noexcept { return core_->letters().count(); }
dead_letters& actor_system::dead_letters() noexcept { return core_->letters(); }
registry& actor_system::registry() noexcept { return core_->names(); }
groups& actor_system::groups() noexcept { return core_->topics(); }
core::environment& actor_system::env() noexcept { return *core_; }
const settings& actor_system::settings() const noexcept { return core_->settings_of(); }

void actor_system::set_log_level(log_level least) noexcept { core_->log().set_least(least); }

base::result<void> actor_system::set_watchdog(base::duration after) {
  return core_->set_watchdog(after);
}

std::optional<sched::worker_stats> actor_system::worker_statistics(
    std::uint32_t index) const noexcept {
  return core_->workers_pool().worker_statistics(index);
}

}  // namespace garrick::system
