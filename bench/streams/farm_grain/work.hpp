// The work for one element: a chain of multiplications, each of which needs the one before it, so
// that it takes the same time wherever it runs.
#pragma once

#include "common/measure.hpp"

namespace bench {

struct element {
  std::uint64_t value;
};

// Not inlined, so that every system's program has the same instructions.
[[gnu::noinline]] inline element worked_on(element e, std::uint64_t steps) {
  for (std::uint64_t i = 0; i < steps; ++i)
    e.value = e.value * 6364136223846793005ull + 1442695040888963407ull;
  return e;
}

struct seen_elements {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  void add(const element& e) {
    ++count;
    sum += e.value;
  }
  // `steps` applications of a function x -> a·x + b are one such function, found by squaring.
  void check(result& out, std::uint64_t elements, std::uint64_t steps) const {
    std::uint64_t a = 1, b = 0;
    std::uint64_t pa = 6364136223846793005ull, pb = 1442695040888963407ull;
    for (std::uint64_t rest = steps; rest != 0; rest /= 2) {
      if (rest % 2 != 0) b = pa * b + pb, a = pa * a;
      pb = pa * pb + pb, pa = pa * pa;
    }
    out.expect("elements", elements, count);
    out.expect("sum", a * (elements * (elements - 1) / 2) + b * elements, sum);
  }
};

}  // namespace bench
