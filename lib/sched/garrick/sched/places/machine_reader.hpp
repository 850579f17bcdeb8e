// Reads a machine, for topology: the one file that uses hwloc. The minimal build has no hwloc, and
// there both functions return an error that says so.
//
// Thread safety: any thread.
#pragma once

#include <garrick/base/values/result.hpp>
#include <garrick/sched/places/processing_unit.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace garrick::sched {

/// Returns this machine's units among `usable`, or all of them if `usable` is empty. Takes
/// milliseconds.
///
/// Error `invalid_setting`: the reason why the machine cannot be read.
[[nodiscard]] base::result<machine_units> read_machine(std::span<const std::int32_t> usable);

/// Returns the units of a machine that does not exist; see `topology::synthetic`.
///
/// Error `invalid_setting`: the description is wrong, or has more than 1024 units.
[[nodiscard]] base::result<machine_units> read_synthetic(const std::string& description);

}  // namespace garrick::sched
