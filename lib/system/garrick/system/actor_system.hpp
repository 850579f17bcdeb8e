// The composition root: one object owns workers, clock, detached threads and the list of living
// actors. Many systems may live in one process.
//
//   garrick::actor_system system;
//   auto acc = system.spawn<account_actor>();
//   send(acc, deposit{500});
//   long left = system.request(acc, withdraw{120}, 1s).get().value();   // from an ordinary thread
//
// The destructor drains: it waits until no actor has work left (at most
// `settings.shutdown.deadline`), tells every actor to end, and names in the log the actors that do
// not. Other ways to end: `await_all`, `shutdown`, `stop_now`.
//
// Thread safety: every function may be called from any thread, except that `await_all`, `shutdown`,
// `stop_now` and the destructor may not be called on one of the system's own threads: these three
// functions return an error with advice, and the destructor ends the program with a message. The
// constructor and destructor belong to one thread.
#pragma once

#include <garrick/sched/policies/worker_stats.hpp>
#include <garrick/system/diagnosis/dead_letters.hpp>
#include <garrick/system/settings/settings.hpp>
#include <garrick/system/spawner.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace garrick::system {

class groups;
class registry;
class system_core;

namespace detail {
/// Compilers show this name in an error.
struct it_takes_settings_and_in_braces_their_members;
}  // namespace detail

/// The result of a wait for the end of actors.
struct shutdown_report {
  /// True if no actor was left when the wait ended.
  bool complete = true;
  /// `would_block` with advice if one of the system's own threads made the call, or a process that
  /// was forked from the system's process; the call has then done nothing
  base::error error{};
  /// The actors that still lived when the deadline passed: "account#7 in its handler of deposit",
  /// "bank#3 with 2 messages not taken".
  std::vector<std::string> still_alive;
  /// The number of answers still due from outside (`adapt`, `outside_work`) when the wait for them
  /// ended. Later ones are lost.
  std::uint64_t outside_due = 0;
};

/// Owns the workers, clock, threads and names of a set of actors. Ordinary threads reach the actors
/// through it: `spawn`, `request`, `exit` and `kill` are inherited from `spawner`.
///
///     garrick::actor_system system;
///     auto account = system.spawn<account_actor>();
class actor_system : public spawner<actor_system> {
 public:
  /// Starts the system's threads, with the settings of the environment:
  /// `GARRICK_SCHEDULER_WORKERS=1 ./program`. Reads no file and no command line; see
  /// settings/load.hpp for those. A minimal build ignores the environment.
  ///
  /// Throws std::invalid_argument, which names a wrong setting, its source and its requirement,
  /// before any thread has started; std::system_error if a thread cannot be created, after the
  /// threads that were already started have ended. A variable that begins with GARRICK_ is wrong if
  /// it is not a key of the system, unless it is meant for tests or `load_settings` was given its
  /// key. Do not change the environment during the call.
  explicit actor_system();
  /// Starts the system's threads with these settings alone; ignores the environment.
  explicit actor_system(const system::settings& values);
  /// Does the same for an object that converts to settings.
  // Without this overload, GCC finds the deleted overload below as good a match for such an object
  // as the overload above.
  template <std::convertible_to<const system::settings&> S>
  explicit actor_system(S&& values)
      : actor_system(static_cast<const system::settings&>(std::forward<S>(values))) {}
  /// This overload refuses arguments that make no settings.
  template <class Garrick = detail::it_takes_settings_and_in_braces_their_members>
  explicit actor_system(...) = delete;
  /// Calls `shutdown` with `settings().shutdown.deadline`. Kills the actors that do not end in
  /// time, and names them in the log. Then waits until all running handlers have returned. Tells
  /// scoped actors to end, but does not wait for them: they may outlive the system. On one of the
  /// system's own threads, ends the program with a message.
  ~actor_system();
  actor_system(const actor_system&) = delete;
  actor_system& operator=(const actor_system&) = delete;

  /// Blocks until every actor that is not hidden has ended; ends none itself. Returns the error
  /// `would_block` at once if the caller is one of the system's own threads.
  ///
  ///     send(account, close{});
  ///     system.await_all().value();  // throws on one of the system's own threads
  base::result<void> await_all();
  /// Blocks in the same way, but at most for `limit`, and reports the actors that are left. With a
  /// limit of zero or less it does not block.
  shutdown_report await_all(base::duration limit);
  /// This overload refuses a number.
  template <class = void>
  shutdown_report await_all(base::detail::refused_number /*limit*/) {
    return {};
  }

  /// Blocks until no work is left, neither in actors nor outside (`adapt`, `outside_work`), for at
  /// most `deadline`. Then tells every actor to end, and blocks again for at most `deadline`. Later
  /// spawns fail with `shutting_down`. Delayed and periodic sends are dropped from the call on;
  /// requests still time out. Supervised children are stopped by their supervisors, in order. An
  /// actor that traps exits gets the signal as a message; it ends when no actor has work and it
  /// waits for no answer. After a second of waiting, the log names the actors that are waited for.
  /// With a deadline of zero or less, tells the actors to end and does not wait. Error:
  /// `would_block`, as above.
  shutdown_report shutdown(base::duration deadline);
  /// This overload refuses a number.
  template <class = void>
  shutdown_report shutdown(base::detail::refused_number /*deadline*/) {
    return {};
  }
  /// Tells every actor to end after its present message, and blocks for at most `deadline`. No
  /// actor can trap this order. The mail in the mailboxes becomes dead letters; later spawns fail
  /// with `shutting_down`. A deadline of zero or less does not wait. Error: `would_block`, as
  /// above.
  shutdown_report stop_now(base::duration deadline);
  /// This overload refuses a number.
  template <class = void>
  shutdown_report stop_now(base::detail::refused_number /*deadline*/) {
    return {};
  }

  /// Returns the number of living actors, without hidden ones. Takes a few short locks.
  [[nodiscard]] std::size_t actor_count() const;
  /// Returns the number of dead letters with this reason so far. The count is exact, also without
  /// subscribers.
  [[nodiscard]] std::uint64_t dead_letter_count(base::errc reason) const noexcept;
  /// Returns the same for a reason of another category: `dead_letter_count(registry_errc::…)`.
  /// Takes a short lock.
  [[nodiscard]] std::uint64_t dead_letter_count(const base::error& reason) const;
  /// Returns the number of dead letters so far, for all reasons.
  [[nodiscard]] std::uint64_t dead_letter_count() const noexcept;

  /// Returns the dead letters, where an actor can subscribe to undelivered messages.
  [[nodiscard]] system::dead_letters& dead_letters() noexcept;
  /// Returns the registry: actors by name. An actor calls `registry_of(*this)`. Include
  /// <garrick/system/names/registry.hpp>.
  [[nodiscard]] system::registry& registry() noexcept;
  /// Returns the groups: publish and subscribe. An actor calls `groups_of(*this)`. Include
  /// <garrick/system/names/groups.hpp>.
  [[nodiscard]] system::groups& groups() noexcept;

  /// Returns the settings that the system was started with; they do not change. `list_settings`
  /// shows the source of each value.
  [[nodiscard]] const system::settings& settings() const noexcept;

  /// Sets the log level: events of `least` and above are written from now on. Other threads may
  /// apply the new level a little later. Any thread; does not block. `settings()` does not change.
  void set_log_level(log_level least) noexcept;
  /// Sets the watchdog's time: a handler that runs for longer than `after` is reported. Zero or
  /// less turns the watchdog off. The time of a running handler counts from now. Error:
  /// `spawn_failed` if the system was started without a watchdog and no thread can be created for
  /// it. Any thread; blocks for a moment.
  base::result<void> set_watchdog(base::duration after);

  /// Returns the figures of one worker so far (runs, thefts, parks, time asleep) and the length of
  /// its queues. The first worker has `index` 0; returns nullopt if no worker has this `index`. Any
  /// thread; does not block.
  [[nodiscard]] std::optional<sched::worker_stats> worker_statistics(
      std::uint32_t index) const noexcept;

  /// Returns the environment of the system's actors, for `scoped_actor me(system.env())` and for
  /// other parts of the framework.
  [[nodiscard]] core::environment& env() noexcept;
  /// Returns the implementation of the system, for the framework and its tests.
  [[nodiscard]] system_core& core() noexcept { return *core_; }

 private:
  system_core* core_;
};

}  // namespace garrick::system
