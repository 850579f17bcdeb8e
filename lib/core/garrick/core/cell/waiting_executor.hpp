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
  /// Waits until this thread's cell was scheduled, at most `limit_ns` (negative: for ever). False:
  /// the time is over.
  virtual bool wait(std::int64_t limit_ns) noexcept = 0;

  /// True: other actors run meanwhile, also those of the thread that waits, so that it holds up
  /// nobody.
  [[nodiscard]] virtual bool runs_others() const noexcept { return false; }

  /// Its actor has ended: the thread is free. Any thread.
  virtual void actor_ended() noexcept = 0;

  bool claim(base::runnable&) noexcept override { return false; }
  void expose() noexcept override {}

 protected:
  ~waiting_executor() = default;
};

}  // namespace garrick::core
