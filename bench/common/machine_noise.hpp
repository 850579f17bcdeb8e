// The time that the machine itself takes away: a thread turns on the spot, reads the clock, and
// notes every gap between two readings that is too long for a thread that runs. An interrupt, the
// hypervisor or another process was there meanwhile.
//
// Thread safety: none needed, there is one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "common/measure.hpp"

namespace bench {

// Turns for this many milliseconds. The latencies of the result are the time that a thread due at
// any moment of that time would have lost: the rest of the gap that the moment lies in, or nothing.
// So they can be read beside those of a program.
inline void measure_noise(std::uint64_t ms, result& out) {
  constexpr std::int64_t least = 5'000;
  struct gap {
    std::int64_t begin;
    std::int64_t end;
  };
  std::vector<gap> gaps;
  gaps.reserve(1U << 16U);  // growing would be a gap of our own

  std::int64_t longest = 0;
  std::int64_t taken = 0;
  const double cpu = cpu_seconds();
  const std::int64_t start = now_ns();
  const std::int64_t end = start + static_cast<std::int64_t>(ms) * 1'000'000;
  std::int64_t before = start;
  while (before < end) {
    const std::int64_t now = now_ns();
    if (now - before > least) {
      gaps.push_back({before, now});
      longest = std::max(longest, now - before);
      taken += now - before;
    }
    before = now;
  }
  const double used = cpu_seconds() - cpu;

  const std::int64_t lasted = before - start;
  out.seconds = static_cast<double>(lasted) * 1e-9;
  out.items = gaps.size();
  // Without a clock that runs on and a processor now and then there is nothing to compare with.
  if (taken >= lasted) out.error("the thread never ran");
  out.cpu(used);
  out.detail("cpu_percent", 100 * used / out.seconds);
  out.detail("longest_gap_us", static_cast<double>(longest) / 1000);
  out.detail("gaps_percent", 100 * static_cast<double>(taken) / static_cast<double>(lasted));

  std::vector<std::int64_t> lost;
  const std::int64_t step = std::max<std::int64_t>(lasted / 1'000'000, 1'000);
  std::int64_t due = start;
  for (const gap& g : gaps) {
    for (; due < g.begin; due += step) lost.push_back(0);
    for (; due < g.end; due += step) lost.push_back(g.end - due);
  }
  for (; due < before; due += step) lost.push_back(0);
  out.latencies(std::move(lost));
}

}  // namespace bench
