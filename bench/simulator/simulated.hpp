// The common part of the simulator's programs: their options, and the check that a simulation
// ended.
#pragma once

#include <garrick/machine/machines.hpp>
#include <garrick/machine/simulation.hpp>

#include <cstdint>
#include <string>
#include <utility>

#include "common/measure.hpp"

namespace bench {

inline garrick::machine::simulation_options on_machine(garrick::sched::topology machine,
                                                       std::uint32_t workers, std::string policy,
                                                       std::uint64_t seed = 1) {
  garrick::machine::simulation_options o;
  o.machine = std::move(machine);
  o.workers = workers;
  o.policy = std::move(policy);
  o.seed = seed;
  return o;
}

// A virtual machine, where a wake-up takes longer and caches are colder than on the machine of the
// default prices. Assumed, of the size that calibrations and `bench latency` found on one with two
// processors: the pipeline of twelve actors takes 10 to 20 µs with one worker.
inline garrick::machine::costs virtual_machine_prices() {
  garrick::machine::costs prices;
  prices.fall_asleep = 2'000;
  prices.wake_call = 4'000;
  prices.wake_latency = 10'000;
  prices.run = 400;
  return prices;
}

// A machine whose threads share `processors` units, which are equally near.
inline garrick::machine::simulation_options on_shared_machine(std::uint32_t processors,
                                                              std::uint32_t workers,
                                                              std::string policy,
                                                              std::uint64_t seed = 1) {
  auto o = on_machine(garrick::sched::topology::flat(processors), workers, std::move(policy), seed);
  o.sharing = garrick::machine::time_sharing{};
  o.prices = virtual_machine_prices();
  o.limit_seconds = 100;
  return o;
}

// Counts the messages of a simulation; one that failed is the program's failure.
inline void add(result& to, const garrick::machine::outcome& o) {
  to.error(o.error);
  to.items += o.messages;
}

}  // namespace bench
