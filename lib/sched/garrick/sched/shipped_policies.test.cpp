// The table of shipped policies: every name in it makes a pool, and a wrong name is refused in
// words.
#include <garrick/sched/shipped_policies.hpp>

#include <doctest/doctest.h>

#include <set>
#include <stdexcept>
#include <string>

namespace shipped_policies_test {

using namespace garrick::sched;

TEST_CASE("every policy of the table makes a pool that has its name") {
  std::set<std::string> names;
  for (const shipped_policy& policy : shipped_policies()) {
    CAPTURE(policy.name);
    CHECK(names.insert(std::string(policy.name)).second);
    REQUIRE(policy.available);
    CHECK(make_scheduler({.policy = std::string(policy.name), .workers = 1})->policy_name() ==
          policy.name);
  }
  CHECK(names.size() == 7);
}

TEST_CASE("the default policy stands first in the table") {
  CHECK(shipped_policies().front().name == scheduler_settings().policy);
}

TEST_CASE("every policy of the table is described in one line") {
  for (const shipped_policy& policy : shipped_policies()) {
    CAPTURE(policy.name);
    CHECK(!policy.summary.empty());
    CHECK(policy.summary.size() <= 100);
    CHECK(policy.summary.find('\n') == std::string_view::npos);
  }
}

TEST_CASE("an unknown policy is refused with the names of those that there are") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(make_scheduler({.policy = "fifo", .workers = 1})),
      "the key 'scheduler.policy' wants one of work_stealing, locality_guided, work_sharing, "
      "polling_default, polling_custom, polling_aggressive, polling_new, not 'fifo'",
      std::invalid_argument);
}

}  // namespace shipped_policies_test
