// SipHash-2-4: a hash under a secret key. Without the key the hash of a message cannot be found,
// even if many other messages and their hashes are known.
//
// Two ends prove by it that they share a key, and a listener that it has given out a number itself.
//
// Thread safety: plain functions and values.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "garrick/net/little_endian.hpp"

namespace garrick::net {

/// A secret key of 128 bits.
struct siphash_key {
  std::uint64_t low = 0;   ///< its first eight bytes, the lowest first
  std::uint64_t high = 0;  ///< the others

  friend bool operator==(const siphash_key&, const siphash_key&) = default;
};

/// The state of SipHash-2-4, to which a message is given in words of 64 bits.
class siphash_state {
 public:
  /// Begins a message.
  explicit constexpr siphash_state(const siphash_key& key) noexcept
      : v_{key.low ^ 0x736f6d6570736575u, key.high ^ 0x646f72616e646f6du,
           key.low ^ 0x6c7967656e657261u, key.high ^ 0x7465646279746573u} {}

  /// Adds the next eight bytes.
  constexpr void add(std::uint64_t word) noexcept {
    v_[3] ^= word;
    turn(2);
    v_[0] ^= word;
  }
  /// Returns the hash. The last bytes, less than eight, are the low ones of `rest`.
  [[nodiscard]] constexpr std::uint64_t end(std::uint64_t rest, std::size_t size) noexcept {
    add(rest | std::uint64_t{size} << 56);
    v_[2] ^= 0xff;
    turn(4);
    return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
  }

 private:
  constexpr void turn(int times) noexcept {
    for (int i = 0; i != times; ++i) {
      v_[0] += v_[1];
      v_[2] += v_[3];
      v_[1] = std::rotl(v_[1], 13) ^ v_[0];
      v_[3] = std::rotl(v_[3], 16) ^ v_[2];
      v_[0] = std::rotl(v_[0], 32);
      v_[2] += v_[1];
      v_[0] += v_[3];
      v_[1] = std::rotl(v_[1], 17) ^ v_[2];
      v_[3] = std::rotl(v_[3], 21) ^ v_[0];
      v_[2] = std::rotl(v_[2], 32);
    }
  }
  std::array<std::uint64_t, 4> v_;
};

/// Returns the hash of some bytes.
[[nodiscard]] inline std::uint64_t siphash(const siphash_key& key,
                                           std::span<const std::byte> bytes) noexcept {
  siphash_state state(key);
  const std::size_t size = bytes.size();
  for (; bytes.size() >= 8; bytes = bytes.subspan(8))
    state.add(load_le<std::uint64_t>(bytes.data()));
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i != bytes.size(); ++i)
    rest |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return state.end(rest, size);
}

/// Returns the hash of these numbers, eight bytes each, the lowest first.
[[nodiscard]] constexpr std::uint64_t siphash(
    const siphash_key& key, std::initializer_list<std::uint64_t> numbers) noexcept {
  siphash_state state(key);
  for (const std::uint64_t number : numbers) state.add(number);
  return state.end(0, 8 * numbers.size());
}

}  // namespace garrick::net
