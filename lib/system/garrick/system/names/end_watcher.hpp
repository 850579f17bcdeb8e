// Tells the registry and the groups that an actor has ended: a hidden actor that monitors the given
// actors.
//
// Thread safety: any thread; `ended` runs on the watcher's turn. Call `close` before the object
// behind `context` is destroyed.
#pragma once

#include <garrick/core/ref.hpp>
#include <garrick/core/seam/environment.hpp>

#include <mutex>

namespace garrick::system {

/// Calls back when a watched actor has ended. Any thread.
class end_watcher {
 public:
  /// The function to call after the end of `who`. Runs on the watcher's turn, one call at a time;
  /// must not throw.
  using callback = void (*)(void* context, const core::address& who);
  /// Does not spawn the hidden actor yet. `name` becomes its name and must live as long as `env`,
  /// which outlives the watcher.
  end_watcher(core::environment& env, const char* name, callback ended, void* context) noexcept
      : env_(env), name_(name), ended_(ended), context_(context) {}

  /// Watches `who`, which must not be empty: `ended` is called after its end, or soon if it has
  /// ended already. Returns false if the system has begun to stop. Throws std::bad_alloc.
  bool watch(const core::handle& who);
  /// Stops watching, and drops the handle to the hidden actor, which must not outlive the system's
  /// threads.
  void close() noexcept;

 private:
  core::environment& env_;
  const char* const name_;
  const callback ended_;
  void* const context_;

  std::mutex mutex_;
  core::any_ref actor_;  // under `mutex_`; made by the first `watch`
  bool closed_ = false;  // under `mutex_`
};

}  // namespace garrick::system
