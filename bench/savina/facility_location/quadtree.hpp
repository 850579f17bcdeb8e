// The geometry of workload `savina_facility_location`: a square of 500 by 500, customers, and
// facilities in the middle of quadrants.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/savina.hpp"

namespace bench {

constexpr double grid_size = 500;

// A quadrant opens its facility when its customers' distances add up to more: twice the diagonal of
// the grid.
inline double opening_cost() { return 2 * std::sqrt(2.0) * grid_size; }

struct point {
  double x = 0;
  double y = 0;
};

inline point next_customer(savina::random_numbers& random) {
  const double x = random.real() * grid_size;
  return {x, random.real() * grid_size};
}

// The distance to the nearest of them.
inline double cost(const point& customer, const std::vector<point>& facilities) {
  double least = 2 * grid_size;
  for (const point& f : facilities)
    least = std::min(least, std::hypot(f.x - customer.x, f.y - customer.y));
  return least;
}

struct box {
  double x1 = 0;
  double y1 = 0;
  double x2 = grid_size;
  double y2 = grid_size;

  [[nodiscard]] point middle() const { return {(x1 + x2) / 2, (y1 + y2) / 2}; }

  // Bit 0: the right half; bit 1: the upper half. So 3 - i lies opposite to i.
  [[nodiscard]] std::uint32_t quadrant_of(const point& p) const {
    const point m = middle();
    return (p.x > m.x ? 1U : 0U) + (p.y > m.y ? 2U : 0U);
  }
  [[nodiscard]] box quadrant(std::uint32_t index) const {
    const point m = middle();
    return {index % 2 == 0 ? x1 : m.x, index / 2 == 0 ? y1 : m.y, index % 2 == 0 ? m.x : x2,
            index / 2 == 0 ? m.y : y2};
  }
};

// The counts of a part of the tree when all customers have come.
struct tree_count {
  std::uint64_t customers = 0;
  std::uint64_t facilities = 0;  // quadrants that were divided
  std::uint64_t leaves = 0;
};

}  // namespace bench
