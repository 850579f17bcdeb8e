// Work that goes on outside of the actors and will lead to a message: a socket that is read, a
// device that computes, a thread of the program's own. While such a token lives, its system has
// something left to do, and does not end (within the limit of its shutdown).
//
//   outside_work reading(system.env());   // then start the thread that will send
//   send(to, std::move(text));
//   reading.done();                       // after the send, so that the message is handled
//
// `adapt` needs none: the answer that it waits for is counted by itself.
//
// Guarantees: what was sent before `done` is handled before an orderly end. A token may outlive its
// system. Thread safety: one object is used by one thread at a time, on whichever thread.
#pragma once

#include <garrick/core/cell/environment.hpp>

#include <utility>

namespace garrick::core {

/// Something outside of the actors is due: while one of these lives, `shutdown` and the system's
/// destructor wait, at most for their limit. It can be moved.
///
///     std::thread([busy = outside_work(system.env()), to] { send(to, read_all()); }).detach();
class outside_work {
 public:
  using garrick_sendable = void;  ///< it may be sent to whoever goes on with the work

  /// Nothing is due.
  outside_work() noexcept = default;
  /// Something is due to the actors of this system: `system.env()`. Begin it before the work, and
  /// while something else keeps the system from its end: this thread, or a handler that runs.
  explicit outside_work(environment& of) noexcept : env_(&of) {
    of.hold();
    of.outside_began();
  }
  /// Takes the work over; `o` has none then.
  outside_work(outside_work&& o) noexcept : env_(std::exchange(o.env_, nullptr)) {}
  /// The work that was due before is done.
  outside_work& operator=(outside_work&& o) noexcept {
    if (this != &o) {
      done();
      env_ = std::exchange(o.env_, nullptr);
    }
    return *this;
  }
  ~outside_work() { done(); }

  /// The work is done: what it had to send was sent. Later calls do nothing. Never waits.
  void done() noexcept {
    environment* const env = std::exchange(env_, nullptr);
    if (env == nullptr) return;
    env->outside_ended();
    env->release();
  }

 private:
  environment* env_ = nullptr;
};

}  // namespace garrick::core
