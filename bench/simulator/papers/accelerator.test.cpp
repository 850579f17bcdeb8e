// Paper 003's accelerator on a simulated machine. The figures in the comments are those of the
// default costs.
#include <garrick/machine/machines.hpp>

#include <doctest/doctest.h>

#include "simulator/papers/programs.hpp"
#include "simulator/simulated.hpp"

namespace accelerator_test {

using namespace garrick::machine;
using namespace bench::simulator;

namespace {

double mean_us(heavy_chains program, std::uint32_t workers) {
  const auto o = run(program, bench::on_machine(opteron(), workers, "work_stealing"));
  CHECK(o.error == "");
  return o.mean_us();
}
heavy_chains chains(offloading how, double rate) {
  return {.rate = rate, .messages = 200, .how = how};
}
/// A rate at which this share of the workers' time is used.
double rate_for(double share, std::uint32_t workers) { return share * workers / 5e-3; }

}  // namespace

TEST_CASE("accelerator: a message goes through its chain, and to the accelerator and back") {
  const auto messages = [](offloading how) {
    const heavy_chains program{
        .chains = 3, .actors = 8, .messages = 6, .not_counted = 0, .how = how};
    const auto o = run(program, bench::on_machine(opteron(), 1, "work_stealing"));
    CHECK(o.error == "");
    CHECK(o.latency_us.size() == 6);
    return o.messages;
  };
  CHECK(messages(offloading::none) == 6 * 9);
  CHECK(messages(offloading::accelerator) > 6 * 11);
}

TEST_CASE("paper 003, figure 28: with an accelerator a message takes a tenth of the time or less") {
  const double alone = mean_us(chains(offloading::none, 1000), 64);
  const double shared = mean_us(chains(offloading::accelerator, 1000), 64);
  CHECK(alone > 5000);  // 5210, 301
  CHECK(alone < 7000);
  CHECK(shared < 800);
  CHECK(alone > 8.8 * shared);
}

TEST_CASE("accelerator: it gains from two workers on, at any load") {
  for (const std::uint32_t workers : {2U, 4U, 8U})
    for (const double share : {0.25, 0.75}) {
      CAPTURE(workers);
      CAPTURE(share);
      const double rate = rate_for(share, workers);
      CHECK(mean_us(chains(offloading::none, rate), workers) >
            0.85 * workers * mean_us(chains(offloading::accelerator, rate), workers));
    }
  const double rate = rate_for(0.5, 1);
  CHECK(mean_us(chains(offloading::none, rate), 1) <
        mean_us(chains(offloading::accelerator, rate), 1));
}

TEST_CASE(
    "accelerator: the asked actor begins requests that wait for it, so one team is as good as "
    "many") {
  // 220 and 180; 5140 if the asked actor works for a whole turn before the next request begins
  const double rate = rate_for(0.75, 64);
  CHECK(mean_us(chains(offloading::accelerator, rate), 64) <
        2 * mean_us(chains(offloading::own_maps, rate), 64));
}

TEST_CASE("accelerator: a message for each chain at once does not take longer than without one") {
  // 136 and 135 ms; 254 if those that work go from request to request each millisecond
  const auto at_once = [](offloading how) {
    return mean_us({.messages = 100, .not_counted = 0, .at_once = true, .how = how}, 2);
  };
  CHECK(at_once(offloading::accelerator) < 1.3 * at_once(offloading::none));
}

TEST_CASE("paper 003, figure 25: a matrix is worked on by all workers") {
  matrix_rows program;
  program.work.elements = 500;
  const auto seconds = [&](std::uint32_t workers) {
    const auto o = run(program, bench::on_machine(opteron(), workers, "work_stealing"));
    CHECK(o.error == "");
    return o.seconds;
  };
  const double one = seconds(1);
  program.how = offloading::none;
  CHECK(seconds(1) == doctest::Approx(one).epsilon(0.01));
  program.how = offloading::accelerator;
  CHECK(one / seconds(8) > 7.5);
  CHECK(one / seconds(64) > 50);
}

}  // namespace accelerator_test
