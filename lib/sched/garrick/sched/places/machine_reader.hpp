// Reads a machine, for topology: the one place that knows hwloc. In the minimal build there is
// none, and both functions say so.
#pragma once

#include <garrick/base/values/result.hpp>
#include <garrick/sched/places/processing_unit.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace garrick::sched {

/// This machine's units among `usable`. Error: why it cannot be read.
[[nodiscard]] base::result<machine_units> read_machine(std::span<const std::int32_t> usable);

/// A synthetic machine. Error `config_invalid`: the description is wrong, or of more than 1024
/// units.
[[nodiscard]] base::result<machine_units> read_synthetic(const std::string& description);

}  // namespace garrick::sched
