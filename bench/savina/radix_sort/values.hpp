// The values to sort in workload `savina_radix_sort`, and the outcome.
#pragma once

#include <cstdint>

#include "common/measure.hpp"
#include "common/savina.hpp"

namespace bench {

constexpr std::uint64_t radix_limit = std::uint64_t{1} << 60;

struct radix_outcome {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t last = 0;
  std::uint64_t out_of_order = 0;

  void add(std::uint64_t value) {
    out_of_order += value < last ? 1 : 0;
    last = value;
    ++count;
    sum += value;
  }
};

// The order and the sum; with the default parameters also the published sum.
inline void check_radix(result& out, const radix_outcome& found, std::uint64_t values) {
  savina::random_numbers random(2048);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < values; ++i) sum += random.next();
  out.items = values * 60;
  out.expect("values", values, found.count);
  out.expect("sum", sum, found.sum);
  out.expect("values out of order", 0, found.out_of_order);
  if (values == 100'000) out.expect("published sum", 3'275'789'328, found.sum);
}

}  // namespace bench
