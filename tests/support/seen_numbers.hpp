// Numbers that actors send to each other, counted from 0, and the counts of the last of them.
#pragma once

#include <garrick/garrick.hpp>

#include <algorithm>
#include <cstdint>

namespace garrick::tests {

using numbers = protocol<void(std::uint64_t)>;

/// The counts of an actor; read after the system's end.
struct seen {
  std::uint64_t count = 0;
  bool in_order = true;
  std::uint32_t longest = 0;
  void note(std::uint64_t value, std::uint32_t length) {
    in_order = in_order && value == count;
    ++count;
    longest = std::max(longest, length);
  }
};

}  // namespace garrick::tests
