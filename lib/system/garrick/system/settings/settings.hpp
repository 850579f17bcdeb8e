// The settings of a system. Each setting has the same name here, in a file, in the environment and
// on the command line: `settings.mailbox.soft_limit` is `mailbox.soft_limit`,
// `GARRICK_MAILBOX_SOFT_LIMIT` and `--mailbox.soft_limit` (load.hpp). The guide's chapter 12 lists
// all settings with range, unit and default.
//
//   garrick::settings s;
//   s.scheduler.workers = 4;
//   s.mailbox.soft_limit = 2000;
//   garrick::actor_system system(s);    // throws std::invalid_argument, which names a wrong one
//
// Thread safety: plain values. A running system has a copy that does not change.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/core/settings/settings.hpp>
#include <garrick/sched/scheduler_settings.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace garrick::base {
class probe;
class setting_table;
}  // namespace garrick::base
namespace garrick::sched {
class scheduler;
}

namespace garrick::system {

/// The log level: events of this severity and above are logged.
enum class log_level : std::uint8_t {
  debug,    ///< also dead letters
  info,     ///< also events worth knowing; the library itself writes none
  warning,  ///< also events that a program should look into; the default
  error,    ///< failures of actors and of the system
  off,      ///< nothing
};

/// The highest `detached.threads`.
inline constexpr std::uint32_t most_detached_threads = 1'000'000;

/// Keys `detached.*`: the threads of detached and blocking actors.
struct detached_settings {
  /// the most threads at a time, up to `most_detached_threads`; 0: none, and every spawn of a
  /// detached or blocking actor fails
  std::uint32_t threads = 1024;
  /// processors of the threads of detached actors, "<0> <2-4>", see sched/places/affinity.hpp;
  /// empty: the processors of the thread that made the system
  std::string affinity{};
  /// processors of the threads of blocking actors
  std::string affinity_blocking{};
};

/// Keys `dead_letters.*`.
struct dead_letter_settings {
  /// dead letters that may wait in a subscriber's mailbox, at least 1; more are only counted
  std::uint32_t backlog = 10'000;
};

/// Keys `memory.*`: the pool of messages and actors, which all systems of a process share.
struct memory_settings {
  /// MiB of free memory that are kept for the next burst. Memory above that is returned to the
  /// operating system after a while; with the largest number, none is. With several systems the
  /// largest value counts.
  std::uint32_t keep = 64;
};

/// Keys `watchdog.*`.
struct watchdog_settings {
  /// a handler that runs longer is reported; a detached actor's handler only after 30 times as
  /// long, and only once; zero: off
  base::duration after = base::duration::seconds(1);
  /// before a stack overflow aborts the process, name the actor whose handler overflowed it, on
  /// standard error
  bool report_stack_overflow = true;
};

/// Keys `shutdown.*`.
struct shutdown_settings {
  /// the wait of the system's destructor in each of its two phases
  base::duration deadline = base::duration::seconds(10);
};

/// Keys `log.*`.
struct log_settings {
  /// events of this severity and above are logged
  log_level level = log_level::warning;
};

/// A key, its value as in a file (without quotes), and its source: "default", "<file>:<line>",
/// "environment variable GARRICK_...", "argument --...", or "code" if the program itself has set
/// it.
struct setting_report {
  std::string key;     ///< "mailbox.soft_limit"
  std::string value;   ///< "512"
  std::string source;  ///< "default"
};

/// All settings of a system. A default-made object is a good start for any program.
struct settings {
  sched::scheduler_settings scheduler{};  ///< worker threads, their policy and their places
  core::mailbox_settings mailbox{};       ///< limits, and the behaviour of a send at them
  core::request_settings requests{};      ///< limits, and the search for circles
  detached_settings detached{};           ///< threads of detached and blocking actors
  dead_letter_settings dead_letters{};    ///< the backlog of subscribers
  memory_settings memory{};               ///< the memory kept for the next burst
  watchdog_settings watchdog{};           ///< the handlers that are reported
  shutdown_settings shutdown{};           ///< the time for the end
  log_settings log{};                     ///< the least severe events

  // only for code; null: no probe, and the scheduler that `scheduler` above describes
  /// Receives the system's events; must outlive the system.
  base::probe* probe = nullptr;
  /// Builds a scheduler with a policy of the program, in place of the policy that
  /// `scheduler.policy` names. Its argument is `scheduler` above, checked and with the number of
  /// workers filled in.
  std::unique_ptr<sched::scheduler> (*make_scheduler)(const sched::scheduler_settings&) = nullptr;

  /// The values that `load_settings` found, and their sources. Only `load_settings` fills it.
  std::vector<setting_report> loaded{};
};

/// Adds a row to `table` for every key of the system; the rows fill the members of `values`.
void add_settings(base::setting_table& table, settings& values);

/// Returns the reason why no system can be built with these settings: "<source>: the key '<key>'
/// wants ..., not '...'"; empty if one can. The source is as in `setting_report`.
[[nodiscard]] std::string why_refused(const settings& values);

/// Returns every key of the system, section by section, with its value and its source.
[[nodiscard]] std::vector<setting_report> list_settings(const settings& values);

/// Returns a line for each setting, in columns: key, value, source.
[[nodiscard]] std::string to_text(const std::vector<setting_report>& list);

}  // namespace garrick::system
