// The series of workloads `savina_logistic_map` and `savina_logistic_map_become`: x <- rate * x *
// (1 - x).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/measure.hpp"

namespace bench {

constexpr double series_increment = 0.0025;
constexpr double series_rate(std::uint64_t series) {
  return 3.46 + static_cast<double>(series) * series_increment;
}
constexpr double series_start(std::uint64_t series) {
  return static_cast<double>(series) * series_increment;
}
constexpr double next_term(double rate, double term) { return rate * term * (1 - term); }

// The answer of a worker, instead of its last term, if its rate computer was late once: no series
// ends there.
constexpr double late_term = std::numeric_limits<double>::infinity();

// Every series ended exactly where a loop ends; all together, with the default parameters, at the
// published sum.
inline void check_series(result& out, const std::vector<double>& found, std::uint64_t series,
                         std::uint64_t terms) {
  std::uint64_t wrong = 0;
  std::uint64_t late = 0;
  double sum = 0;
  for (std::uint64_t i = 0; i < found.size() && i < series; ++i) {
    double term = series_start(i);
    for (std::uint64_t t = 0; t < terms; ++t) term = next_term(series_rate(i), term);
    wrong += found[i] == term ? 0 : 1;
    late += found[i] == late_term ? 1 : 0;
    sum += found[i];
  }
  out.items = series * terms;
  out.expect("series", series, found.size());
  out.expect("series with a wrong last term", 0, wrong);
  out.expect("series in which a time-out ran", 0, late);
  if (series == 10 && terms == 25'000 && wrong == 0)
    out.expect("sum in millionths", 6'387'835, static_cast<std::uint64_t>(std::llround(sum * 1e6)));
}

}  // namespace bench
