// A plain actor system takes its settings from the environment, and from nowhere else.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/system/settings/load.hpp>
#include <garrick/testkit/test_system.hpp>

#include <stdexcept>
#include <string>

#include "support/with_variable.hpp"

namespace environment_settings_test {

namespace {

using namespace garrick;
using tests::with_variable;

/// Returns a plain system's refusal of a variable; empty if it starts.
std::string refusal(const char* name, const char* value) {
  const with_variable variable(name, value);
  try {
    const actor_system system;
  } catch (const std::invalid_argument& e) { return e.what(); }
  return {};
}

}  // namespace

TEST_CASE("a plain system has the settings of the environment, and knows where they came from") {
  const with_variable workers("GARRICK_SCHEDULER_WORKERS", "1");
  const with_variable limit("GARRICK_MAILBOX_SOFT_LIMIT", "77");
  actor_system system;
  CHECK(system.settings().scheduler.workers == 1);
  CHECK(system.settings().mailbox.soft_limit == 77);
  for (const auto& [key, value, source] : system::list_settings(system.settings())) {
    if (key == "scheduler.workers")
      CHECK(source == "environment variable GARRICK_SCHEDULER_WORKERS");
    if (key == "log.level") CHECK(source == "default");
  }
}

TEST_CASE("settings that code gives, and the testkit, do not look at the environment") {
  const with_variable limit("GARRICK_MAILBOX_SOFT_LIMIT", "77");
  const with_variable unknown("GARRICK_FOO", "1");
  settings one_worker;
  one_worker.scheduler.workers = 1;
  const actor_system system(one_worker);
  CHECK(system.settings().mailbox.soft_limit == settings().mailbox.soft_limit);
  const testkit::test_system kit;
}

TEST_CASE("a wrong variable is an error that names it, and no system starts") {
  CHECK(refusal("GARRICK_SCHEDULER_WOKERS", "1") ==
        "environment variable GARRICK_SCHEDULER_WOKERS: there is no variable "
        "'GARRICK_SCHEDULER_WOKERS'; did you mean 'GARRICK_SCHEDULER_WORKERS'?");
  CHECK(refusal("GARRICK_SCHEDULER_WORKERS", "many") ==
        "environment variable GARRICK_SCHEDULER_WORKERS: the key 'scheduler.workers' wants a whole "
        "number from 0 to 1024 (threads), not 'many'");
  CHECK(refusal("GARRICK_NET_PORT", "80").find("net.* belongs to garrick::net") !=
        std::string::npos);
}

TEST_CASE("variables of tests are none of a plain system's") {
  CHECK(refusal("GARRICK_SEED", "17") == "");
  CHECK(refusal("GARRICK_SEEDS", "20") == "");
  CHECK(refusal("GARRICK_TORTURE", "3") == "");
}

TEST_CASE("a plain system passes over the keys of a program that has loaded its settings") {
  CHECK(refusal("GARRICK_HARBOUR_CRANES", "3").find("there is no variable") != std::string::npos);
  std::uint32_t cranes = 1;
  base::setting_table mine;
  mine.add({"harbour.cranes", &cranes, {1, 9}, "cranes", "How many there are"});
  system::setting_layers layers;
  layers.own = &mine;
  REQUIRE(system::load_settings(layers));
  CHECK(refusal("GARRICK_HARBOUR_CRANES", "3") == "");
  CHECK(refusal("GARRICK_CONFIG", "harbour.json") == "");
}

}  // namespace environment_settings_test
