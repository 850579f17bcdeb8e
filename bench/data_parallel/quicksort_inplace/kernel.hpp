// The values to sort in workload `quicksort_inplace`, and the two steps that all systems share: how
// a range is divided, and how a small one is sorted. Not inlined, so that every system runs the
// same instructions. C++17 and the standard library only, for the peers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/measure.hpp"
#include "streams/common/random.hpp"

namespace bench {

using value = std::uint64_t;
using values = std::vector<value>;

// Ranges with fewer values are sorted at once.
inline constexpr std::uint32_t default_cutoff = 2000;

// Exchanges values so that none of the first `k` is greater than any of the others, and returns k,
// which is neither 0 nor n. (Hoare's, around the median of three; values that equal the pivot go to
// both sides, so many alike do no harm.) Requires n > 1.
[[gnu::noinline, gnu::aligned(64)]] inline std::size_t divide(value* all, std::size_t n) {
  value& middle = all[(n - 1) / 2];
  if (all[n - 1] < all[0]) std::swap(all[n - 1], all[0]);
  if (middle < all[0]) std::swap(middle, all[0]);
  if (all[n - 1] < middle) std::swap(all[n - 1], middle);
  const value pivot = middle;
  for (value *i = all, *j = all + n - 1;;) {
    while (*i < pivot) ++i;
    while (pivot < *j) --j;
    if (i >= j) return static_cast<std::size_t>(j - all) + 1;
    std::swap(*i++, *j--);
  }
}

[[gnu::noinline, gnu::aligned(64)]] inline void sort_few(value* few, std::size_t n) {
  std::sort(few, few + n);
}

inline values quicksort_input(std::uint64_t count) {
  random_stream random(1024);
  values all(count);
  for (value& v : all) v = random.next();
  return all;
}

// In order, and the same values: as many, the same sum, and the same sum of a function of each.
inline void check_quicksort(result& out, const values& found, std::uint64_t count) {
  const auto mixed = [](value v) { return (v ^ (v >> 31)) * 0x94d049bb133111ebull; };
  value expected = 0, expected_mix = 0, sum = 0, mix = 0;
  random_stream random(1024);
  for (std::uint64_t i = 0; i < count; ++i) {
    const value v = random.next();
    expected += v, expected_mix += mixed(v);
  }
  for (const value v : found) sum += v, mix += mixed(v);
  out.items = count;
  out.expect("values", count, found.size());
  out.expect("sorted", 1, std::is_sorted(found.begin(), found.end()) ? 1 : 0);
  out.expect("sum", expected, sum);
  out.expect("sum of the mixed values", expected_mix, mix);
}

}  // namespace bench
