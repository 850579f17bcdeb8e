// The rules of workload `savina_n_queens`: queens stand one in each row, `columns[row]` says where.
#pragma once

#include <cstdint>
#include <vector>

#include "common/measure.hpp"

namespace bench {

using queens = std::vector<std::uint8_t>;

// Returns true if the queen in the last row is safe from those before it.
inline bool last_is_safe(const queens& columns) {
  const std::size_t last = columns.size() - 1;
  for (std::size_t row = 0; row < last; ++row) {
    const int distance = static_cast<int>(last - row);
    const int across = columns[last] - columns[row];
    if (across == 0 || across == distance || across == -distance) return false;
  }
  return true;
}

// In how many ways the remaining rows can be filled. `columns` is as before when it returns.
inline std::uint64_t count_placements(queens& columns, std::uint8_t size) {
  if (columns.size() == size) return 1;
  std::uint64_t count = 0;
  for (std::uint8_t column = 0; column < size; ++column) {
    columns.push_back(column);
    if (last_is_safe(columns)) count += count_placements(columns, size);
    columns.pop_back();
  }
  return count;
}

// Sizes up to 16, as published (OEIS A000170).
inline void check_queens(result& out, std::uint64_t size, std::uint64_t found) {
  constexpr std::uint64_t known[] = {
      1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14'200, 73'712, 365'596, 2'279'184, 14'772'512};
  out.items = found;
  if (size >= sizeof known / sizeof known[0])
    out.expect("known size", 16, size);
  else
    out.expect("placements", known[size], found);
}

}  // namespace bench
