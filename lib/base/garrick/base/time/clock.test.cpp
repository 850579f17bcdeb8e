// Durations and instants: conversions, saturation, how they print, and the real clock.
#include "garrick/base/time/clock.hpp"

#include <chrono>
#include <limits>

#include "garrick/base/types/print.hpp"
#include "garrick/base/types/sendable.hpp"

#include <doctest/doctest.h>

namespace clock_test {

using garrick::base::duration;
using garrick::base::instant;
using garrick::base::real_clock;
using namespace std::chrono_literals;

static_assert(duration(3s).count() == 3'000'000'000);
static_assert(duration(2h) == duration::seconds(7200));
static_assert(duration(1.5s) == duration::milliseconds(1500));
static_assert(duration(std::chrono::duration<int, std::ratio<1, 3>>(2)).count() == 666'666'666);
static_assert(duration(std::chrono::hours::max()).is_infinite());
static_assert(duration(std::chrono::seconds::min()) < duration());
static_assert(duration(1ms) + 500us == duration::microseconds(1500));
static_assert(duration::infinite() + 1s == duration::infinite());
static_assert(instant::never() - 1h == instant::never());
static_assert(instant::at(1s) + 500ms == instant::at(duration::milliseconds(1500)));
static_assert(instant::at(3s) - instant::at(1s) == duration(2s));
static_assert(garrick::base::sendable<instant> && garrick::base::sendable<duration>);

TEST_CASE("durations convert to and from chrono") {
  const std::chrono::nanoseconds ns = duration(1ms);
  CHECK(ns == 1ms);
  const auto now = std::chrono::steady_clock::now();
  CHECK(instant(now).since_beginning().count() == now.time_since_epoch().count());
}

TEST_CASE("durations of floating point saturate, and a value that is not a number is nothing") {
  CHECK(duration(std::chrono::duration<double>(1e300)).is_infinite());
  CHECK(duration(std::chrono::duration<double>(-1e300)).count() ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(duration(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())).count() ==
        0);
}

TEST_CASE("the real clock is the steady clock") {
  const instant before = std::chrono::steady_clock::now();
  const instant now = real_clock().now();
  const instant after = std::chrono::steady_clock::now();
  CHECK(before <= now);
  CHECK(now <= after);
}

TEST_CASE("durations print in the largest unit without a fraction") {
  CHECK(duration(2s).to_string() == "2s");
  CHECK(duration(1500ms).to_string() == "1500ms");
  CHECK(duration(7us).to_string() == "7us");
  CHECK(garrick::base::to_string(duration::nanoseconds(-5)) == "-5ns");
  CHECK(duration::infinite().to_string() == "infinite");
  CHECK(instant::never().to_string() == "never");
}

}  // namespace clock_test
