// Several small things measured in turns: each round measures all of them once, so that the
// machine's other work meets all alike. The figure of a thing is its median over the rounds.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/measure.hpp"

namespace bench {

// Nanoseconds of one run of `f`.
template <class F>
double nanoseconds_of(F&& f) {
  const std::int64_t start = now_ns();
  f();
  return static_cast<double>(now_ns() - start);
}

inline double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples.empty() ? 0 : samples[samples.size() / 2];
}

// The median, over the rounds, of the difference `more` - `less`.
inline double median_difference(const std::vector<double>& more, const std::vector<double>& less) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < more.size(); ++i) differences.push_back(more[i] - less[i]);
  return median(std::move(differences));
}

// Payload sizes of the paper's figures: 128 to 8192 bytes, in powers of two.
inline std::vector<std::size_t> payload_sizes() { return {128, 256, 512, 1024, 2048, 4096, 8192}; }

}  // namespace bench
