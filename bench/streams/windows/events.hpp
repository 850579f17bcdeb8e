// Events with a key and a time, up to 100 behind, and the results of windows over them. Each
// program adds up its results as a sum over windows that does not depend on their order, and is
// compared with windows by their definition: each event put into each of its windows, with no
// regard to when which could be closed. C++17 and the standard library only.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "common/measure.hpp"

namespace bench {

constexpr std::int64_t disorder = 100;

struct timed_event {
  std::uint64_t key;
  std::int64_t at;
};
static_assert(sizeof(timed_event) == 16);

inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

inline timed_event event_number(std::uint64_t i, std::uint64_t keys) {
  const std::uint64_t drawn = mixed(i + 1);
  const auto behind = static_cast<std::int64_t>((drawn >> 32) % disorder);
  const auto at = static_cast<std::int64_t>(i) - behind;
  return {drawn % keys, at < 0 ? 0 : at};
}

// The number and the sum of the windows found.
struct windows_seen {
  std::uint64_t windows = 0;
  std::uint64_t sum = 0;
  void add(std::uint64_t key, std::int64_t begin, std::uint64_t events) {
    ++windows;
    sum += mixed(key * 1'000'003 + static_cast<std::uint64_t>(begin)) * events;
  }
};

struct window_job {
  std::uint64_t events, keys;
  std::int64_t length, slide;

  explicit window_job(arguments& args)
      : events(args.number("events", 4'000'000)),
        keys(args.number("keys", 16, 1)),
        length(static_cast<std::int64_t>(args.number("length", 10'000, 1))),
        slide(static_cast<std::int64_t>(args.number("slide", 10'000, 1))) {}

  // The first window that holds an event at `t`; no program leaves out those before 0.
  [[nodiscard]] std::int64_t first_begin(std::int64_t t) const {
    std::int64_t begin = (t - length) / slide * slide;
    while (begin + length <= t) begin += slide;
    while (begin - slide + length > t) begin -= slide;
    return begin;
  }
  void check(result& out, const windows_seen& found) const {
    std::map<std::pair<std::uint64_t, std::int64_t>, std::uint64_t> all;
    for (std::uint64_t i = 0; i < events; ++i) {
      const timed_event e = event_number(i, keys);
      for (std::int64_t b = first_begin(e.at); b <= e.at; b += slide) ++all[{e.key, b}];
    }
    windows_seen wanted;
    for (const auto& [which, n] : all) wanted.add(which.first, which.second, n);
    out.expect("windows", wanted.windows, found.windows);
    out.expect("sum over the windows", wanted.sum, found.sum);
  }
};

}  // namespace bench
