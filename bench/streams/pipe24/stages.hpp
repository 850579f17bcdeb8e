// The tuples of 24 bytes as stages: a source that numbers them, and a sink that adds them up.
#pragma once

#include <garrick/patterns/patterns.hpp>

#include "streams/pipe24/tuple.hpp"

namespace bench {

// From number `next` on, without `end`.
struct source24 {
  std::uint64_t next;
  std::uint64_t end;
  bool operator()(garrick::patterns::emit<tuple24> out) {
    if (next == end) return false;
    out(tuple_number(next++));
    return true;
  }
};

inline auto sum24() {
  return garrick::patterns::fold(seen24(), [](seen24 s, tuple24 t) {
    s.add(t);
    return s;
  });
}

}  // namespace bench
