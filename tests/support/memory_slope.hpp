// Checks whether a program that goes on and on needs more and more memory. A test works until
// `goes_on` returns false, and then checks how fast its resident memory has grown.
//
// In a short run that is a bound on the further growth of buffers and pools; from a minute on it is
// the slope: less than a megabyte a minute. The slope is the median of those between any two
// samples, so that one buffer that grows once, early or late, is not a leak.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/in_child.hpp"
#include "support/resident_bytes.hpp"
#include "support/rounds.hpp"

namespace garrick::tests {

/// See above. One thread uses it.
class memory_slope {
 public:
  using clock = std::chrono::steady_clock;

  /// `what`: of which program.
  explicit memory_slope(std::string what)
      : what_(std::move(what)),
        length_(shortest * rounds(1)),
        begin_(clock::now()),
        next_(begin_ + warm_up()) {}

  /// Looks at the memory now and then. Returns false if the time has passed. On a busy machine it
  /// is not over before the program has done `enough`.
  [[nodiscard]] bool goes_on(bool enough = true) {
    const auto now = clock::now();
    if (now >= next_) {
      samples_.push_back({minutes(now - begin_), static_cast<double>(resident_bytes())});
      next_ += (length_ - warm_up()) / samples;
    }
    return now < begin_ + length_ || samples_.size() < 2 || !enough;
  }
  /// For a program that runs on other threads: returns when the time is over and `enough()` says
  /// that it has run.
  template <class P>
  void wait(const P& enough) {
    while (goes_on(enough())) std::this_thread::sleep_until(next_);
  }
  /// Fails the test if the memory grows.
  void check() const {
    REQUIRE(samples_.size() > 1);
    double least = samples_.front().bytes, most = least;
    for (const sample& s : samples_) {
      least = std::min(least, s.bytes);
      most = std::max(most, s.bytes);
    }
    const double slope = median_slope();
    std::printf("slope: %s: %+.2f MB a minute, %.1f to %.1f MB, for %.0f s\n", what_.c_str(),
                slope * 1e-6, least * 1e-6, most * 1e-6, 60 * minutes(length_));
    CAPTURE(what_);
    CHECK(samples_.back().bytes - samples_.front().bytes < allowed_growth);
    if (length_ >= std::chrono::minutes(1)) CHECK(slope < 1e6);
  }

 private:
  struct sample {
    double minute;
    double bytes;
  };
  static constexpr auto shortest = std::chrono::milliseconds(400);
  static constexpr int samples = 200;
  /// Buffers and pools grow to their size at first. A sanitizer's notes are its own.
  static constexpr double allowed_growth = HAS_SANITIZER ? 1e9 : 8e6;

  static double minutes(clock::duration d) { return std::chrono::duration<double>(d).count() / 60; }
  [[nodiscard]] clock::duration warm_up() const { return length_ / 3; }
  [[nodiscard]] double median_slope() const {
    std::vector<double> all;
    for (std::size_t i = 0; i < samples_.size(); ++i)
      for (std::size_t k = i + 1; k < samples_.size(); ++k)
        all.push_back((samples_[k].bytes - samples_[i].bytes) /
                      (samples_[k].minute - samples_[i].minute));
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
  }

  const std::string what_;
  const clock::duration length_;
  const clock::time_point begin_;
  clock::time_point next_;
  std::vector<sample> samples_;
};

}  // namespace garrick::tests
