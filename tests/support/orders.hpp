// The number of orders in which a test explores a test system.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>

#include <algorithm>
#include <cstdint>

namespace garrick::tests {

/// Returns `n`; under the thread sanitizer a tenth, at least 2: a test system has one thread, where
/// there is nothing to find.
[[nodiscard]] constexpr std::uint64_t orders(std::uint64_t n) noexcept {
  return GARRICK_TSAN ? std::max<std::uint64_t>(n / 10, 2) : n;
}

}  // namespace garrick::tests
