// The latency pipeline where its generator spins on one of the workers' processors.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "simulator/papers/programs.hpp"
#include "simulator/simulated.hpp"

namespace shared_pipeline_test {

using namespace garrick::machine;
using namespace bench::simulator;

namespace {

pipeline_outcome measure(const char* policy, std::uint32_t processors, std::uint32_t workers,
                         double rate, bool apart = false, event_log* log = nullptr) {
  pipeline program = shared_pipeline(12, rate, 50);
  program.generator_apart = apart;
  program.log = log;
  auto o = run(program, bench::on_shared_machine(processors, workers, policy));
  CHECK(o.error == "");
  return o;
}

constexpr const char* sleeping[] = {"work_sharing", "polling_default", "polling_new"};

}  // namespace

TEST_CASE(
    "shared pipeline: two workers on two processors, of which the generator holds one, have a tail "
    "of a slice that one worker has not") {
  for (const char* policy : sleeping) {
    CAPTURE(policy);
    const auto one = measure(policy, 2, 1, 400'000);
    const auto two = measure(policy, 2, 2, 400'000);
    CHECK(one.percentile_us(0.999) < 100);  // 65, 17, 17
    CHECK(two.percentile_us(0.999) > 700);  // 1560, 1500, 1500
    CHECK(two.percentile_us(0.999) < 7000);
    CHECK(two.mean_us() > 3 * one.mean_us());
  }
}

TEST_CASE("shared pipeline: the default policy is hardly worse with many workers than with one") {
  for (const double rate : {100'000.0, 400'000.0}) {
    CAPTURE(rate);
    const double one = measure("work_stealing", 2, 1, rate).mean_us();
    for (const auto& [processors, workers] : {std::pair{2U, 2U}, {2U, 16U}, {4U, 4U}, {16U, 16U}}) {
      CAPTURE(processors);
      CAPTURE(workers);
      CHECK(measure("work_stealing", processors, workers, rate).mean_us() < 1.5 * one);
    }
  }
}

TEST_CASE("shared pipeline: with a processor for each thread there is no such tail") {
  for (const char* policy : {"work_stealing", "work_sharing", "polling_new"}) {
    CAPTURE(policy);
    CHECK(measure(policy, 2, 2, 400'000, true).percentile_us(0.999) < 200);
    CHECK(measure(policy, 8, 4, 400'000).percentile_us(0.999) < 200);
  }
}

TEST_CASE(
    "shared pipeline: the generator takes its processor's time, and workers no more than is left") {
  for (const char* policy : sleeping) {
    CAPTURE(policy);
    const auto o = measure(policy, 2, 2, 400'000);
    CHECK(o.busy_seconds < 1.4 * o.seconds);  // of two
    CHECK(measure(policy, 2, 2, 400'000, true).busy_seconds > o.busy_seconds);
  }
}

TEST_CASE("shared pipeline: a log changes nothing, and tells of each handler") {
  const auto plain = measure("work_stealing", 2, 2, 100'000);
  event_log log(20e6, 20.2e6);
  const auto logged = measure("work_stealing", 2, 2, 100'000, false, &log);
  CHECK(plain.latency_us == logged.latency_us);
  const std::string text = log.text();
  CHECK(text.find("actor 12 handles message 2000\n") != std::string::npos);
  CHECK(text.find("is woken by generator for processor") != std::string::npos);
}

}  // namespace shared_pipeline_test
