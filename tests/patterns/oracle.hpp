// Shared helpers of the tests of stages that ask actors: an actor that answers, and runs of a
// pattern with its actors in every system.
#pragma once

#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "support/orders.hpp"

namespace garrick::tests {

/// The numbers from 0 on, without n.
[[nodiscard]] inline std::vector<int> iota(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}
[[nodiscard]] inline std::vector<int> sorted(std::vector<int> v) {
  std::sort(v.begin(), v.end());
  return v;
}

/// Runs a pattern that `make(system)` gives with small and large channels, in twenty orders of a
/// test system and in real ones.
template <class Make, class Check>
void in_every_system(const Make& make, const Check& check) {
  for (const patterns::stream_options& o :
       {patterns::stream_options{}, patterns::stream_options{.capacity = 1},
        patterns::stream_options{.capacity = 8}}) {
    CAPTURE(o.capacity);
    for (std::uint64_t seed = 1; seed <= orders(20); ++seed) {
      CAPTURE(seed);
      testkit::test_system kit(seed);
      auto h = patterns::spawn(kit, make(kit), o);
      kit.run_for(duration::seconds(100));
      check(kit.request(h, patterns::join{}).get());
    }
    for (const std::uint32_t workers : {1U, 3U}) {
      settings s;
      s.scheduler.workers = workers;
      actor_system system(s);
      auto h = patterns::spawn(system, make(system), o);
      check(system.request(h, patterns::join{}).get());
    }
  }
}

/// To an oracle.
struct question {
  int x = 0;
};
/// An actor that answers a number with one.
using oracle = protocol<int(question)>;
/// Answers with the double; with `refuses`, refuses multiples of ten.
class doubling : public actor<oracle> {
 public:
  explicit doubling(bool refuses = false) : refuses_(refuses) {}
  result<int> on(question q) {
    if (refuses_ && q.x % 10 == 0) return make_error(errc::not_handled, "doubling", "a ten");
    return 2 * q.x;
  }

 private:
  bool refuses_;
};

}  // namespace garrick::tests
