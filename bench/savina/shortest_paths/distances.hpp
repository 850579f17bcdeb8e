// The graph of workload `savina_shortest_paths` and one round of Floyd and Warshall's algorithm on
// a block of its distances.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/measure.hpp"
#include "common/savina.hpp"

namespace bench {

using distances = std::vector<std::uint32_t>;  // square, row by row

// Complete and undirected, weights 1 to 100.
inline distances make_graph(std::uint32_t nodes) {
  savina::random_numbers random(nodes);
  distances weights(std::size_t{nodes} * nodes, 0);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    for (std::uint32_t j = i + 1; j < nodes; ++j) {
      const auto weight = static_cast<std::uint32_t>(random.below(100) + 1);
      weights[std::size_t{i} * nodes + j] = weight;
      weights[std::size_t{j} * nodes + i] = weight;
    }
  }
  return weights;
}

// The block in row `row` and column `column` of blocks.
inline distances cut_block(const distances& all, std::uint32_t nodes, std::uint32_t block,
                           std::uint32_t row, std::uint32_t column) {
  distances cells;
  for (std::uint32_t i = 0; i < block; ++i) {
    const auto from =
        all.begin() + (std::int64_t{row} * block + i) * nodes + std::int64_t{column} * block;
    cells.insert(cells.end(), from, from + block);
  }
  return cells;
}

// Round k for the block `mine`. `to_k` is the block of its row that holds column k, and `from_k`
// that of its column that holds row k; `k` counts within those.
inline distances relax(const distances& mine, const distances& to_k, const distances& from_k,
                       std::uint32_t block, std::uint32_t k) {
  distances next(mine.size());
  for (std::uint32_t i = 0; i < block; ++i) {
    const std::uint32_t first = to_k[i * block + k];
    for (std::uint32_t j = 0; j < block; ++j)
      next[i * block + j] = std::min(mine[i * block + j], first + from_k[k * block + j]);
  }
  return next;
}

struct path_lengths {
  std::uint64_t sum = 0;
  std::uint64_t longest = 0;
  std::uint64_t blocks = 0;

  void add(const distances& block) {
    for (const std::uint32_t d : block) {
      sum += d;
      longest = std::max<std::uint64_t>(longest, d);
    }
    ++blocks;
  }
};

// Against the loop that needs no blocks; with the default graph also against the published sum.
inline void check_paths(result& out, const path_lengths& found, std::uint32_t nodes,
                        std::uint32_t block) {
  distances all = make_graph(nodes);
  for (std::uint32_t k = 0; k < nodes; ++k) all = relax(all, all, all, nodes, k);
  path_lengths expected;
  expected.add(all);
  out.items = std::uint64_t{nodes} * nodes;
  out.expect("blocks", std::uint64_t{nodes / block} * (nodes / block), found.blocks);
  out.expect("sum", expected.sum, found.sum);
  out.expect("longest path", expected.longest, found.longest);
  if (nodes != 300) return;
  out.expect("published sum", 401'700, found.sum);
  out.expect("published longest path", 9, found.longest);
}

}  // namespace bench
