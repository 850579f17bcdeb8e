// Elements that go round a ring of three stages: 4096 of them 256 times, and 1024 that pass once.
#pragma once

#include "common/measure.hpp"

namespace bench {

struct element {
  std::uint64_t value;
  std::uint64_t laps;
};

// Element i of a run. The first ones go round; those that pass once come last.
inline element element_number(std::uint64_t i, std::uint64_t round, std::uint64_t laps) {
  return {i, i < round ? laps : 1};
}
inline element first_stage(element e) { return {e.value * 3 + 1, e.laps}; }
inline element second_stage(element e) { return {e.value ^ e.value >> 7, e.laps}; }
inline element third_stage(element e) { return {e.value + 0x9e3779b9, e.laps - 1}; }

struct seen_ring {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  void add(const element& e) {
    ++count;
    sum += e.value;
  }
  void check(result& out, std::uint64_t round, std::uint64_t laps, std::uint64_t once) const {
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < round + once; ++i) {
      element e = element_number(i, round, laps);
      while (e.laps != 0) e = third_stage(second_stage(first_stage(e)));
      expected += e.value;
    }
    out.expect("elements", round + once, count);
    out.expect("sum", expected, sum);
  }
};

// The number of elements that pass the ring's entrance.
inline std::uint64_t passes(std::uint64_t round, std::uint64_t laps, std::uint64_t once) {
  return round * laps + once;
}

}  // namespace bench
