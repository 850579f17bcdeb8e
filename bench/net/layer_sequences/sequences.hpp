// The three sequences of ten datagrams, by which of the ten comes when.
//
// Thread safety: constants, and plain functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/measure.hpp"

namespace bench {

inline constexpr std::uint64_t in_sequence = 10;

struct sequence {
  const char* name;
  std::vector<std::uint64_t> order;
};

inline std::vector<sequence> sequences() {
  return {{"ordered", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
          {"late", {0, 1, 3, 2, 4, 5, 6, 7, 8, 9}},
          {"dropped", {0, 1, 3, 4, 5, 6, 7, 8, 9}}};
}

// The nanoseconds of a sequence of datagrams of that size: a point of the plot, and with 128 bytes
// the figure that is judged.
inline void tell(result& out, const sequence& s, std::size_t size, double ns) {
  const std::string name = s.name;
  out.detail((name + "_" + std::to_string(size) + "_ns").c_str(), ns);
  if (size == 128) out.detail((name + "_ns").c_str(), ns);
}

}  // namespace bench
