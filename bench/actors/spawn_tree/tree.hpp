// The trees of the workloads `spawn_tree` and `savina_fibonacci`. An actor with a number above
// `second` has two children: the first gets a number smaller by 1, the second one smaller by
// `second`. With 1 the tree is full; with 2 the n-th Fibonacci number counts its leaves.
#pragma once

#include <array>
#include <cstdint>

#include "common/measure.hpp"

namespace bench {

struct tree {
  std::uint32_t n = 20;
  std::uint32_t second = 1;

  [[nodiscard]] constexpr std::uint64_t leaves() const {
    std::array<std::uint64_t, 64> of{};
    for (std::uint32_t i = 1; i <= n; ++i) of[i] = i <= second ? 1 : of[i - 1] + of[i - second];
    return of[n];
  }
  // A binary tree has one inner node less than leaves.
  [[nodiscard]] constexpr std::uint64_t actors() const { return 2 * leaves() - 1; }
};

static_assert(tree{20, 1}.actors() == (1U << 20) - 1);
static_assert(tree{25, 2}.leaves() == 75'025 && tree{25, 2}.actors() == 150'049);

inline tree read_tree(arguments& args) {
  tree t;
  t.n = static_cast<std::uint32_t>(args.number("n", t.n, 1, 63));
  t.second = static_cast<std::uint32_t>(args.number("second", t.second, 1, 63));
  return t;
}

}  // namespace bench
