// The common part of all Garrick programs: the system's settings, and its time from start to end.
// `--threads n` sets the number of workers, `--policy name` the scheduling policy, `--idle_spin_us
// n` the time for which an idle worker looks for work before it sleeps.
#pragma once

#include <garrick/garrick.hpp>

#include "common/measure.hpp"

namespace bench {

inline garrick::settings garrick_settings(arguments& args) {
  garrick::settings o;
  o.scheduler.workers = static_cast<std::uint32_t>(args.number("threads", 0));
  o.scheduler.policy = args.text("policy", "work_stealing");
  o.scheduler.idle_spin =
      garrick::duration::microseconds(static_cast<std::int64_t>(args.number("idle_spin_us", 0)));
  return o;
}

// Calls `body(system)` and returns the seconds from the system's construction to the end of its
// destructor. The settings are the last parameters that a program reads: unknown parameters are
// refused here.
template <class Body>
double run_system(arguments& args, const Body& body) {
  const garrick::settings settings = garrick_settings(args);
  args.reject_unknown();
  const std::int64_t start = now_ns();
  {
    garrick::actor_system system(settings);
    body(system);
  }
  return seconds_since(start);
}

}  // namespace bench
