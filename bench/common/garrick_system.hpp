// Settings that every Garrick program shares: `--threads n` sets the number of workers, `--policy
// name` the scheduling policy, `--idle_spin_us n` how long an idle worker looks for work before it
// sleeps.
#pragma once

#include <garrick/garrick.hpp>

#include "common/measure.hpp"

namespace bench {

inline garrick::options garrick_options(arguments& args) {
  garrick::options o;
  o.workers = static_cast<std::uint32_t>(args.number("threads", 0));
  o.policy = args.text("policy", "work_stealing");
  o.idle_spin_us = static_cast<std::uint32_t>(args.number("idle_spin_us", o.idle_spin_us));
  return o;
}

}  // namespace bench
