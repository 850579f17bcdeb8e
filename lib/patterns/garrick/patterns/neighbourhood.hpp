// The parameter of a stencil's function: an element and those around it; and the rules for elements
// beyond the edges.
//
//   [](const neighbourhood<double>& n) { return (n[-1] + n[0] + n[+1]) / 3; }
//   [](const grid_neighbourhood<float>& n) { return (n(-1, 0) + n(+1, 0) + n(0, -1)) / 3; }
//
// A neighbourhood is lent for one call: it can be neither copied nor moved, and the elements cannot
// be changed.
//
// A look beyond the radius throws std::out_of_range. The check costs nothing where the compiler
// sees the number, and a comparison elsewhere.
//
// Thread safety: a neighbourhood belongs to its call.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

namespace detail {

/// Throws std::out_of_range.
[[noreturn, gnu::cold]] void throw_beyond_radius(std::ptrdiff_t dx, std::ptrdiff_t dy,
                                                 std::size_t radius);
/// Returns true if `d` is at most `radius`, to either side.
[[nodiscard]] constexpr bool is_within(std::ptrdiff_t d, std::size_t radius) noexcept {
  return static_cast<std::size_t>(d) + radius <= 2 * radius;
}

}  // namespace detail

/// An element of a container and those on both sides.
template <class T>
class neighbourhood {
 public:
  /// For the framework: looks from the element at `at`.
  neighbourhood(const T* at, std::size_t /*stride*/, std::size_t radius, std::size_t x,
                std::size_t /*y*/) noexcept
      : at_(at), radius_(radius), index_(x) {}
  neighbourhood(const neighbourhood&) = delete;
  neighbourhood& operator=(const neighbourhood&) = delete;
  ~neighbourhood() = default;

  /// Returns the element `d` behind this one, before it if `d` is negative, this one if it is 0.
  /// Throws std::out_of_range beyond the radius.
  [[nodiscard]] const T& operator[](std::ptrdiff_t d) const {
    if (!detail::is_within(d, radius_)) [[unlikely]]
      detail::throw_beyond_radius(d, 0, radius_);
    return at_[d];
  }
  /// Returns the reach to either side.
  [[nodiscard]] std::size_t radius() const noexcept { return radius_; }
  /// Returns the number of this element in the container.
  [[nodiscard]] std::size_t index() const noexcept { return index_; }

 private:
  const T* at_;
  std::size_t radius_;
  std::size_t index_;
};

/// A cell of a grid and those around it: a square.
template <class T>
class grid_neighbourhood {
 public:
  /// For the framework: looks from the element at `at`.
  grid_neighbourhood(const T* at, std::size_t stride, std::size_t radius, std::size_t x,
                     std::size_t y) noexcept
      : at_(at), stride_(static_cast<std::ptrdiff_t>(stride)), radius_(radius), x_(x), y_(y) {}
  grid_neighbourhood(const grid_neighbourhood&) = delete;
  grid_neighbourhood& operator=(const grid_neighbourhood&) = delete;
  ~grid_neighbourhood() = default;

  /// Returns the cell `dx` columns to the right and `dy` rows below; each may be negative. Throws
  /// std::out_of_range if one of them is beyond the radius.
  [[nodiscard]] const T& operator()(std::ptrdiff_t dx, std::ptrdiff_t dy) const {
    if (!detail::is_within(dx, radius_) || !detail::is_within(dy, radius_)) [[unlikely]]
      detail::throw_beyond_radius(dx, dy, radius_);
    return at_[dy * stride_ + dx];
  }
  /// Returns the reach, in columns and in rows.
  [[nodiscard]] std::size_t radius() const noexcept { return radius_; }
  /// Returns the column of this cell.
  [[nodiscard]] std::size_t x() const noexcept { return x_; }
  /// Returns the row of this cell.
  [[nodiscard]] std::size_t y() const noexcept { return y_; }

 private:
  const T* at_;
  std::ptrdiff_t stride_;
  std::size_t radius_;
  std::size_t x_;
  std::size_t y_;
};

/// The values of the elements beyond the edges of a container. They also hold if the radius is
/// larger than the container: then `wrap` goes round several times.
namespace edges {

/// For the framework: the type of `clamp`.
struct clamp_rule {};
/// For the framework: the type of `wrap`.
struct wrap_rule {};
/// For the framework: the result of `constant`.
template <class V>
struct constant_rule {
  V value;  ///< the value of the elements beyond the edges
};

/// Beyond the edge is the nearest element: the first one before the first, the last one behind the
/// last.
inline constexpr clamp_rule clamp{};
/// Beyond the edge is the container again: the last element is before the first one.
inline constexpr wrap_rule wrap{};
/// Returns the rule that each element beyond the edge has this value.
template <class V>
[[nodiscard]] constexpr constant_rule<std::decay_t<V>> constant(V&& value) {
  return {std::forward<V>(value)};
}

}  // namespace edges

}  // namespace garrick::patterns
