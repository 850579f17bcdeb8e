// Tells the registry and the groups that an actor has ended: a hidden actor that monitors whom it
// is told to.
//
// Thread safety: any thread; `ended` runs on the watcher's turn. `close` before what `context`
// points to goes.
#pragma once

#include <garrick/core/cell/environment.hpp>
#include <garrick/core/ref.hpp>

#include <mutex>

namespace garrick::system {

class end_watcher {
 public:
  using callback = void (*)(void* context, const core::address& who);
  end_watcher(core::environment& env, const char* name, callback ended, void* context) noexcept
      : env_(env), name_(name), ended_(ended), context_(context) {}

  /// Will call back when `who` has ended, soon if it has ended already. False: the system has begun
  /// to stop.
  bool watch(const core::handle& who);
  /// No more: the handle to the hidden actor must not outlive the system's threads.
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
