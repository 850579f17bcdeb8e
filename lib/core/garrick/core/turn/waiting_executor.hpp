// One thread that runs at most one cell: detached, blocking and scoped actors.
//
// Private: installed because templates need it.
#pragma once

#include <garrick/base/concurrency/runnable.hpp>

#include <cstdint>

namespace garrick::core {

/// The executor of one thread that runs at most one cell: its `schedule` wakes the thread. The
/// testkit's version hands a baton on instead.
class waiting_executor : public base::executor {
 public:
  /// Blocks until this thread's cell was scheduled, for at most `limit_ns`; for ever if that is
  /// negative. Returns false if the time has passed.
  virtual bool wait(std::int64_t limit_ns) noexcept = 0;

  /// Returns true if other actors run during `wait`, also those of the waiting thread, so that the
  /// wait holds up no actor.
  [[nodiscard]] virtual bool runs_others() const noexcept { return false; }

  /// Called when the thread's actor has ended, before other actors are told: the thread is free for
  /// another actor, which it runs after the present run. Any thread.
  virtual void actor_ended() noexcept = 0;

  bool claim(base::runnable&) noexcept override { return false; }
  void expose() noexcept override {}

 protected:
  ~waiting_executor() = default;
};

}  // namespace garrick::core
