// What the actors of workload `savina_fibonacci` have to find.
#pragma once

#include <cstdint>

namespace bench {

constexpr std::uint64_t fibonacci(std::uint32_t n) {
  std::uint64_t last = 0;
  std::uint64_t value = 1;
  for (std::uint32_t i = 1; i < n; ++i) {
    const std::uint64_t next = last + value;
    last = value;
    value = next;
  }
  return value;
}

// Each leaf answers 1, and a binary tree has one inner node less than leaves.
constexpr std::uint64_t fibonacci_actors(std::uint32_t n) { return 2 * fibonacci(n) - 1; }

static_assert(fibonacci(25) == 75'025 && fibonacci_actors(25) == 150'049);

}  // namespace bench
