// What a worker pool is built from, and the check of it.
//
// Thread safety: plain values; `checked` may be called from any thread.
#pragma once

#include <cstdint>
#include <string>

namespace garrick::sched {

/// Called on a worker thread.
struct thread_hook {
  /// `worker` is the worker's index, from 0. Must not throw. Null: nothing is called.
  void (*call)(void* context, std::uint32_t worker) = nullptr;
  void* context = nullptr;  ///< handed to `call` as it is
};

/// How a worker pool is built. Every value has a default that suits a program of its own.
struct scheduler_options {
  /// The name of a shipped policy (shipped_policies.hpp). Without effect on a pool of a policy of
  /// one's own.
  std::string policy = "work_stealing";
  /// Worker threads, at most 1024. 0: as many as the process may use cores.
  std::uint32_t workers = 0;
  /// The messages that one run handles at most: k runnables on one worker each run within k quanta.
  /// `unlimited` is allowed, 0 is not.
  std::uint32_t quantum = 1024;
  /// How long a worker looks for work before it sleeps, in microseconds; at most one second.
  std::uint32_t idle_spin_us = 0;
  /// Worker i's thread is called "<thread_name>-<i>"; the system keeps the first 15 characters.
  std::string thread_name = "garrick";
  thread_hook on_thread_start{};  ///< called before a worker's first run
  thread_hook on_thread_stop{};   ///< called after a worker's last run
  /// Go on with fewer threads if some cannot be created (at least one), and unbound where binding
  /// fails.
  bool best_effort = false;

  // where the workers stand

  /// Processors for worker threads, in the form of affinity.hpp. Empty: as `pin` says.
  std::string affinity{};
  /// Each worker thread stays on its "unit", "cache" or "node", or anywhere in the "system".
  /// "automatic" is the node for locality_guided and the system for the others.
  std::string pin = "automatic";
  /// For locality_guided: who is asked for work first, and may run one's actors. Those are the
  /// workers that share the "cache" or the "node", or all of the "system".
  std::string neighbours = "cache";
  /// For tests: a synthetic topology instead of this machine's, see topology.hpp. Threads are not
  /// bound then.
  std::string machine{};
};

/// `options` with the number of workers filled in, for whoever builds a `worker_pool` of a policy
/// of their own. `policy` is not looked at.
///
/// Throws std::invalid_argument that names the setting and says what is allowed.
[[nodiscard]] scheduler_options checked(scheduler_options options);

}  // namespace garrick::sched
