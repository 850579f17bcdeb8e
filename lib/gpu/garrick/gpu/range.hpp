// The number of a kernel's work items, in one to three dimensions.
//
//   nd_range(4096)                                   one dimension
//   nd_range(1920, 1080).groups_of(16, 4)            two, in groups
//   nd_range(100).from(50)                           ids 50 to 149
//   nd_range::per_element()                          one for each element of the first container
//
// Thread safety: a value.
#pragma once

#include <garrick/base/values/error.hpp>

#include <array>
#include <cstddef>
#include <string>

namespace garrick::gpu {

/// A kernel's work items, with their groups and their ids. The actor checks the range for each
/// request: a range without items, with groups that do not divide it, with an offset in a dimension
/// that it does not have, or with groups larger than the device can run gives the error
/// `gpu_errc::bad_range`.
class nd_range {
 public:
  using garrick_sendable = void;
  using extent = std::array<std::size_t, 3>;  ///< a number for each dimension

  /// Makes a row of items.
  explicit constexpr nd_range(std::size_t x) noexcept : dimensions_(1), global_{x, 1, 1} {}
  /// Makes a plane of items.
  constexpr nd_range(std::size_t x, std::size_t y) noexcept : dimensions_(2), global_{x, y, 1} {}
  /// Makes a block of items.
  constexpr nd_range(std::size_t x, std::size_t y, std::size_t z) noexcept
      : dimensions_(3), global_{x, y, z} {}
  /// Returns a range with one item for each element of the request's first container.
  [[nodiscard]] static constexpr nd_range per_element() noexcept {
    nd_range r(0);
    r.dimensions_ = 0;
    return r;
  }

  /// Returns a copy in groups of this size. If a range has no groups, the driver chooses the size.
  [[nodiscard]] constexpr nd_range groups_of(std::size_t x, std::size_t y = 1,
                                             std::size_t z = 1) const noexcept {
    nd_range r = *this;
    r.local_ = {x, y, z};
    return r;
  }
  /// Returns a copy with ids that begin at these numbers.
  [[nodiscard]] constexpr nd_range from(std::size_t x, std::size_t y = 0,
                                        std::size_t z = 0) const noexcept {
    nd_range r = *this;
    r.offset_ = {x, y, z};
    return r;
  }

  /// Returns the number of dimensions, 1 to 3; 0 for a `per_element` that is not yet resolved.
  [[nodiscard]] constexpr unsigned dimensions() const noexcept { return dimensions_; }
  /// Returns the items in each dimension; 1 in a missing dimension.
  [[nodiscard]] constexpr const extent& global() const noexcept { return global_; }
  /// Returns the items of a group in each dimension; all 0: the driver chooses.
  [[nodiscard]] constexpr const extent& local() const noexcept { return local_; }
  /// Returns the first id in each dimension.
  [[nodiscard]] constexpr const extent& offset() const noexcept { return offset_; }
  /// Returns true if the size of a group was given.
  [[nodiscard]] constexpr bool has_groups() const noexcept { return local_ != extent{}; }
  /// Returns the number of all work items.
  [[nodiscard]] constexpr std::size_t items() const noexcept {
    return global_[0] * global_[1] * global_[2];
  }
  /// Returns the number of ids, those before the offset included.
  [[nodiscard]] constexpr std::size_t index_space() const noexcept {
    return (global_[0] + offset_[0]) * (global_[1] + offset_[1]) * (global_[2] + offset_[2]);
  }
  /// Returns the number of items of one group; 1 if the driver chooses.
  [[nodiscard]] constexpr std::size_t group_items() const noexcept {
    return has_groups() ? local_[0] * local_[1] * local_[2] : 1;
  }

  /// Returns the range of a `per_element` for this number of elements; any other range is returned
  /// unchanged.
  [[nodiscard]] constexpr nd_range resolved(std::size_t elements) const noexcept {
    if (dimensions_ != 0) return *this;
    nd_range r = *this;
    r.dimensions_ = 1;
    r.global_ = {elements, 1, 1};
    return r;
  }

  /// Returns a description of the range's fault on a device with at most this many items in a
  /// group; empty if there is none.
  [[nodiscard]] std::string trouble(std::size_t most_group_items) const;
  /// Returns "1920 x 1080 in groups of 16 x 4 from 0 x 0", for example.
  [[nodiscard]] std::string to_string() const;

 private:
  unsigned dimensions_ = 1;
  extent global_{1, 1, 1};
  extent local_{};
  extent offset_{};
};

}  // namespace garrick::gpu
