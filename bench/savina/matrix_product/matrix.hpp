// The matrices of workload `savina_matrix_product` and the product of two of their blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "common/measure.hpp"

namespace bench {

// Square, row by row.
struct matrix {
  std::uint32_t size = 0;
  std::vector<double> cells;
};

template <class F>
matrix make_matrix(std::uint32_t size, F cell) {
  matrix m{size, std::vector<double>(std::size_t{size} * size)};
  for (std::uint32_t row = 0; row < size; ++row) {
    for (std::uint32_t column = 0; column < size; ++column)
      m.cells[std::size_t{row} * size + column] = static_cast<double>(cell(row, column));
  }
  return m;
}

// A block of the product gets one addend from a row of blocks of the first factor and a column of
// blocks of the second.
struct block_product {
  std::uint32_t row = 0;     // of the product
  std::uint32_t column = 0;  // of the product
  std::uint32_t inner = 0;   // column of the first factor, row of the second
  std::uint32_t size = 0;
};

// The eight products of half the size that make up `all`.
inline std::vector<block_product> split(const block_product& all) {
  const std::uint32_t half = all.size / 2;
  std::vector<block_product> parts;
  for (std::uint32_t i = 0; i < 8; ++i) {
    parts.push_back({all.row + (i & 1) * half, all.column + (i >> 1 & 1) * half,
                     all.inner + (i >> 2) * half, half});
  }
  return parts;
}

inline std::vector<double> multiply(const matrix& a, const matrix& b, const block_product& p) {
  std::vector<double> cells(std::size_t{p.size} * p.size);
  for (std::uint32_t row = 0; row < p.size; ++row) {
    double* const out = &cells[std::size_t{row} * p.size];
    for (std::uint32_t inner = 0; inner < p.size; ++inner) {
      const double factor = a.cells[std::size_t{p.row + row} * a.size + p.inner + inner];
      const double* const line = &b.cells[std::size_t{p.inner + inner} * b.size + p.column];
      for (std::uint32_t column = 0; column < p.size; ++column)
        out[column] += factor * line[column];
    }
  }
  return cells;
}

inline void add_block(matrix& to, const block_product& p, const std::vector<double>& cells) {
  for (std::uint32_t row = 0; row < p.size; ++row) {
    double* const out = &to.cells[std::size_t{p.row + row} * to.size + p.column];
    for (std::uint32_t column = 0; column < p.size; ++column)
      out[column] += cells[std::size_t{row} * p.size + column];
  }
}

// The factors hold their row and their column number, so each cell of the product is known. All
// sums are whole and exact.
inline void check_product(result& out, const matrix& found, std::uint32_t size) {
  std::uint64_t wrong = 0;
  for (std::uint64_t row = 0; row < found.size; ++row) {
    for (std::uint64_t column = 0; column < found.size; ++column)
      wrong += found.cells[row * found.size + column] == static_cast<double>(size * row * column)
                   ? 0
                   : 1;
  }
  out.items = std::uint64_t{size} * size;
  out.expect("size", size, found.size);
  out.expect("wrong cells", 0, wrong);
}

}  // namespace bench
