// The common part of all CAF peers: the system's settings, and its time from beginning to end, like
// garrick_system.hpp for ours. `--threads n` sets the number of workers (by default CAF's, at least
// four); `--polling aggressive` removes the sleeps of the work-stealing poller, CAF's documented
// way to trade processor time for speed.
#pragma once

#include <caf/all.hpp>
#include <cstdint>

#include "common/measure.hpp"

namespace bench {

class caf_config : public caf::actor_system_config {
 public:
  explicit caf_config(arguments& args) {
    const std::uint64_t threads = args.number("threads", 0);
    if (threads != 0) set("scheduler.max-threads", static_cast<std::int64_t>(threads));
    if (args.text("polling", "default") == "aggressive") {
      set("work-stealing.moderate-sleep-duration", caf::timespan{0});
      set("work-stealing.relaxed-sleep-duration", caf::timespan{0});
    }
  }
};

// Calls `body(system)` and returns the seconds from the system's construction to the end of its
// destructor, which waits until all actors have ended.
template <class Body>
double run_system(arguments& args, const Body& body) {
  caf_config config(args);
  args.reject_unknown();
  const std::int64_t start = now_ns();
  {
    caf::actor_system system(config);
    body(system);
  }
  return seconds_since(start);
}

}  // namespace bench
