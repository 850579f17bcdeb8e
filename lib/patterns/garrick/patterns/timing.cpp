#include <garrick/patterns/timing.hpp>

#include <cmath>
#include <stdexcept>
#include <string>

namespace garrick::patterns::detail {

permits::permits(double per_second, std::size_t at_once) noexcept
    : each_ns_(1e9 / per_second), most_(static_cast<double>(at_once)), left_(most_) {}

void permits::time_is(instant now) noexcept {
  if (!last_.is_never())
    left_ = std::min(most_, left_ + static_cast<double>((now - last_).count()) / each_ns_);
  last_ = now;
}

instant permits::deadline() const noexcept {
  if (left_ >= 1) return instant::never();
  const double wanted = std::clamp(1e6 / each_ns_, 1.0, most_);
  const double ns = std::ceil((wanted - left_) * each_ns_);
  constexpr double years = 1e17;  // more would not fit in a time; the stage looks again then
  return last_ + duration::nanoseconds(static_cast<std::int64_t>(std::clamp(ns, 1.0, years)));
}

std::size_t checked_throttle(double per_second, std::size_t at_once) {
  if (!(per_second > 0) || per_second > 1e9)
    throw std::invalid_argument("garrick: throttle(per_second): the rate is " +
                                std::to_string(per_second) + "; above 0 and at most 1e9 a second");
  return at_once != 0 ? at_once : static_cast<std::size_t>(std::max(per_second / 100, 1.0));
}

void check_batch(std::size_t n, duration within) {
  if (n == 0) throw std::invalid_argument("garrick: batch(n, within): n is 0; at least 1");
  if (within.count() <= 0)
    throw std::invalid_argument("garrick: batch(n, within): within is " + within.to_string() +
                                "; it must be above zero");
}

void check_ticks(duration period) {
  if (period.count() <= 0)
    throw std::invalid_argument("garrick: ticks(period): the period is " + period.to_string() +
                                "; it must be above zero");
}

}  // namespace garrick::patterns::detail
