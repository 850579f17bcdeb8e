// The system lane: the messages of actors and the system about life and death.
//
// `down` and `exit_signal` are also messages that users' handlers may take. Signals from one actor
// to another keep their order among themselves. A signal may overtake ordinary messages that were
// sent before it: the lane is separate, so that traffic can neither delay nor fill it. The receiver
// looks at the lane before each message.
//
// A `down` is the exception. It comes after all messages of the dead actor to its watcher, so it
// waits in the watcher's mailbox as a response does (system_lane::bring_down). An exit signal ends
// its receiver, and does not wait for mail. But an exit signal or a `child_failed` for a hook that
// is a coroutine waits with the mail (detail::put_behind_mail).
//
// While a supervised child is suspended, it has no object. Then exit signals, and kills that are
// not final, find no object to end and are dropped, and the restart continues.
//
// Private: installed because templates need it.
#pragma once

#include <garrick/base/values/exit_reason.hpp>
#include <garrick/core/cell/handle.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

namespace garrick::core {

class cell;
struct envelope;

/// A monitored actor has ended; or it had ended, or never lived, when the monitor was set.
struct down {
  address who;                ///< the actor that ended
  base::exit_reason reason;   ///< `unreachable` if it never lived
  std::uint64_t monitor = 0;  ///< the monitor that this answers
};

/// A linked actor has ended, or an actor or thread asks this actor to end. A receiver that traps
/// exits gets the signal as a message. Any other receiver ends, unless the reason is normal or
/// `unreachable`.
struct exit_signal {
  address from;              ///< the linked or the asking actor; empty: a thread
  base::exit_reason reason;  ///< the reason to end
};

/// Work of another room for an actor's turn, also while the actor is suspended. Its outcome is
/// always reported, even if the actor ends first: `run` returns, or `failed` or `turned_away` is
/// called.
class errand {
 public:
  virtual ~errand() = default;
  /// Does the work, on the actor's turn. An exception does not harm the actor.
  virtual void run(cell& self) = 0;
  /// Called in the place of `run` for an actor of another process: on the sender's thread, with its
  /// proxy.
  virtual void run_for_proxy(cell&) { turned_away(); }
  /// Called with the exception of `run`, on the actor's turn.
  virtual void failed(const std::exception_ptr&) noexcept { turned_away(); }
  /// Called if `run` will not be called: the actor has ended, or has no handle left. Any thread.
  virtual void turned_away() noexcept = 0;
};

namespace signals {

/// Asks to be told of the receiver's end: by a link (mutual) or a monitor (one way).
struct watch {
  address watcher;
  std::uint64_t monitor = 0;  ///< 0: a link
};
struct unwatch {
  address watcher;
  std::uint64_t monitor = 0;
};
/// Ends the receiver after the current handler; cannot be trapped. A supervised child is restarted
/// according to its policy, unless the kill is final.
struct kill {
  base::exit_reason reason;
  /// also ends a suspended child, and a supervisor that waits for its children
  bool final = false;
};
/// From a system that ends, when no actor has work: the receiver ends, unless it waits for an
/// answer.
struct leave {
  std::uint8_t unused = 0;
};
/// From the supervisor to its child: lose the object, keep address and mail, answer with
/// `child_failed`.
struct suspend {
  std::uint8_t unused = 0;
};
/// From the supervisor to its suspended child: restart and answer with `child_up`.
struct restart {
  bool keep_mail = true;
};
/// From the supervisor to its child: end for good.
struct stop {
  base::exit_reason reason;
};
/// From a child to its supervisor: the child was restarted.
struct child_up {
  address child;
};
/// From a timer that the supervisor has set.
struct child_alarm {
  std::uint64_t serial = 0;
  std::uint64_t place = 0;  ///< of the child that the alarm is for; 0: the group
};
/// From a child to its supervisor: the child is suspended, or has ended. Any supervising actor may
/// take it as a message, `on(const child_failed&)`.
struct child_failed {
  address child;
  base::exit_reason reason;
  bool suspended = false;  ///< false: it has ended
};
/// A sender waits until its message has room (send_when_room). The signal owns the message and the
/// reference to the sender.
struct room_wanted {
  envelope* message;
  cell* sender;
  std::uint64_t id;
};
/// To a proxy: no actor awaits the answer to this request any more.
struct withdrawn {
  std::uint64_t requester;  ///< id of the actor that had asked
  std::uint64_t request;
};
/// To the requester: its request was handed on to an actor elsewhere, by way of this proxy. Each
/// open request is handed on in this way at most once.
class handed_on {
 public:
  handed_on(cell& proxy, std::uint64_t request) noexcept : proxy_(&proxy), request_(request) {
    proxy.add_strong();
  }
  handed_on(handed_on&& o) noexcept
      : proxy_(std::exchange(o.proxy_, nullptr)), request_(o.request_) {}
  handed_on& operator=(handed_on&&) = delete;
  ~handed_on() {
    if (proxy_ != nullptr) proxy_->drop_strong();
  }
  [[nodiscard]] cell& proxy() const noexcept { return *proxy_; }
  [[nodiscard]] std::uint64_t request() const noexcept { return request_; }

 private:
  cell* proxy_;  ///< held
  std::uint64_t request_;
};
/// From an actor to itself: a handler has caught the exception that dropped a promise, and has
/// returned.
struct promises_dropped {
  std::uint8_t unused = 0;
};
/// Work for the actor's turn, of a kind that this room does not know.
class run_errand {
 public:
  explicit run_errand(std::unique_ptr<errand> what) noexcept : what_(std::move(what)) {}
  run_errand(run_errand&&) noexcept = default;
  run_errand& operator=(run_errand&&) = delete;
  /// Turns away work that was not run, wherever the signal ends.
  ~run_errand() {
    if (what_ != nullptr) what_->turned_away();
  }
  /// Runs the work once, on the actor's turn or for a proxy.
  void run(cell& self) noexcept;

 private:
  std::unique_ptr<errand> what_;
};

}  // namespace signals

/// Tells a proxy that `requester` does not wait for the answer to its request any more; does
/// nothing if the answer has come meanwhile. Without memory the proxy is not told. Any thread that
/// holds the proxy.
void tell_withdrawn(cell& proxy, const cell& requester, std::uint64_t request) noexcept;

/// Puts `what` into the actor's system lane. An actor that has ended, or that has no handle left,
/// turns it away at once. Throws std::bad_alloc if there is no memory for the signal; then it was
/// not sent, and `what` is dropped without a call. Any thread; does not block.
void send_errand(const address& to, std::unique_ptr<errand> what);

namespace detail {

/// Puts a signal behind the mail of `self`, to be treated as mail: it waits for a restart and for
/// the end of a handler that awaits, and is a dead letter when the mail is dropped. The runner.
void put_behind_mail(cell& self, envelope* e) noexcept;
/// Returns true if the signal was put behind the mail.
[[nodiscard]] bool has_its_turn(const envelope* e) noexcept;

}  // namespace detail

/// Puts `what` behind the mail of `self`, to be treated as mail: it waits for a restart and for the
/// end of a handler that awaits, and is turned away when the mail is dropped. Throws std::bad_alloc
/// as above. The runner.
void put_off_errand(cell& self, std::unique_ptr<errand> what);

}  // namespace garrick::core
