// Cells in rows: the container of a two-dimensional stencil.
//
//   grid<float> plate(2000, 1000);      // 2000 cells wide, 1000 high
//   plate(10, 20) = 37.5F;              // column 10, row 20
//   for (float& cell : plate) cell += 1;
//
// The cells are contiguous, row after row. A grid may be sent if its cells may.
//
// Thread safety: as a std::vector.
#pragma once

#include <garrick/garrick.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

namespace detail {
template <class C>
struct another;
}  // namespace detail

/// `width` times `height` cells. T is default-constructible. A grid that was moved from is empty.
template <class T>
class grid {
 public:
  using value_type = T;                      ///< a cell
  using garrick_parts = base::type_list<T>;  ///< the contents that it owns

  /// Makes a grid without cells.
  grid() noexcept = default;
  /// Makes a grid whose cells are all `value`. Throws std::bad_array_new_length if there are too
  /// many cells, std::bad_alloc, and the exceptions of T.
  grid(std::size_t width, std::size_t height, const T& value = T())
      : grid(width, height, uninitialised()) {
    std::fill(begin(), end(), value);
  }
  grid(const grid& o)
    requires std::copyable<T>
      : grid(o.width_, o.height_, uninitialised()) {
    std::copy(o.begin(), o.end(), begin());
  }
  grid(grid&& o) noexcept
      : width_(std::exchange(o.width_, 0)),
        height_(std::exchange(o.height_, 0)),
        cells_(std::move(o.cells_)) {}
  /// Takes the cells of `o`, which is a copy or the moved grid.
  grid& operator=(grid o) noexcept {
    std::swap(width_, o.width_);
    std::swap(height_, o.height_);
    std::swap(cells_, o.cells_);
    return *this;
  }
  ~grid() = default;

  /// Returns the number of cells in a row.
  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  /// Returns the number of rows.
  [[nodiscard]] std::size_t height() const noexcept { return height_; }
  /// Returns the number of cells.
  [[nodiscard]] std::size_t size() const noexcept { return width_ * height_; }
  /// Returns true if there is no cell.
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  /// Returns the cell in column `x` of row `y`. Requires that it exists: nothing is checked.
  [[nodiscard]] T& operator()(std::size_t x, std::size_t y) noexcept {
    return cells_[y * width_ + x];
  }
  /// Returns the same cell, read-only.
  [[nodiscard]] const T& operator()(std::size_t x, std::size_t y) const noexcept {
    return cells_[y * width_ + x];
  }
  /// Returns cell number `i`, counted row after row, for `map` and its like.
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return cells_[i]; }
  /// Returns the same cell, read-only.
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return cells_[i]; }
  /// Returns row `y`. Requires that it exists.
  [[nodiscard]] std::span<T> row(std::size_t y) noexcept { return {data() + y * width_, width_}; }
  /// Returns the same row, read-only.
  [[nodiscard]] std::span<const T> row(std::size_t y) const noexcept {
    return {data() + y * width_, width_};
  }
  /// Returns the place of the first cell of the first row; the others follow.
  [[nodiscard]] T* data() noexcept { return cells_.get(); }
  /// Returns the same place, read-only.
  [[nodiscard]] const T* data() const noexcept { return cells_.get(); }
  /// Returns the place of the first cell, for a loop over all.
  [[nodiscard]] T* begin() noexcept { return data(); }
  /// Returns the place behind the last cell.
  [[nodiscard]] T* end() noexcept { return data() + size(); }
  /// Returns the place of the first cell, for a loop that only reads.
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  /// Returns the place behind the last cell.
  [[nodiscard]] const T* end() const noexcept { return data() + size(); }

  /// Returns true if width, height and all cells are equal.
  [[nodiscard]] friend bool operator==(const grid& a, const grid& b)
    requires std::equality_comparable<T>
  {
    return a.width_ == b.width_ && a.height_ == b.height_ &&
           std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  friend struct detail::another<grid>;
  struct uninitialised {};

  /// Leaves numbers unset, which takes no time.
  grid(std::size_t width, std::size_t height, uninitialised)
      : width_(width),
        height_(height),
        cells_(std::make_unique_for_overwrite<T[]>(product(width, height))) {}
  static std::size_t product(std::size_t width, std::size_t height) {
    if (height != 0 && width > std::numeric_limits<std::size_t>::max() / height)
      throw std::bad_array_new_length();
    return width * height;
  }

  std::size_t width_ = 0;
  std::size_t height_ = 0;
  std::unique_ptr<T[]> cells_;
};

}  // namespace garrick::patterns
