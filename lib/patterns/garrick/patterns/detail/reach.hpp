// How far a stencil's function may look.
//
// Private: installed because templates need it.
//
// Thread safety: stateless.
#pragma once

#include <cstddef>

namespace garrick::patterns::detail {

/// Throws std::out_of_range.
[[noreturn, gnu::cold]] void throw_beyond_radius(std::ptrdiff_t dx, std::ptrdiff_t dy,
                                                 std::size_t radius);
/// Is it at most `radius` away, to either side?
[[nodiscard]] constexpr bool is_within(std::ptrdiff_t d, std::size_t radius) noexcept {
  return static_cast<std::size_t>(d) + radius <= 2 * radius;
}

}  // namespace garrick::patterns::detail
