// Two streams of events with a key and a time, up to 100 behind, and their pairs: one of each side
// with one key, of which the right one is up to `within` later. Programs add up the pairs, which
// come in any order, and are compared with the pairs by their definition. C++17 and the standard
// library only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "common/measure.hpp"
#include "streams/windows/events.hpp"

namespace bench {

struct pairs_seen {
  std::uint64_t pairs = 0;
  std::uint64_t sum = 0;
  void add(std::uint64_t pair) {
    ++pairs;
    sum += pair;
  }
};

inline std::uint64_t pair_of(const timed_event& left, const timed_event& right) {
  return mixed(static_cast<std::uint64_t>(left.at) * 1'000'003 +
               static_cast<std::uint64_t>(right.at) + left.key);
}

struct join_job {
  std::uint64_t events, keys;  // events of each side
  std::int64_t within;

  explicit join_job(arguments& args)
      : events(args.number("events", 1'000'000)),
        keys(args.number("keys", 1000, 1)),
        within(static_cast<std::int64_t>(args.number("within", 2000))) {}

  // Every other event is of the right side.
  [[nodiscard]] timed_event left(std::uint64_t i) const { return event_number(2 * i, keys); }
  [[nodiscard]] timed_event right(std::uint64_t i) const { return event_number(2 * i + 1, keys); }

  void check(result& out, const pairs_seen& found) const {
    std::map<std::uint64_t, std::vector<std::int64_t>> rights;
    for (std::uint64_t i = 0; i < events; ++i) rights[right(i).key].push_back(right(i).at);
    for (auto& [key, at] : rights) std::sort(at.begin(), at.end());
    pairs_seen wanted;
    for (std::uint64_t i = 0; i < events; ++i) {
      const timed_event l = left(i);
      const std::vector<std::int64_t>& all = rights[l.key];
      for (auto at = std::lower_bound(all.begin(), all.end(), l.at);
           at != all.end() && *at <= l.at + within; ++at)
        wanted.add(pair_of(l, {l.key, *at}));
    }
    out.expect("pairs", wanted.pairs, found.pairs);
    out.expect("sum over the pairs", wanted.sum, found.sum);
  }
};

}  // namespace bench
