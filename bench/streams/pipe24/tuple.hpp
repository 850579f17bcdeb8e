// The tuples of the pipeline, and what its sink must have seen.
#pragma once

#include "common/measure.hpp"

namespace bench {

struct tuple24 {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;
};

inline tuple24 tuple_number(std::uint64_t i) {
  const auto n = static_cast<std::int64_t>(i);
  return {n, n + 1, n + 2};
}

struct seen24 {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  void add(const tuple24& t) {
    ++count;
    sum += static_cast<std::uint64_t>(t.a + t.b + t.c);
  }
  void check(result& out, std::uint64_t tuples) const {
    out.expect("tuples", tuples, count);
    out.expect("sum", 3 * (tuples * (tuples - 1) / 2) + 3 * tuples, sum);
  }
};

}  // namespace bench
