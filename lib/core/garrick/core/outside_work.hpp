// Work outside of the actors that will lead to a message: a socket that is read, a device that
// computes, a thread of the program's own. While a token of such work lives, its system has work to
// do, and does not end (within the limit of its shutdown).
//
//   outside_work reading(system.env());   // then start the thread that will send
//   send(to, std::move(text));
//   reading.done();                       // after the send, so that the message is handled
//
// `adapt` needs no token: the system counts the answer that `adapt` waits for.
//
// Guarantees: messages sent before `done` are handled before an orderly end. A token may outlive
// its system. Thread safety: an object is used by one thread at a time, on any thread.
#pragma once

#include <garrick/core/cell/environment.hpp>

#include <utility>

namespace garrick::core {

/// A token for work outside of the actors: while it lives, `shutdown` and the system's destructor
/// wait, at most for their limit. It can be moved.
///
///     std::thread([busy = outside_work(system.env()), to] { send(to, read_all()); }).detach();
class outside_work {
 public:
  using garrick_sendable = void;   ///< it may be sent to the actor that continues the work
  using garrick_only_here = void;  ///< it counts for this system

  /// Makes a token without work.
  outside_work() noexcept = default;
  /// Begins work for the actors of this system: `system.env()`. Requires that this thread or a
  /// running handler keeps the system from ending. Make the token before the work begins.
  explicit outside_work(environment& of) noexcept : env_(&of) {
    of.hold();
    of.outside_began();
  }
  /// Takes the work over; `o` has none then.
  outside_work(outside_work&& o) noexcept : env_(std::exchange(o.env_, nullptr)) {}
  /// Ends this token's work, and takes over that of `o`.
  outside_work& operator=(outside_work&& o) noexcept {
    if (this != &o) {
      done();
      env_ = std::exchange(o.env_, nullptr);
    }
    return *this;
  }
  ~outside_work() { done(); }

  /// Ends the work, after its messages were sent. Later calls do nothing. Never waits.
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
