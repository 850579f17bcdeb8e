// Common parts of several tests of streams: they collect results, and run a pattern in every way
// that must not matter.
#pragma once

#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include "support/orders.hpp"

namespace garrick::tests {

/// A sink whose value is all tuples in their order.
template <class T = int>
[[nodiscard]] auto collect() {
  return patterns::fold(std::vector<T>(), [](std::vector<T> all, T x) {
    all.push_back(std::move(x));
    return all;
  });
}

/// Gives `check` the value of the stream: with small and with large channels, in place and not,
/// with and without rewriting, in ten orders of a test system and in a real one.
template <class P, class Check>
void in_all_ways(const P& p, const Check& check) {
  using options = patterns::stream_options;
  for (const options& o :
       {options{}, options{.capacity = 1}, options{.capacity = 2, .in_place = false},
        options{.capacity = 4, .in_place = false, .fuse = false},
        options{.capacity = 16, .fuse = false}, options{.remove_emitters = false}}) {
    CAPTURE(o.capacity);
    for (std::uint64_t seed = 1; seed <= orders(10); ++seed) {
      CAPTURE(seed);
      testkit::test_system kit(seed);
      auto h = patterns::spawn(kit, p, o);
      kit.run();
      check(kit.request(h, patterns::join{}).get());
    }
    actor_system system;
    auto h = patterns::spawn(system, p, o);
    check(system.request(h, patterns::join{}).get());
  }
}

}  // namespace garrick::tests
