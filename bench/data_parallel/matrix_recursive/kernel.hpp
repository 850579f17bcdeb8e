// The matrices of workload `matrix_recursive`, and the product that all systems share: that of a
// row of tiles and a column of tiles. Not inlined, so that every system runs the same instructions.
// C++17 and the standard library only, for the peers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/measure.hpp"
#include "streams/common/random.hpp"

namespace bench {

// This many rows, and columns, are not divided further.
inline constexpr std::size_t tile_side = 128;

// A square part of a matrix, row by row, and where it is: its row and column of tiles.
struct tile {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  std::array<double, tile_side * tile_side> cells{};
};
using tiles = std::vector<tile>;

// The factors: square matrices of side * side tiles. The tiles of a row of `a` are contiguous, and
// those of a column of `b`, so that a part of the product needs one piece of each.
struct factors {
  std::size_t side;
  tiles a;
  tiles b;
};

// c = a[0] * b[0] + a[1] * b[1] + …, `n` products.
[[gnu::noinline, gnu::aligned(64)]] inline void multiply(tile& c, const tile* a, const tile* b,
                                                         std::size_t n) {
  c.cells.fill(0);
  for (std::size_t t = 0; t < n; ++t) {
    for (std::size_t row = 0; row < tile_side; ++row) {
      double* const to = &c.cells[row * tile_side];
      const double* const left = &a[t].cells[row * tile_side];
      for (std::size_t inner = 0; inner < tile_side; inner += 4) {
        const double x0 = left[inner], x1 = left[inner + 1];
        const double x2 = left[inner + 2], x3 = left[inner + 3];
        const double* const y = &b[t].cells[inner * tile_side];
        for (std::size_t column = 0; column < tile_side; ++column) {
          to[column] += x0 * y[column] + x1 * y[column + tile_side] +
                        x2 * y[column + 2 * tile_side] + x3 * y[column + 3 * tile_side];
        }
      }
    }
  }
}

// The tile of the product that `c` says it is.
inline void multiply(tile& c, const factors& f) {
  multiply(c, &f.a[c.row * f.side], &f.b[c.column * f.side], f.side);
}

// The tiles of a product, to be filled in, so that each quarter, each quarter of a quarter and so
// on is one piece: upper left, upper right, lower left, lower right.
inline tiles empty_product(std::size_t side) {
  tiles all(side * side);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::uint32_t bit = 0; (std::size_t{1} << 2 * bit) < all.size(); ++bit) {
      all[i].column |= (i >> 2 * bit & 1) << bit;
      all[i].row |= (i >> (2 * bit + 1) & 1) << bit;
    }
  }
  return all;
}

// Matrices of small whole numbers, so that every sum is exact. `size` is a power of two, and at
// least that of a tile.
inline factors matrix_input(std::uint64_t size) {
  if (size < tile_side || (size & (size - 1)) != 0)
    arguments::fail("--size is a power of two from " + std::to_string(tile_side));
  const std::size_t side = size / tile_side;
  factors f{side, tiles(side * side), tiles(side * side)};
  random_stream random(1024);
  for (tiles* all : {&f.a, &f.b}) {
    for (tile& t : *all)
      for (double& cell : t.cells) cell = static_cast<double>(random.below(16));
  }
  for (std::uint32_t i = 0; i < side * side; ++i) {
    const auto n = static_cast<std::uint32_t>(side);
    f.a[i].row = f.b[i].column = i / n;
    f.a[i].column = f.b[i].row = i % n;
  }
  return f;
}

// A matrix times a vector.
inline std::vector<double> times(const tiles& all, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (const tile& t : all) {
    for (std::size_t i = 0; i < t.cells.size(); ++i)
      y[t.row * tile_side + i / tile_side] += t.cells[i] * x[t.column * tile_side + i % tile_side];
  }
  return y;
}

// Freivalds' check: the product times a vector of random numbers equals the factors applied to that
// vector, one after the other.
inline void check_product(result& out, const factors& f, const tiles& product) {
  random_stream random(2048);
  std::vector<double> x(f.side * tile_side);
  for (double& number : x) number = static_cast<double>(random.below(1000));
  const std::vector<double> expected = times(f.a, times(f.b, x));
  const std::vector<double> found = times(product, x);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) wrong += found[i] == expected[i] ? 0 : 1;
  out.items = x.size() * x.size();
  out.expect("tiles", f.side * f.side, product.size());
  out.expect("wrong rows", 0, wrong);
}

}  // namespace bench
