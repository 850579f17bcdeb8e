// The host's prices. Their predictions are checked by a benchmark (simulator_prediction): tests
// share their machine with others.

#include <doctest/doctest.h>

#include "simulator/calibration/calibrate.hpp"

namespace calibrate_test {

using namespace garrick;
using namespace garrick::machine;
using namespace bench::simulator;

namespace {

/// A host of round numbers.
costs round_machine() {
  costs c;
  c.locked = 5;
  c.transfer.fill(50);
  return c;
}

}  // namespace

TEST_CASE("calibration: every price of the host is found, and more samples only lower it") {
  calibration host;
  host.sample();
  const costs first = host.prices();
  for (const auto price : {&costs::locked, &costs::clock_read, &costs::cpu_clock_read,
                           &costs::system_call, &costs::timer_late})
    CHECK(first.*price > 0);
  CHECK(first.cpu_clock_read > first.clock_read);
  CHECK(first.timer_late < 1e9);
  CHECK(first.send + first.receive > 0);
  host.sample();
  const costs second = host.prices();
  CHECK(second.locked <= first.locked);
  CHECK(second.system_call <= first.system_call);
  CHECK(host.actors().stream < 1e6);
}

TEST_CASE(
    "calibration: a slower program raises the price that it is there to measure, and no other") {
  actor_times times;
  times.burst_send = 20;
  times.burst_receive = 15;
  times.stream = 60;
  times.hop_of_two = 110;
  times.hop_of_many = 150;
  times.birth = 500;
  costs c = round_machine();
  derive_actor_prices(c, times);
  CHECK(c.send == doctest::Approx(c.receive));  // 20 less a locked operation, against 15
  CHECK(c.send + c.receive < times.stream);
  times.hop_of_many += 10;
  times.birth += 30;
  costs changed = round_machine();
  derive_actor_prices(changed, times);
  CHECK(changed.send == c.send);
  CHECK(changed.run == c.run);
  // except the few that follow each other soon
  CHECK(changed.cold == doctest::Approx(c.cold + 10).epsilon(0.02));
  CHECK(changed.spawn == doctest::Approx(c.spawn + 30).epsilon(0.1));
}

}  // namespace calibrate_test
