// Random numbers that are the same everywhere, from a seed: the standard's distributions are not.
#pragma once

#include <cstdint>

namespace bench {

class random_stream {
 public:
  explicit random_stream(std::uint64_t seed) : state_(seed) {}

  // SplitMix64
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  // In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace bench
