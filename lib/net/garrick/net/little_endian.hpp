// Numbers as bytes, the lowest first: the order of all numbers on the wire.
//
// Thread safety: plain functions.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace garrick::net {

namespace detail {
/// Returns `x`, with its bytes reversed if this machine stores the highest first.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T swapped_if_needed(T x) noexcept {
  if constexpr (std::endian::native == std::endian::little || sizeof(T) == 1) {
    return x;
  } else {
    T out = 0;
    for (std::size_t i = 0; i != sizeof(T); ++i, x = static_cast<T>(x >> 8))
      out = static_cast<T>(out << 8 | (x & 0xff));
    return out;
  }
}
}  // namespace detail

/// Writes `x` to the sizeof(T) bytes at `to`, at any address.
template <std::unsigned_integral T>
inline void store_le(std::byte* to, T x) noexcept {
  x = detail::swapped_if_needed(x);
  std::memcpy(to, &x, sizeof(T));
}

/// Returns the number that `store_le` wrote to `from`, at any address.
///
///     std::array<std::byte, 4> bytes{};
///     store_le(bytes.data(), std::uint32_t{7});
///     const auto seven = load_le<std::uint32_t>(bytes.data());
template <std::unsigned_integral T>
[[nodiscard]] inline T load_le(const std::byte* from) noexcept {
  T x;
  std::memcpy(&x, from, sizeof(T));
  return detail::swapped_if_needed(x);
}

}  // namespace garrick::net
