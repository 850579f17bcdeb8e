// Settings that every CAF peer shares. `--threads n` sets the number of workers (absent: CAF's own
// default, at least four); `--polling aggressive` removes the sleeps of the work-stealing poller,
// CAF's documented way to trade processor time for speed.
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

}  // namespace bench
