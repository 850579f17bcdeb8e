// A unit that a thread can be bound to, a core or a hardware thread, and its place in the machine.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <vector>

namespace garrick::sched {

/// A unit, by the numbers of its core, cache, node and package. Equal numbers mean the same core,
/// cache, node or package.
struct processing_unit {
  std::int32_t os_index = 0;  ///< the system's number, for binding
  std::uint32_t core = 0;     ///< the core; its hardware threads are units
  /// the largest cache that it shares with others, within its memory node
  std::uint32_t cache = 0;
  std::uint32_t node = 0;     ///< memory (NUMA) node
  std::uint32_t package = 0;  ///< the chip in its socket
  /// the system's number of the node, for memory; -1: this is not a machine to take memory from
  std::int32_t memory = -1;
};

/// The units of a machine as they were read, not yet checked; `topology::of` checks them.
struct machine_units {
  std::vector<processing_unit> units;         ///< at least one
  std::vector<std::uint32_t> node_distances;  ///< row by row; empty: the machine does not say
};

}  // namespace garrick::sched
