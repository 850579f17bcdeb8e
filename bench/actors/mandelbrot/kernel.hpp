// The computation of workload `mandelbrot`, the same for every system: one row of the picture,
// eight pixels to a byte. Not inlined, so that every system runs the same instructions.
#pragma once

#include <cstdint>
#include <vector>

namespace bench {

struct picture {
  std::uint32_t size;   // pixels a side
  std::uint32_t limit;  // iterations
};

using row_bits = std::vector<std::uint8_t>;

// Area [-1.5 - i, 0.5 + i]; a pixel is set if |z| stays within 2 for all iterations.
[[gnu::noinline]] inline row_bits mandelbrot_row(const picture& p, std::uint32_t y) {
  row_bits bits((p.size + 7) / 8, 0);
  const double step = 2.0 / p.size;
  const double ci = y * step - 1.0;
  for (std::uint32_t x = 0; x < p.size; ++x) {
    const double cr = x * step - 1.5;
    double zr = 0;
    double zi = 0;
    double rr = 0;
    double ii = 0;
    std::uint32_t i = 0;
    while (i < p.limit && rr + ii <= 4.0) {
      zi = 2 * zr * zi + ci;
      zr = rr - ii + cr;
      rr = zr * zr;
      ii = zi * zi;
      ++i;
    }
    if (rr + ii <= 4.0) bits[x / 8] = static_cast<std::uint8_t>(bits[x / 8] | (0x80U >> (x % 8)));
  }
  return bits;
}

// FNV-1a over all rows in order.
inline std::uint64_t hash_rows(const std::vector<row_bits>& rows) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const row_bits& row : rows) {
    for (const std::uint8_t byte : row) hash = (hash ^ byte) * 0x100000001b3;
  }
  return hash;
}

}  // namespace bench
