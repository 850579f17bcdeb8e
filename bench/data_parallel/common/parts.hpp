// The parts of a container, for peers that must cut it by hand. C++17 and the standard library
// only.
#pragma once

#include <cstddef>

namespace bench {

// Some adjacent elements: from `begin` to before `end`.
struct part {
  std::size_t begin;
  std::size_t end;
};

// Part `i` of `parts`, of `size` elements. Their lengths differ by one at most.
inline part part_of(std::size_t size, std::size_t i, std::size_t parts) {
  const auto begin_of = [=](std::size_t k) {
    const std::size_t rest = size % parts;
    return size / parts * k + (k < rest ? k : rest);
  };
  return {begin_of(i), begin_of(i + 1)};
}

}  // namespace bench
