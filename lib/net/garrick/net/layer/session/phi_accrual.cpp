#include "garrick/net/layer/session/phi_accrual.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "garrick/base/platform/assert.hpp"

namespace garrick::net {
namespace {

/// Returns -log10 of the probability that a normal variable is at least `z` standard deviations
/// above its mean.
double suspicion(double z) noexcept {
  if (z < 30) return -std::log10(0.5 * std::erfc(z / std::numbers::sqrt2));
  // For larger `z` erfc becomes zero: this is the first term of its asymptotic series.
  return (z * z / 2 + std::log(z * std::sqrt(2 * std::numbers::pi))) / std::numbers::ln10;
}

double quantile_of(double threshold) noexcept {
  double low = -10;
  double high = 50;
  for (int i = 0; i != 100; ++i) {
    const double middle = (low + high) / 2;
    (suspicion(middle) < threshold ? low : high) = middle;
  }
  return high;
}

}  // namespace

phi_accrual::phi_accrual(phi_settings s, base::duration interval)
    : settings_(s), quantile_(quantile_of(s.threshold)) {
  GARRICK_ASSERT(s.threshold > 0 && s.threshold <= 100 && s.history > 0 && s.least_deviation > 0,
                 "the settings are out of their range");
  expect(interval);
}

void phi_accrual::expect(base::duration interval) {
  GARRICK_ASSERT(interval > base::duration(), "an interval is positive");
  interval_ = static_cast<double>(interval.count());
  pauses_.clear();
  next_ = 0;
  weigh();
}

void phi_accrual::heard(base::instant now) {
  longest_ = std::max(longest_, now - last_);
  last_ = now;
  if (static_cast<double>((now - window_).count()) < interval_) return;
  learn(static_cast<double>(longest_.count()));
  longest_ = {};
  window_ = now;
}

void phi_accrual::skip(base::instant now) noexcept {
  last_ = window_ = now;
  longest_ = {};
}

void phi_accrual::learn(double pause) {
  pause = std::max(pause, interval_);
  if (pauses_.size() < settings_.history) {
    pauses_.push_back(pause);
  } else {
    pauses_[next_] = pause;
    next_ = (next_ + 1) % pauses_.size();
  }
  weigh();
}

void phi_accrual::weigh() {
  // This runs once an interval over at most `history` numbers, which is cheaper than to keep sums
  // and to correct their rounding.
  mean_ = interval_;
  double variance = 0;
  if (!pauses_.empty()) {
    double sum = 0;
    for (const double p : pauses_) sum += p;
    mean_ = sum / static_cast<double>(pauses_.size());
    for (const double p : pauses_) variance += (p - mean_) * (p - mean_);
    variance /= static_cast<double>(pauses_.size());
  }
  deviation_ = std::max(std::sqrt(variance), settings_.least_deviation * interval_);
  const double patience = std::max(mean_ + quantile_ * deviation_, interval_);
  patience_ = base::duration::nanoseconds(static_cast<std::int64_t>(std::min(patience, 9e18)));
}

double phi_accrual::phi(base::duration silence) const noexcept {
  return suspicion((static_cast<double>(silence.count()) - mean_) / deviation_);
}

}  // namespace garrick::net
