// The threads of detached and blocking actors: only the thread that holds the baton runs.
//
// Problem: a blocking actor needs a stack of its own, and so a thread of its own; but in a
// deterministic system the scheduler alone decides which actor runs. So every thread waits until
// the system hands it the baton. It gives the baton back where a real thread would sleep: between
// two messages (detached), or in a receive with nothing to receive (blocking).
//
// Thread safety: except for the constructor, the destructor and `go`, only the holder of the baton
// may call these functions. Handing the baton over synchronises.
#pragma once

#include <garrick/base/concurrency/parker.hpp>
#include <garrick/core/seam/environment.hpp>
#include <garrick/testkit/internal/deterministic_scheduler.hpp>

#include <cstdint>
#include <thread>

namespace garrick::testkit::internal {

class baton_thread final : public core::waiting_executor, public scheduled_thread {
 public:
  /// Creates the thread. Throws std::system_error if it cannot be created.
  explicit baton_thread(deterministic_scheduler& scheduler);
  /// Ends the thread, which must not hold the baton.
  ~baton_thread();

  // core::waiting_executor, for the actor
  void schedule(base::runnable& r) noexcept override;
  bool wait(std::int64_t limit_ns) noexcept override;
  void actor_ended() noexcept override { free_ = true; }

  // scheduled_thread, for the scheduler
  [[nodiscard]] base::runnable* actor() const noexcept override {
    return next_ != nullptr ? next_ : more_ ? current_ : nullptr;
  }
  /// Gives the baton to this thread and waits until the thread gives it back.
  void go() noexcept override;

  /// Returns true if the thread's actor has ended and has nothing left to run.
  [[nodiscard]] bool is_free() const noexcept { return free_ && !queued && next_ == nullptr; }
  /// Assigns the thread to another actor. Requires `is_free()`.
  void reuse() noexcept { free_ = false; }

 private:
  void loop() noexcept;
  void give_baton_back() noexcept;
  void become_runnable() noexcept;

  deterministic_scheduler& scheduler_;
  base::runnable* next_ = nullptr;     ///< scheduled, not yet taken
  base::runnable* current_ = nullptr;  ///< the present or last actor of this thread
  bool more_ = false;                  ///< `current_` still holds the run right
  bool timed_out_ = false;
  bool free_ = false;
  bool quit_ = false;
  base::parker mine_;   ///< this thread waits here for the baton
  base::parker back_;   ///< the system waits here until it has the baton back
  std::thread thread_;  // last: it uses all others
};

/// The wait of a scoped actor on the system's own thread. Until it ends, it runs the other actors.
class driving_wait final : public core::waiting_executor {
 public:
  /// `turn_limit`: the number of turns after which a wait gives up.
  driving_wait(deterministic_scheduler& scheduler, core::cell& self,
               std::uint64_t turn_limit) noexcept
      : scheduler_(scheduler), self_(self), turn_limit_(turn_limit) {}

  void schedule(base::runnable&) noexcept override { scheduled_ = true; }
  bool wait(std::int64_t limit_ns) noexcept override;
  bool runs_others() const noexcept override { return true; }
  void actor_ended() noexcept override { over = true; }

  bool over = false;  ///< its actor has ended: this may be destroyed

 private:
  void give_up() noexcept;

  deterministic_scheduler& scheduler_;
  core::cell& self_;
  const std::uint64_t turn_limit_;
  bool scheduled_ = false;
};

}  // namespace garrick::testkit::internal
