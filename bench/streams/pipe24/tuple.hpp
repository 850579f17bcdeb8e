// The tuples of the pipeline, and the expected input of its sink.
#pragma once

#include "streams/common/pace.hpp"

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
    // half of n · (n - 1), which itself may be more than 64 bits hold
    const std::uint64_t numbers =
        tuples % 2 == 0 ? tuples / 2 * (tuples - 1) : (tuples - 1) / 2 * tuples;
    out.expect("sum", 3 * numbers + 3 * tuples, sum);
  }
};

// At a rate: the last number is the time at which the tuple leaves.
inline tuple24 tuple_on_time(std::uint64_t i, pace& schedule) {
  tuple24 t = tuple_number(i);
  t.c = schedule.next();
  return t;
}

struct timed24 {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  latency_log latencies;
  void add(const tuple24& t) {
    ++count;
    sum += static_cast<std::uint64_t>(t.a + t.b);
    latencies.add(t.c);
  }
  void check(result& out, std::uint64_t tuples) {
    out.expect("tuples", tuples, count);
    out.expect("sum", tuples * tuples, sum);  // of all n + n + 1
    latencies.into(out);
  }
};

}  // namespace bench
