// Judges how unusual a silence is, by the pauses seen so far: the phi-accrual detector of
// Hayashibara, Défago, Yared and Katayama (2004).
//
// Phi is -log10 of the probability that a living peer is silent for so long: a suspicion at phi 8
// is wrong once in 10^8 times. The pauses are taken to be normally distributed.
//
// Any packet is a sign of life, but a busy peer's packets come microseconds apart, and the first
// pause after them would look like death. So for each interval between heartbeats only the longest
// pause in it is learnt, and no pause is taken to be shorter than that interval.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "garrick/base/time/clock.hpp"

namespace garrick::net {

/// Settings of `phi_accrual`.
struct phi_settings {
  double threshold = 8.0;       ///< suspicion begins at this phi; more than 0, at most 100
  std::uint32_t history = 100;  ///< pauses that are remembered; at least 1
  /// The least standard deviation of pauses, as a part of the interval; more than 0.
  double least_deviation = 0.25;
};

/// Learns how long a peer's pauses are.
class phi_accrual {
 public:
  /// Makes a detector that expects a heartbeat each `interval`. Requires settings in their ranges
  /// and a positive interval.
  phi_accrual(phi_settings s, base::duration interval);

  /// Expects a heartbeat each `interval` from now on, and forgets the learnt pauses.
  void expect(base::duration interval);
  /// Records a packet that has come now.
  void heard(base::instant now);
  /// Ignores the time between the last packet and `now`: it was not a pause of the peer.
  void skip(base::instant now) noexcept;
  /// Returns the longest silence that is not suspicious.
  [[nodiscard]] base::duration patience() const noexcept { return patience_; }
  /// Returns how suspicious a silence of this length is.
  [[nodiscard]] double phi(base::duration silence) const noexcept;

 private:
  void learn(double pause);
  void weigh();

  phi_settings settings_;
  double quantile_;             // standard deviations at which phi is at its threshold
  double interval_ = 0;         // nanoseconds, as all that follow
  std::vector<double> pauses_;  // a ring
  std::size_t next_ = 0;
  double mean_ = 0;
  double deviation_ = 0;
  base::duration patience_;
  base::instant last_{};
  base::instant window_{};  // the beginning of the interval of `longest_`
  base::duration longest_{};
};

}  // namespace garrick::net
