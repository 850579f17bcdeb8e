// The length of a torture test: GARRICK_TORTURE=100 makes it a hundred times longer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "support/in_child.hpp"

namespace garrick::tests {

/// `few` rounds, times the environment variable GARRICK_TORTURE; a tenth under a sanitizer.
inline std::uint32_t rounds(std::uint32_t few) {
  const char* const factor = std::getenv("GARRICK_TORTURE");
  const int times = factor == nullptr ? 1 : std::max(1, std::atoi(factor));
  return (HAS_SANITIZER ? few / 10 + 1 : few) * static_cast<std::uint32_t>(times);
}

}  // namespace garrick::tests
