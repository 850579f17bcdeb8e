// SpikeDetection: readings of 54 devices; a moving average over the last 1000 of each; a reading
// that is more than 2.5 % off its average is a spike. The readings are made from a seed: a day's
// sine for each device, noise, and a spike now and then.
#pragma once

#include <cmath>
#include <unordered_map>

#include "streams/common/feed.hpp"
#include "streams/common/random.hpp"

namespace bench {

constexpr std::size_t spike_window = 1000;
constexpr double spike_threshold = 0.025;

struct reading {
  std::uint32_t device;
  float value;
  std::int64_t stamp;
};
struct averaged {
  std::uint32_t device;
  float value;
  double average;
  std::int64_t stamp;
};

using readings = std::vector<reading>;

// The readings through which a source cycles.
inline readings make_readings() {
  random_stream random(74755);
  constexpr std::uint32_t devices = 54;
  constexpr int day = 4000;  // readings of a device, which the source repeats
  readings made;
  for (int i = 0; i < day; ++i) {
    for (std::uint32_t d = 0; d < devices; ++d) {
      const double phase =
          6.283185307179586 * (i / static_cast<double>(day) + d / static_cast<double>(devices));
      double value = 20 + 0.3 * std::sin(phase) + 0.2 * (random.unit() - 0.5);
      if (random.below(500) == 0) value *= 1.1;
      made.push_back({d, static_cast<float>(value), 0});
    }
  }
  return made;
}

// Averages of the devices that it gets.
class moving_average {
 public:
  averaged add(const reading& r) {
    window& w = windows_[r.device];
    if (w.last.size() < spike_window) {
      w.last.push_back(r.value);
    } else {
      w.sum -= static_cast<double>(w.last[w.oldest]);
      w.last[w.oldest] = r.value;
      w.oldest = (w.oldest + 1) % spike_window;
    }
    w.sum += static_cast<double>(r.value);
    return {r.device, r.value, w.sum / static_cast<double>(w.last.size()), r.stamp};
  }

 private:
  struct window {
    std::vector<float> last;
    std::size_t oldest = 0;
    double sum = 0;
  };
  std::unordered_map<std::uint32_t, window> windows_;
};

inline bool is_spike(const averaged& a) {
  return std::abs(static_cast<double>(a.value) - a.average) > spike_threshold * a.average;
}

struct seen_spikes {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  latency_log latencies;

  void add(const averaged& a) {
    ++count;
    sum += weight(a.device, a.value);
    latencies.add(a.stamp);
  }
  // Each device's readings in a row; an average is the difference of two sums from the beginning.
  void check(result& out, const readings& input, std::uint64_t number) {
    std::unordered_map<std::uint32_t, std::vector<double>> sums;
    std::uint64_t expected = 0;
    std::uint64_t expected_sum = 0;
    for (std::uint64_t i = 0; i < number; ++i) {
      const reading& r = input[i % input.size()];
      std::vector<double>& s = sums[r.device];
      if (s.empty()) s.push_back(0);
      s.push_back(s.back() + static_cast<double>(r.value));
      const std::size_t n = std::min(s.size() - 1, spike_window);
      const double average = (s.back() - s[s.size() - 1 - n]) / static_cast<double>(n);
      if (!is_spike({r.device, r.value, average, 0})) continue;
      ++expected;
      expected_sum += weight(r.device, r.value);
    }
    out.expect("spikes", expected, count);
    out.expect("sum of values", expected_sum, sum);
    out.detail("spikes_percent", 100 * static_cast<double>(count) / static_cast<double>(number));
    latencies.into(out);
  }

 private:
  static std::uint64_t weight(std::uint32_t device, float value) {
    return device + static_cast<std::uint64_t>(static_cast<double>(value) * 1e4);
  }
};

}  // namespace bench
