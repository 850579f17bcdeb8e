#include "garrick/net/layer/reliability/round_trip.hpp"

#include <doctest/doctest.h>

namespace round_trip_test {

using namespace garrick;
using namespace garrick::net;
using base::duration;

namespace {

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

}  // namespace

TEST_CASE("round trip: the first sample counts whole, with half of it as variation") {
  round_trip r;
  CHECK(!r.known());
  r.sample(ms(100));
  CHECK(r.known());
  CHECK(r.smoothed() == ms(100));
  CHECK(r.variation() == ms(50));
  CHECK(r.late() == ms(300));
}

TEST_CASE("round trip: later samples count an eighth, and a quarter in the variation") {
  round_trip r;
  r.sample(ms(100));
  r.sample(ms(180));
  CHECK(r.smoothed() == ms(110));
  CHECK(r.variation() == duration::microseconds(57'500));
  CHECK(r.latest() == ms(180));
  CHECK(r.shortest() == ms(100));
  r.sample(ms(60));
  CHECK(r.shortest() == ms(60));
}

TEST_CASE("round trip: a steady path is late after seventeen sixteenths, also one of nanoseconds") {
  for (const duration trip : {ms(20), duration::microseconds(80), duration::nanoseconds(3)}) {
    round_trip r;
    for (int i = 0; i < 200; ++i) r.sample(trip);
    CHECK(r.smoothed() == trip);
    CHECK(r.late() <= trip + trip / 16 + duration::nanoseconds(12));
  }
}

TEST_CASE("round trip: no time at all is a nanosecond, and any time at most a minute") {
  round_trip r;
  for (int i = 0; i < 100; ++i) r.sample(duration());
  CHECK(r.known());
  CHECK(r.smoothed() == duration::nanoseconds(1));
  r.sample(ms(-5));
  r.sample(duration::infinite());
  CHECK(r.latest() == duration::seconds(60));
  CHECK(r.smoothed() >= duration::nanoseconds(1));
}

}  // namespace round_trip_test
