// The machines of the papers, for the simulator's programs.
#pragma once

#include <garrick/testkit/machine/simulation.hpp>

#include <cstdint>

namespace bench {

// Papers 001 and 002: four packages of two memory nodes of eight cores.
inline constexpr const char* opteron = "pack:4 numa:2 l3:1 core:8 pu:1";
// Paper 000: two packages of twelve cores.
inline constexpr const char* xeon = "pack:2 numa:1 l3:1 core:12 pu:1";

inline garrick::testkit::machine::simulation_options on_machine(const char* machine, std::uint32_t workers, const char* policy,
                                                                std::uint64_t seed = 1) {
  garrick::testkit::machine::simulation_options o;
  o.machine = *garrick::sched::topology::synthetic(machine);
  o.workers = workers;
  o.policy = policy;
  o.seed = seed;
  return o;
}

}  // namespace bench
