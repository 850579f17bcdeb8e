#include "garrick/net/layer/session/phi_accrual.hpp"

#include <doctest/doctest.h>

#include "garrick/base/values/random.hpp"

namespace phi_accrual_test {

using namespace garrick;
using base::duration;
using base::instant;
using net::phi_accrual;

namespace {
constexpr duration interval = duration::milliseconds(100);
}

TEST_CASE("phi_accrual: phi at the limit of patience is the threshold, and grows with silence") {
  for (const double threshold : {0.5, 1.0, 8.0, 16.0, 100.0}) {
    phi_accrual detector({.threshold = threshold}, interval);
    CHECK(detector.phi(detector.patience()) == doctest::Approx(threshold).epsilon(0.001));
    double last = -1;
    for (int i = 0; i != 1000; ++i) {
      const double now = detector.phi(duration::milliseconds(i * 5));
      REQUIRE(now > last);
      last = now;
    }
  }
}

TEST_CASE("phi_accrual: a peer of varying pauses is given more time than a regular one") {
  phi_accrual regular({}, interval);
  phi_accrual irregular({}, interval);
  base::random_source random(1);
  instant a{}, b{};
  regular.skip(a);
  irregular.skip(b);
  for (int i = 0; i != 200; ++i) {
    a = a + interval;
    b = b + duration::milliseconds(50 + random.below(300));
    regular.heard(a);
    irregular.heard(b);
  }
  // 100 + 5.6 * 25 ms: the least deviation counts.
  CHECK(regular.patience() > duration::milliseconds(230));
  CHECK(regular.patience() < duration::milliseconds(250));
  CHECK(irregular.patience() > regular.patience() * 2);
}

TEST_CASE("phi_accrual: the first pause of a peer that was busy is not unusual") {
  phi_accrual detector({}, interval);
  const duration before = detector.patience();
  instant now{};
  detector.skip(now);
  for (int i = 0; i != 100'000; ++i) {
    now = now + duration::microseconds(50);
    detector.heard(now);
  }
  CHECK(detector.patience() == before);
}

TEST_CASE("phi_accrual: a busy second does not drive the learnt pauses out of the history") {
  phi_accrual detector({.history = 20}, interval);
  instant now{};
  detector.skip(now);
  for (int i = 0; i != 20; ++i) detector.heard(now = now + interval * (1 + i % 3));
  const duration before = detector.patience();
  CHECK(before > duration::milliseconds(500));
  for (int i = 0; i != 5000; ++i) detector.heard(now = now + duration::microseconds(200));
  CHECK(detector.patience() > duration::milliseconds(400));
}

TEST_CASE("phi_accrual: pauses further back than the history are forgotten") {
  phi_accrual detector({.history = 10}, interval);
  instant now{};
  detector.skip(now);
  for (int i = 0; i != 10; ++i) detector.heard(now = now + duration::seconds(i + 1));
  CHECK(detector.patience() > duration::seconds(5));
  for (int i = 0; i != 10; ++i) detector.heard(now = now + interval);
  CHECK(detector.patience() < duration::milliseconds(250));
  detector.heard(now = now + duration::seconds(10));
  detector.skip(now = now + duration::seconds(1000));
  detector.heard(now + interval);
  CHECK(detector.patience() < duration::seconds(100));
}

}  // namespace phi_accrual_test
