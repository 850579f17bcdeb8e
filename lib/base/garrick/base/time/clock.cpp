// The machine's clock, and durations as text.
#include "garrick/base/time/clock.hpp"

#include <time.h>

namespace garrick::base {
namespace {

class steady_clock final : public clock {
 public:
  constexpr steady_clock() noexcept = default;
  [[nodiscard]] instant now() const noexcept override {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return instant::at(
        duration::nanoseconds(std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec));
  }
};

constinit const steady_clock the_clock{};

}  // namespace

const clock& real_clock() noexcept { return the_clock; }

std::string duration::to_string() const {
  if (is_infinite()) return "infinite";
  if (ns_ % 1'000'000'000 == 0) return std::to_string(ns_ / 1'000'000'000) + "s";
  if (ns_ % 1'000'000 == 0) return std::to_string(ns_ / 1'000'000) + "ms";
  if (ns_ % 1000 == 0) return std::to_string(ns_ / 1000) + "us";
  return std::to_string(ns_) + "ns";
}

std::string instant::to_string() const { return is_never() ? "never" : since_.to_string(); }

}  // namespace garrick::base
