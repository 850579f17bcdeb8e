// The system lane: what actors and the system tell each other about life and death.
//
// `down` and `exit_signal` are also messages that users' handlers may take. Their order: signals from one actor to another keep their order among themselves,
// and a signal may overtake ordinary messages that were sent before it (the lane is separate so that traffic can neither delay nor fill it). An actor that
// needs "all its mail, then the end" sends a last ordinary message itself.
#pragma once

#include <garrick/base/exit_reason.hpp>
#include <garrick/core/ref.hpp>

#include <cstdint>

namespace garrick::core {

/// A monitored actor has ended (or had ended, or never lived, when the monitor was set).
struct down {
  address who;
  base::exit_reason reason;
  std::uint64_t monitor = 0;  ///< the monitor that this answers
};

/// A linked actor has ended, or somebody asks this actor to end. Ends the receiver unless the reason is normal or it traps exits.
struct exit_signal {
  address from;
  base::exit_reason reason;
};

namespace signals {

/// Watch me: a link (mutual) or a monitor (one way).
struct watch {
  address watcher;
  std::uint64_t monitor = 0;  ///< 0: a link
};
struct unwatch {
  address watcher;
  std::uint64_t monitor = 0;
};
/// End at once, even while suspended; cannot be trapped.
struct kill {
  base::exit_reason reason;
};
/// From the supervisor to its child, which is suspended or is told to start anew.
struct restart {
  bool keep_mail = true;
};
/// From a child to its supervisor: the child is suspended, or has ended.
struct child_failed {
  address child;
  base::exit_reason reason;
  bool suspended = false;  ///< false: it has ended
};
/// Run a function on the actor's turn; for the framework.
struct invoke {
  void (*run)(cell&, void*);
  void* argument;
};

}  // namespace signals
}  // namespace garrick::core
