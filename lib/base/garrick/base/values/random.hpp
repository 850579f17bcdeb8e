// Random numbers determined by a seed: for jitter and tests. Not for secrets.
//
// The generator is xoshiro256** (Blackman and Vigna), seeded through splitmix64: 32 bytes, about a
// nanosecond a number.
//
// Thread safety: none; each owner has its own.
#pragma once

#include <bit>
#include <cstdint>

namespace garrick::base {

/// Makes a step of splitmix64: advances `state` and returns a well mixed number. Good for making
/// many seeds from one.
[[nodiscard]] constexpr std::uint64_t splitmix64(std::uint64_t& state) noexcept {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// A generator of random numbers determined by its seed.
///
///     random_source random(17);
///     const std::uint32_t die = 1 + random.below(6);
///
/// Satisfies std::uniform_random_bit_generator. Copies continue with the same numbers.
class random_source {
 public:
  using result_type = std::uint64_t;  ///< for std::uniform_random_bit_generator

  /// Equal seeds give equal sequences; every seed is good.
  constexpr explicit random_source(std::uint64_t seed) noexcept {
    for (std::uint64_t& word : state_) word = splitmix64(seed);
  }

  constexpr std::uint64_t operator()() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Returns a number below `limit`; 0 if `limit` is 0. The probabilities of two numbers differ by
  /// at most 2^-32.
  [[nodiscard]] constexpr std::uint32_t below(std::uint32_t limit) noexcept {
    return static_cast<std::uint32_t>(((*this)() >> 32) * limit >> 32);
  }

  /// Returns a number in [0, 1).
  [[nodiscard]] constexpr double unit() noexcept {
    return static_cast<double>((*this)() >> 11) * 0x1.0p-53;
  }

  /// Returns a new generator seeded by this one's next number: for a part that draws an unknown
  /// count of numbers and must not disturb this one's sequence.
  [[nodiscard]] constexpr random_source split() noexcept { return random_source((*this)()); }

  /// Returns 0: all 64 bits are random.
  [[nodiscard]] static constexpr std::uint64_t min() noexcept { return 0; }
  /// Returns the greatest number.
  [[nodiscard]] static constexpr std::uint64_t max() noexcept { return ~std::uint64_t{0}; }

 private:
  std::uint64_t state_[4]{};
};

}  // namespace garrick::base
