// The expected input of the consumer: the numbers from 0 on, modulo 2^32.
#pragma once

#include "common/measure.hpp"

namespace bench {

struct seen4 {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  void add(std::uint32_t n) {
    ++count;
    sum += n;
  }
  void check(result& out, std::uint64_t messages) const {
    const std::uint64_t laps = messages >> 32;
    const std::uint64_t rest = messages & 0xffffffff;
    out.expect("messages", messages, count);
    out.expect("sum", laps * (0xffffffffull << 31) + rest * (rest - 1) / 2, sum);
  }
};

}  // namespace bench
