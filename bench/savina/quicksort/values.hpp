// The values to sort in workload `savina_quicksort`, and how a node divides them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/measure.hpp"
#include "common/savina.hpp"

namespace bench {

using values = std::vector<std::uint64_t>;

inline values quicksort_input(std::uint64_t count) {
  savina::random_numbers random(1024);
  values input(count);
  for (std::uint64_t& value : input) value = random.next();
  return input;
}

struct division {
  values less;
  values equal;
  values greater;
};

// Copies around the value in the middle.
inline division divide(const values& all) {
  const std::uint64_t pivot = all[all.size() / 2];
  division parts;
  for (const std::uint64_t value : all)
    (value < pivot ? parts.less : value > pivot ? parts.greater : parts.equal).push_back(value);
  return parts;
}

// The order, the number and the sum; with the default parameters also the published sum.
inline void check_quicksort(result& out, const values& found, std::uint64_t count) {
  std::uint64_t expected = 0;
  for (const std::uint64_t value : quicksort_input(count)) expected += value;
  std::uint64_t sum = 0;
  for (const std::uint64_t value : found) sum += value;
  out.items = count;
  out.expect("values", count, found.size());
  out.expect("sorted", 1, std::is_sorted(found.begin(), found.end()) ? 1 : 0);
  out.expect("sum", expected, sum);
  if (count == 1'000'000) out.expect("published sum", 32'768'134'304, sum);
}

}  // namespace bench
