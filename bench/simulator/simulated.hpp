// What the simulator's programs share: their options, and that a simulation came to its end.
#pragma once

#include <garrick/machine/machines.hpp>
#include <garrick/machine/simulation.hpp>

#include <cstdint>
#include <utility>

#include "common/measure.hpp"

namespace bench {

inline garrick::machine::simulation_options on_machine(garrick::sched::topology machine,
                                                       std::uint32_t workers, const char* policy,
                                                       std::uint64_t seed = 1) {
  garrick::machine::simulation_options o;
  o.machine = std::move(machine);
  o.workers = workers;
  o.policy = policy;
  o.seed = seed;
  return o;
}

// Counts the messages of a simulation; one that failed is the program's failure.
inline void add(result& to, const garrick::machine::outcome& o) {
  to.error(o.error);
  to.items += o.messages;
}

}  // namespace bench
