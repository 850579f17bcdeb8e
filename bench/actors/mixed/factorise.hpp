// The computation of workload `mixed`, the same for every system: trial division by 2, then by odd
// numbers. Not inlined, so that every system runs the same instructions.
#pragma once

#include <cstdint>
#include <vector>

namespace bench {

inline constexpr std::uint64_t first_prime = 86'028'157;
inline constexpr std::uint64_t second_prime = 329'545'133;

[[gnu::noinline]] inline std::vector<std::uint64_t> factorise(std::uint64_t n) {
  std::vector<std::uint64_t> factors;
  while (n % 2 == 0) {
    factors.push_back(2);
    n /= 2;
  }
  for (std::uint64_t d = 3; d * d <= n; d += 2) {
    while (n % d == 0) {
      factors.push_back(d);
      n /= d;
    }
  }
  if (n > 1) factors.push_back(n);
  return factors;
}

}  // namespace bench
