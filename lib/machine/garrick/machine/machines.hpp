// The machines on which the papers measured (docs/papers.md), for simulations.
//
// Thread safety: pure functions.
#pragma once

#include <garrick/sched/places/topology.hpp>

#include <cstdint>

namespace garrick::machine {

/// Returns the machine of papers 001 and 002 (docs/papers.md): four packages of two memory nodes of
/// eight cores.
///
/// `cores`, 1 to 64, are switched on in the order of paper 002 §4: first the cores of four nodes,
/// one node after the other in turn, then those of the other four nodes. The paper does not say
/// which four nodes are first; here it is one node of each package.
[[nodiscard]] sched::topology opteron(std::uint32_t cores = 64);

/// Returns the machine of paper 000: two packages of twelve cores.
[[nodiscard]] sched::topology xeon();

/// Returns the machine of paper 002, figures 1 and 2: four packages in a ring, with two cores each.
/// The distance is the number of hops. Core n of the paper is unit n − 1.
[[nodiscard]] sched::topology ring_of_paper_002();

}  // namespace garrick::machine
