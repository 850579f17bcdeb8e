// For tests of joins: joins of events, and their pairs by the words of the contract.
#pragma once

#include <patterns/windows/windows_reference.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace garrick::tests {

using ids_of_pair = std::pair<int, int>;
using pairs = std::vector<ids_of_pair>;
using any_join = any_of<event, ids_of_pair>;
using any_source = any_of<void, event>;

inline ids_of_pair pair_of(const event& left, const event& right) {
  if (left.number < 0) throw std::runtime_error("a bad event");
  return {left.number, right.number};
}
struct times {
  std::int64_t disorder, before, after;
};
inline auto join_of(const any_source& right, const times& t) {
  return patterns::join_with(right)
      .by(&event::key, &event::key)
      .event_time(&event::at, &event::at, patterns::out_of_order(t.disorder))
      .within(t.before, t.after);
}

/// The events of a side that are in time.
inline events in_time(const events& all, std::int64_t disorder) {
  events in;
  reference_watermark mark(disorder);
  for (const event& e : all) {
    if (mark.has_passed(e.at + 1)) continue;
    mark.see(e.at);
    in.push_back(e);
  }
  return in;
}
inline pairs expected_pairs(const events& left, const events& right, const times& t) {
  pairs all;
  for (const event& l : in_time(left, t.disorder))
    for (const event& r : in_time(right, t.disorder))
      if (l.key == r.key && r.at - l.at >= -t.before && r.at - l.at <= t.after)
        all.emplace_back(l.number, r.number);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace garrick::tests
