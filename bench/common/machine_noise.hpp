// The time that the machine takes from a thread. A thread spins, reads the clock, and records every
// gap between two readings that is too long for a running thread: an interrupt, the hypervisor or
// another process had the processor.
//
// Thread safety: none; the program has one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "common/measure.hpp"

namespace bench {

// Spins for this many milliseconds. The latencies of the result are the times that a thread due at
// any moment would have lost: the rest of the gap at that moment, or zero. So they can be compared
// with those of a program.
inline void measure_noise(std::uint64_t ms, result& out) {
  constexpr std::int64_t least = 5'000;
  struct gap {
    std::int64_t begin;
    std::int64_t end;
  };
  std::vector<gap> gaps;
  gaps.reserve(1U << 16U);  // growing would cause a gap

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
  // Without a working clock and any processor time there is no result.
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
