#include "garrick/net/layer/reliability/round_trip.hpp"

namespace garrick::net {

void round_trip::sample(base::duration time) noexcept {
  time = std::clamp(time, base::duration::nanoseconds(1), base::duration::seconds(60));
  latest_ = time;
  if (!known()) {
    smoothed_ = time;
    variation_ = time / 2;
    shortest_ = time;
    return;
  }
  const base::duration off = time < smoothed_ ? smoothed_ - time : time - smoothed_;
  variation_ = (variation_ * 3 + off) / 4;
  // At least a nanosecond: zero means that nothing is known.
  smoothed_ = std::max((smoothed_ * 7 + time) / 8, base::duration::nanoseconds(1));
  shortest_ = std::min(shortest_, time);
}

}  // namespace garrick::net
