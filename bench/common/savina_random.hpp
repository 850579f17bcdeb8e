// The random numbers of the Savina benchmarks: a 16-bit congruential generator, so that every system draws the same ones.
//
// Thread safety: none; each user has its own.
#pragma once

#include <cstdint>

namespace bench {

class savina_random {
 public:
  explicit savina_random(std::uint64_t seed = 74'755) : value_(seed) {}

  // 0 to 65 535.
  std::uint64_t next() { return value_ = (1309 * value_ + 13'849) & 65'535; }
  // 0 to limit - 1.
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  // Above 0, at most 1, and mostly small.
  double fraction() { return 1.0 / static_cast<double>(next() + 1); }

 private:
  std::uint64_t value_;
};

}  // namespace bench
