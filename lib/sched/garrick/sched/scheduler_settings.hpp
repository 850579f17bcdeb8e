// The settings of a worker pool, `scheduler.*`, and the function that checks them.
//
// Thread safety: plain values; `checked` may be called from any thread.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/sched/policies/quantum.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace garrick::base {
class probe;
class setting_table;
}  // namespace garrick::base

namespace garrick::sched {

/// The most worker threads of one pool.
inline constexpr std::uint32_t most_workers = 1024;
/// The longest `scheduler_settings::idle_spin`.
inline constexpr base::duration longest_idle_spin = base::duration::seconds(1);
/// Bytes of a thread's name: the kernel keeps 15, and a number or a task follows.
inline constexpr std::int64_t longest_thread_name = 10;

/// A function that a worker thread calls.
struct thread_hook {
  /// `worker` is the worker's index, from 0. Must not throw. Null: nothing is called.
  void (*call)(void* context, std::uint32_t worker) = nullptr;
  void* context = nullptr;  ///< handed to `call` as it is
};

/// The settings of a worker pool: the keys `scheduler.*`, and hooks, which only code can set. The
/// defaults suit a program that has the machine to itself.
struct scheduler_settings {
  /// The name of a shipped policy (shipped_policies.hpp). Has no effect on a pool of a user's own
  /// policy.
  std::string policy = "work_stealing";
  /// The number of worker threads, at most `most_workers`. 0: one for each core that the process
  /// may use.
  std::uint32_t workers = 0;
  /// The most messages of one run: k runnables on one worker each run within k quanta. `unlimited`
  /// is allowed, 0 is not.
  std::uint32_t quantum = default_quantum;
  /// The time for which a worker looks for work before it sleeps, at most `longest_idle_spin`.
  base::duration idle_spin{};
  /// Worker i's thread is called "<thread_name>-<i>". At most `longest_thread_name` bytes.
  std::string thread_name = "garrick";
  thread_hook on_thread_start{};  ///< called before a worker's first run
  thread_hook on_thread_stop{};   ///< called after a worker's last run
  base::probe* probe = nullptr;   ///< is told of parks and thefts; may be null; outlives the pool
  /// Start with fewer threads (at least one) if some cannot be created, and leave threads unbound
  /// where binding fails.
  bool best_effort = false;

  // the places of the workers

  /// Processors for worker threads, in the form of affinity.hpp. Empty: as `pin` says.
  std::string affinity{};
  /// Each worker thread stays on its "unit", "cache" or "node", or anywhere in the "system".
  /// "automatic" is the node for locality_guided and the system for the others.
  std::string pin = "automatic";
  /// For locality_guided: the workers that a thief asks first, and that may run each other's
  /// actors. They share the "cache" or the "node", or are all of the "system".
  std::string neighbours = "cache";
  /// For tests: a synthetic topology instead of this machine's, see topology.hpp. Threads are not
  /// bound then.
  std::string machine{};
};

/// Adds the rows of `scheduler.*`, which fill `settings`. The row of the policy is not among them:
/// `add_policy_setting` adds it (shipped_policies.hpp).
void add_settings(base::setting_table& table, scheduler_settings& settings);

/// The form that `why_no_affinity` checks.
inline constexpr std::string_view affinity_form = "groups of processors, such as \"<0> <2-4>\"";
/// Returns the reason why `text` is not a list of groups of processors that this process may use;
/// empty if it is one.
[[nodiscard]] std::string why_no_affinity(const std::string& text);

/// Returns `settings` with the number of workers filled in, for code that builds a `worker_pool`
/// with a policy of its own. `policy` is not looked at.
///
/// Throws std::invalid_argument that names the key and its requirement.
[[nodiscard]] scheduler_settings checked(scheduler_settings settings);

}  // namespace garrick::sched
