// Reads a machine, for topology: the one place that knows hwloc. In the minimal build there is
// none, and both functions say so.
#pragma once

#include <garrick/base/values/result.hpp>
#include <garrick/sched/places/topology.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace garrick::sched {

struct machine {
  std::vector<processing_unit> units;
  std::vector<std::uint32_t> node_distances;  ///< row by row; empty: the machine does not say
};

/// This machine's units among `usable`. Error: why it cannot be read.
[[nodiscard]] base::result<machine> read_machine(std::span<const std::int32_t> usable);

/// A synthetic machine. Error `config_invalid`: the description is wrong, or of more than 1024
/// units.
[[nodiscard]] base::result<machine> read_synthetic(const std::string& description);

}  // namespace garrick::sched
