// The matrix that all systems work on, the function for each element, and the expected result: the
// sum of each row.
#pragma once

#include <cstdint>
#include <vector>

#include "common/measure.hpp"

namespace bench {

using row = std::vector<std::uint64_t>;

// A chain of multiplications, each of which needs the one before it, so that it takes the same time
// wherever it runs. Not inlined, and aligned: the same instructions for every system.
[[gnu::noinline, gnu::aligned(64)]] inline std::uint64_t worked_on(std::uint64_t x,
                                                                   std::uint64_t steps) {
  for (std::uint64_t i = 0; i < steps; ++i) x = x * 6364136223846793005ull + 1442695040888963407ull;
  return x;
}

struct matrix {
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint64_t steps;  // for an element

  explicit matrix(arguments& args)
      : rows(args.count("rows", 100)),
        columns(args.count("columns", 5000)),
        steps(args.number("steps", 1600)) {}

  [[nodiscard]] row at(std::uint64_t number) const {
    row r(columns);
    for (std::uint64_t i = 0; i < columns; ++i) r[i] = number * columns + i;
    return r;
  }
};

[[nodiscard]] inline std::uint64_t sum_of(const row& r) {
  std::uint64_t sum = 0;
  for (const std::uint64_t x : r) sum += x;
  return sum;
}

// Each row's sum, by number. `steps` applications of a function x -> a·x + b are one such function,
// found by squaring.
inline void check(result& out, const matrix& m, const std::vector<std::uint64_t>& sums) {
  out.items = m.rows * m.columns;
  std::uint64_t a = 1, b = 0;
  std::uint64_t pa = 6364136223846793005ull, pb = 1442695040888963407ull;
  for (std::uint64_t rest = m.steps; rest != 0; rest /= 2) {
    if (rest % 2 != 0) b = pa * b + pb, a = pa * a;
    pb = pa * pb + pb, pa = pa * pa;
  }
  std::uint64_t right = 0;
  for (std::uint64_t r = 0; r < sums.size(); ++r) {
    std::uint64_t before = 0;  // the sum of the row's former elements
    for (std::uint64_t i = 0; i < m.columns; ++i) before += r * m.columns + i;
    right += sums[r] == a * before + b * m.columns ? 1 : 0;
  }
  out.expect("right sums", m.rows, right);
}

}  // namespace bench
