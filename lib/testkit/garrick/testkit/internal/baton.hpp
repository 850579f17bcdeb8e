// The threads of detached and blocking actors: they exist, but only the one that holds the baton
// runs.
//
// Problem: a blocking actor needs a stack of its own, so a thread of its own; a deterministic
// system must decide alone who runs. So every thread waits until the system hands it the baton, and
// hands it back where the real thread would sleep: between two messages (detached), or in a receive
// with nothing to receive (blocking).
//
// Thread safety: everything but the constructor, the destructor and `go` is for the holder of the
// baton. The hand-over synchronises.
#pragma once

#include <garrick/base/concurrency/parker.hpp>
#include <garrick/base/time/clock.hpp>
#include <garrick/core/cell/waiting_executor.hpp>

#include <cstdint>
#include <thread>

namespace garrick::core {
class cell;
}

namespace garrick::testkit::internal {

class deterministic_core;

class baton_thread final : public core::waiting_executor {
 public:
  /// Throws std::system_error if there is no thread.
  explicit baton_thread(deterministic_core& kit);
  ~baton_thread();

  void schedule(base::runnable& r) noexcept override;
  bool wait(std::int64_t limit_ns) noexcept override;
  void actor_ended() noexcept override { free_ = true; }

  /// The system's thread: gives the baton to this thread and waits until it is back.
  void go() noexcept;
  /// Its actor has ended, and nothing is left to run.
  [[nodiscard]] bool is_free() const noexcept { return free_ && !queued && next_ == nullptr; }
  void reuse() noexcept { free_ = false; }

  /// The actor whose run right waits here; null if the thread only wakes for a time-out.
  [[nodiscard]] base::runnable* actor() const noexcept {
    return next_ != nullptr ? next_ : more_ ? current_ : nullptr;
  }

  bool queued = false;  ///< in the system's list of those who can run

 private:
  void loop() noexcept;
  void give_baton_back() noexcept;
  void become_runnable() noexcept;

  deterministic_core& kit_;
  base::runnable* next_ = nullptr;     ///< scheduled, not yet taken
  base::runnable* current_ = nullptr;  ///< what this thread runs or ran last
  bool more_ = false;                  ///< `current_` still holds the run right
  bool timed_out_ = false;
  bool free_ = false;
  bool quit_ = false;
  base::parker mine_;   ///< this thread waits for the baton
  base::parker back_;   ///< the system waits until it is back
  std::thread thread_;  // last: it uses all others
};

/// What one scoped actor of the system's own thread waits with: it runs the others meanwhile.
class driving_wait final : public core::waiting_executor {
 public:
  driving_wait(deterministic_core& kit, core::cell& self) noexcept : kit_(kit), self_(self) {}
  void schedule(base::runnable&) noexcept override { scheduled_ = true; }
  bool wait(std::int64_t limit_ns) noexcept override;
  bool runs_others() const noexcept override { return true; }
  void actor_ended() noexcept override { over = true; }

  bool over = false;

 private:
  void give_up() noexcept;
  deterministic_core& kit_;
  core::cell& self_;
  bool scheduled_ = false;
};

}  // namespace garrick::testkit::internal
