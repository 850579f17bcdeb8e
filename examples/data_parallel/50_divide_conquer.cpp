// Divide and conquer: all workers sort a container in place, part by part.
#include <garrick/patterns/patterns.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;

// [functions]
// Divides around a pivot. Elements equal to the pivot are in their final place, and in no part.
void divide(std::span<std::uint32_t> all, parts& out) {
  const std::uint32_t pivot = all[all.size() / 2];
  const auto equal = std::partition(all.begin(), all.end(), [=](auto x) { return x < pivot; });
  const auto above = std::partition(equal, all.end(), [=](auto x) { return x == pivot; });
  out.add(0, static_cast<std::size_t>(equal - all.begin()));
  out.add(static_cast<std::size_t>(above - all.begin()), all.size());
}
void merge(std::span<std::uint32_t>, const parts&) {}
void sort_few(std::span<std::uint32_t> few) { std::sort(few.begin(), few.end()); }
bool is_small(std::span<const std::uint32_t> some) { return some.size() < 2000; }
// [/functions]

int main() {
  actor_system system;
  std::vector<std::uint32_t> v;
  std::uint32_t state = 1;
  for (int i = 0; i < 1'000'000; ++i) v.push_back(state = state * 1664525 + 1013904223);
  // [sort]
  const auto quicksort = spawn(system, divide_conquer(divide, merge, sort_few, is_small));
  v = system.request(quicksort, std::move(v)).get().value();
  // [/sort]
  std::printf("%zu numbers, %s, from %u to %u\n", v.size(),
              std::is_sorted(v.begin(), v.end()) ? "sorted" : "not sorted", v.front(), v.back());
}
