// A copy of a stretch of elements and of those around it, some of which lie beyond the container's
// edges. The function reads the copy as it reads the container, so it needs no test for an edge:
// neither inside, where it reads the elements in their place, nor at the edges.
//
// Private: installed because templates need it.
//
// Thread safety: `edge_rule` is a plain value; `surroundings` belongs to one thread.
#pragma once

#include <garrick/patterns/neighbourhood.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace garrick::patterns::detail {

/// The values beyond the edges of a container of T.
template <class T>
struct edge_rule {
  std::optional<T> constant{};  ///< the value beyond the edges, if they have one
  bool wraps = false;  ///< without a constant: the container again; false: the nearest element

  edge_rule(edges::clamp_rule /*rule*/) {}
  edge_rule(edges::wrap_rule /*rule*/) : wraps(true) {}
  template <class V>
    requires std::is_convertible_v<V, T>
  edge_rule(edges::constant_rule<V> rule) : constant(static_cast<T>(std::move(rule.value))) {}

  /// Replaces the place `p`, which may lie beyond the edges, by the number, below `n`, of the
  /// element whose value `p` has. Returns false if `p` has the constant. Requires that n is not 0.
  [[nodiscard]] bool resolve(std::ptrdiff_t& p, std::size_t n) const noexcept {
    const auto end = static_cast<std::ptrdiff_t>(n);
    if (p >= 0 && p < end) return true;
    if (constant) return false;
    if (wraps)
      p = (p % end + end) % end;
    else
      p = p < 0 ? 0 : end - 1;
    return true;
  }
};

/// The form of a container: rows of elements. A container without rows is a single row.
struct extent {
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t radius_x = 0;
  std::size_t radius_y = 0;  ///< 0: the rows do not see each other
};

/// Room for a stretch of elements and those around it.
template <class T>
class surroundings {
 public:
  /// Copies the elements in row `y` from column `x` to before `x + n`, and those around them.
  /// Returns the place of the first of these elements in the copy, whose rows are `stride()` apart.
  /// Throws std::bad_alloc and the exceptions of T's copy.
  [[nodiscard]] const T* around(const T* all, const extent& e, const edge_rule<T>& rule,
                                std::size_t x, std::size_t y, std::size_t n) {
    stride_ = n + 2 * e.radius_x;
    const std::size_t rows = 2 * e.radius_y + 1;
    if (stride_ * rows > room_) {
      copy_ = std::make_unique_for_overwrite<T[]>(stride_ * rows);
      room_ = stride_ * rows;
    }
    const auto left = static_cast<std::ptrdiff_t>(x) - static_cast<std::ptrdiff_t>(e.radius_x);
    const auto top = static_cast<std::ptrdiff_t>(y) - static_cast<std::ptrdiff_t>(e.radius_y);
    T* to = copy_.get();
    for (std::size_t i = 0; i < rows; ++i) {
      std::ptrdiff_t row = top + static_cast<std::ptrdiff_t>(i);
      if (!rule.resolve(row, e.height)) {
        to = std::fill_n(to, stride_, *rule.constant);
        continue;
      }
      const T* const from = all + row * static_cast<std::ptrdiff_t>(e.width);
      for (std::size_t k = 0; k < stride_; ++k) {
        std::ptrdiff_t column = left + static_cast<std::ptrdiff_t>(k);
        *to++ = rule.resolve(column, e.width) ? from[column] : *rule.constant;
      }
    }
    return copy_.get() + e.radius_y * stride_ + e.radius_x;
  }
  [[nodiscard]] std::size_t stride() const noexcept { return stride_; }

 private:
  std::unique_ptr<T[]> copy_;
  std::size_t room_ = 0;
  std::size_t stride_ = 0;
};

}  // namespace garrick::patterns::detail
