// The explorer: the seed that it names, the replay, and the text of the failure.
#include <garrick/garrick.hpp>
#include <garrick/testkit/explore.hpp>

#include <doctest/doctest.h>
#include <support/with_variable.hpp>

#include <string>

namespace explore_test {

using namespace garrick;
using testkit::test_system;

namespace {

/// Fails if the second of two actors runs first.
void first_come(test_system& kit) {
  std::string order;
  const auto a = kit.spawn(
      lent([&](dynamic_actor&) -> behavior { return {[&order](int) { order += "a"; }}; }));
  const auto b = kit.spawn(
      lent([&](dynamic_actor&) -> behavior { return {[&order](int) { order += "b"; }}; }));
  send(a, 1);
  send(b, 1);
  kit.run();
  kit.require(order == "ab", "the order was " + order);
}

}  // namespace

TEST_CASE("the first failing seed is found and fails again") {
  const auto found = testkit::find_failure(1000, first_come);
  REQUIRE(found.has_value());
  CHECK(found->replays);
  CHECK(found->text.find("the order was ba") != std::string::npos);
  for (std::uint64_t seed = 1; seed < found->seed; ++seed)
    CHECK(testkit::run_seed(seed, first_come) == "");
  CHECK(testkit::run_seed(found->seed, first_come) == found->text);
}

TEST_CASE("explore throws the text that it has printed") {
  const tests::with_variable variable("GARRICK_SEEDS", nullptr);
  const auto found = testkit::find_failure(1000, first_come);
  REQUIRE(found.has_value());
  try {
    testkit::explore(1000, first_come);
    FAIL("explore found nothing");
  } catch (const testkit::failure& x) {
    CHECK(x.seed() == found->seed);
    CHECK(std::string(x.what()).find("seed " + std::to_string(found->seed)) != std::string::npos);
  }
}

TEST_CASE("a scenario that holds passes every seed") {
  const tests::with_variable variable("GARRICK_SEEDS", nullptr);
  std::uint64_t runs = 0;
  testkit::explore(50, [&](test_system& kit) {
    ++runs;
    kit.require(kit.seed() == runs, "the seeds come in order");
  });
  CHECK(runs == 50);
}

TEST_CASE("GARRICK_SEED chooses the one seed that runs") {
  const tests::with_variable variable("GARRICK_SEED", "17");
  std::uint64_t runs = 0;
  testkit::explore(1000, [&](test_system& kit) {
    ++runs;
    CHECK(kit.seed() == 17);
  });
  CHECK(runs == 1);
  CHECK(test_system().seed() == 17);
}

TEST_CASE("GARRICK_SEEDS chooses how many seeds are explored") {
  const tests::with_variable variable("GARRICK_SEEDS", "20");
  std::uint64_t runs = 0;
  testkit::explore(1000, [&](test_system&) { ++runs; });
  CHECK(runs == 20);
}

TEST_CASE("no seeds at all are refused") {
  const tests::with_variable variable("GARRICK_SEEDS", "0");
  CHECK_THROWS_WITH_AS(testkit::explore(10, [](test_system&) {}),
                       "GARRICK_SEEDS=0: must be at least 1, or the scenario would not run at all",
                       std::invalid_argument);
}

TEST_CASE("a GARRICK_SEED that is no number is an error with advice") {
  const tests::with_variable variable("GARRICK_SEED", "seventeen");
  CHECK_THROWS_WITH_AS(
      static_cast<void>(testkit::seed_from_environment(1)),
      "GARRICK_SEED=seventeen: must be a whole number, for example GARRICK_SEED=17",
      std::invalid_argument);
}

TEST_CASE("a scenario that leaks fails") {
  const std::string text = testkit::run_seed(1, [](test_system& kit) {
    const auto a = kit.spawn([](dynamic_actor&) -> behavior { return {[](int) {}}; });
    const auto keeper = kit.spawn(
        [](dynamic_actor& self, any_ref other) -> behavior {
          return {[&self, other](int) { self.become([me = any_ref(self.self()), other](int) {}); }};
        },
        any_ref(a));
    send(keeper, 1);
    kit.run();
  });
  CHECK(text.find("kept these actors alive") != std::string::npos);
}

TEST_CASE("a scenario may throw anything") {
  CHECK(testkit::run_seed(1, [](test_system&) { throw std::runtime_error("odd"); }) == "odd");
  CHECK(testkit::run_seed(1, [](test_system&) { throw 1; }) != "");
}

}  // namespace explore_test
