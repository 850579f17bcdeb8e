// The integral of workload `savina_trapezoid`, and one worker's part of it.
#pragma once

#include <cmath>
#include <cstdint>

namespace bench {

constexpr double integral_left = 1;
constexpr double integral_right = 5;

inline double integrand(double x) {
  return std::sin(x * x * x - 1) / (x + 1) * std::sqrt(1 + std::exp(std::sqrt(2 * x)));
}

// The trapezoids from `left` on, `pieces` of them, each `width` wide.
inline double trapezoids(double left, double width, std::uint64_t pieces) {
  double area = 0;
  double low = integrand(left);
  for (std::uint64_t i = 1; i <= pieces; ++i) {
    const double high = integrand(left + static_cast<double>(i) * width);
    area += (low + high) / 2 * width;
    low = high;
  }
  return area;
}

}  // namespace bench
