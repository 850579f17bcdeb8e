// Heat spreads on a plate: each cell of a grid of floats is computed from itself and the four
// around it, a number of times; beyond the edges is the nearest cell. All programs compute the same
// expression in the same order, so their plates are equal to the last bit, and each is compared
// with that of a plain loop when the clock has stopped. C++17 and the standard library only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/measure.hpp"

namespace bench {

inline float cell(float here, float left, float right, float above, float below) {
  return here + 0.2F * (left + right + above + below - 4 * here);
}

inline float first_cell(std::size_t i) { return static_cast<float>(i * 2654435761U % 1000); }

struct plate {
  std::size_t width, height;
  std::vector<float> cells;
};

// Rows from `first` on, without `end`, of the next plate.
inline void spread_rows(const plate& from, plate& to, std::size_t first, std::size_t end) {
  const std::size_t w = from.width;
  for (std::size_t y = first; y < end; ++y) {
    const float* const here = from.cells.data() + y * w;
    const float* const above = y == 0 ? here : here - w;
    const float* const below = y + 1 == from.height ? here : here + w;
    float* const out = to.cells.data() + y * w;
    out[0] = cell(here[0], here[0], here[w > 1 ? 1 : 0], above[0], below[0]);
    for (std::size_t x = 1; x + 1 < w; ++x)
      out[x] = cell(here[x], here[x - 1], here[x + 1], above[x], below[x]);
    if (w > 1) out[w - 1] = cell(here[w - 1], here[w - 2], here[w - 1], above[w - 1], below[w - 1]);
  }
}

// The parameters of the job, and the check of its result.
class heat {
 public:
  explicit heat(arguments& args)
      : width_(args.count("width", 2000)),
        height_(args.count("height", 2000)),
        iterations_(args.count("iterations", 100)) {}

  std::size_t width() const { return width_; }
  std::size_t height() const { return height_; }
  std::size_t iterations() const { return iterations_; }
  plate first() const {
    plate p{width_, height_, std::vector<float>(width_ * height_)};
    for (std::size_t i = 0; i < p.cells.size(); ++i) p.cells[i] = first_cell(i);
    return p;
  }
  // By a plain loop.
  plate last() const {
    plate now = first(), next = now;
    for (std::size_t i = 0; i < iterations_; ++i) {
      spread_rows(now, next, 0, height_);
      std::swap(now, next);
    }
    return now;
  }
  void check(result& out, double seconds, const float* found) const {
    const plate wanted = last();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < wanted.cells.size(); ++i) wrong += found[i] != wanted.cells[i];
    out.expect("wrong cells", 0, wrong);
    out.seconds = seconds;
    out.items = width_ * height_ * iterations_;
  }

 private:
  std::size_t width_, height_, iterations_;
};

}  // namespace bench
