// Errors about invalid settings: name, value and range. The name is the setting's key in a
// configuration, `net.<layer>_<field>`, also for settings that only code can set.
//
// Thread safety: plain functions.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/values/error.hpp"

namespace garrick::net::internal {

/// Returns `errc::invalid_setting` for the setting of this path: the path `slicing.largest` stands
/// for the setting `net.slicing_largest`.
[[nodiscard]] inline base::error invalid(std::string_view path, std::string_view why) {
  std::string key = "net.";
  for (const char c : path) key += c == '.' ? '_' : c;
  return base::make_error(base::errc::invalid_setting, key, why);
}

/// Returns no error if `value` lies between `low` and `high` or is one of them.
[[nodiscard]] inline base::error check_range(
    std::string_view name, std::uint64_t value, std::uint64_t low,
    std::uint64_t high = std::numeric_limits<std::uint64_t>::max()) {
  if (value >= low && value <= high) return {};
  std::string why = std::to_string(value) + " is " + (value < low ? "below " : "above ") +
                    std::to_string(value < low ? low : high);
  return invalid(name, why);
}

/// Returns no error if `value` is not below `low`.
[[nodiscard]] inline base::error check_at_least(std::string_view name, base::duration value,
                                                base::duration low) {
  if (value >= low) return {};
  return invalid(
      name, std::to_string(value.count()) + " ns is below " + std::to_string(low.count()) + " ns");
}

/// Returns no error if `value` is above zero.
[[nodiscard]] inline base::error check_positive(std::string_view name, base::duration value) {
  if (value > base::duration()) return {};
  return invalid(name, "a time above zero is needed");
}

}  // namespace garrick::net::internal
