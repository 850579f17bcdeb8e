// How unusual a silence is, judged by the pauses seen so far: the phi-accrual detector of
// Hayashibara, Défago, Yared and Katayama (2004).
//
// Phi is -log10 of the probability that a peer which lives is silent for so long: 8 means that
// such a suspicion is wrong once in 10^8 times. The pauses are taken to be normally distributed.
//
// Any packet is a sign of life, but a busy peer's packets come microseconds apart, and the first
// pause after them would look like death. So one pause is learnt for each interval between
// heartbeats, the longest in it, and none is taken to be shorter than that interval.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "garrick/base/time/clock.hpp"

namespace garrick::net {

/// What `phi_accrual` can be told.
struct phi_settings {
  double threshold = 8.0;       ///< suspicion begins at this phi; more than 0, at most 100
  std::uint32_t history = 100;  ///< pauses that are remembered; at least 1
  /// The pauses are taken to vary at least so much, as a part of the interval; more than 0.
  double least_deviation = 0.25;
};

/// Learns how long a peer's pauses are.
class phi_accrual {
 public:
  /// Knows nothing but that a heartbeat comes each `interval`. Requires settings in their ranges
  /// and a positive interval.
  phi_accrual(phi_settings s, base::duration interval);

  /// The peer says how often it beats. Forgets what was learnt.
  void expect(base::duration interval);
  /// A packet has come now.
  void heard(base::instant now);
  /// What is between the last packet and `now` was no pause of the peer.
  void skip(base::instant now) noexcept;
  /// The longest silence that is not suspicious.
  [[nodiscard]] base::duration patience() const noexcept { return patience_; }
  /// How suspicious a silence of this length is.
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
  base::instant window_{};  // from here on the longest pause is sought
  base::duration longest_{};
};

}  // namespace garrick::net
