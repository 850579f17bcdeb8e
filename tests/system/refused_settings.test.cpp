// Settings that make no sense are refused where they are given, by name: options of a system, of a
// spawn, of supervision.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

namespace {

using namespace garrick;
using testkit::test_system;

struct idle : actor<protocol<void(int)>> {
  void on(int) {}
};

std::string refusal_of_spawn(const spawn_options& o) {
  test_system kit(1);
  const auto r = kit.try_spawn<idle>(o);
  if (r.has_value()) return {};
  CHECK(r.error() == errc::spawn_failed);
  return r.error().to_string();
}

bool names(const std::string& text, const char* setting) {
  return text.find(setting) != std::string::npos;
}

std::string refusal_of_system(const std::function<void(options&)>& change) {
  options o;
  o.workers = 1;
  change(o);
  try {
    const actor_system system(o);
  } catch (const std::invalid_argument& e) { return e.what(); }
  return {};
}

}  // namespace

TEST_CASE("a spawn whose options make no sense fails and names the option") {
  CHECK(names(refusal_of_spawn({.bound = 5}), "spawn_options.bound"));
  CHECK(names(refusal_of_spawn({.policy = mailbox_policy::reject}), "spawn_options.bound"));
  CHECK(names(refusal_of_spawn({.policy = mailbox_policy::reject, .bound = 32769}),
              "spawn_options.bound"));
  CHECK(names(refusal_of_spawn({.soft_limit = 32769}), "spawn_options.soft_limit"));
  CHECK(names(refusal_of_spawn({.soft_limit = 100, .hard_limit = 99}), "spawn_options.hard_limit"));
  CHECK(names(refusal_of_spawn({.hard_limit = 3, .policy = mailbox_policy::reject, .bound = 4}),
              "spawn_options.hard_limit"));
  // below the system's soft limit
  CHECK(names(refusal_of_spawn({.hard_limit = 3}), "spawn_options.hard_limit"));
  CHECK(names(refusal_of_spawn({.lazy = true, .detached = true}), "spawn_options.lazy"));
  CHECK(refusal_of_spawn({.lazy = true}).empty());
  CHECK(refusal_of_spawn({.soft_limit = 32768, .hard_limit = 32768, .quantum = 1}).empty());
  CHECK(refusal_of_spawn({.hard_limit = 4, .policy = mailbox_policy::reject, .bound = 4}).empty());
}

TEST_CASE(
    "supervision that makes no sense fails the supervisor's spawn, or the handler that sets it, "
    "and names the setting") {
  const auto refusal = [](const supervision& how) {
    test_system kit(1);
    const auto r = kit.try_spawn<supervisor>(how);
    const auto sets = kit.spawn([how](dynamic_actor& self) -> behavior {
      self.set_supervision(how);
      return {[](int) {}};
    });
    kit.run();
    if (r.has_value()) {
      CHECK(kit.failures().empty());
      return std::string();
    }
    CHECK(r.error() == errc::spawn_failed);
    REQUIRE(kit.failures().size() == 1);
    CHECK(names(kit.failures()[0], "supervision."));
    return r.error().to_string();
  };
  CHECK(names(refusal({.window = duration()}), "supervision.window"));
  CHECK(names(refusal({.window = duration::seconds(-1)}), "supervision.window"));
  CHECK(names(refusal({.delay = {.factor = 0.5}}), "supervision.delay.factor"));
  CHECK(names(refusal({.delay = {.factor = std::nan("")}}), "supervision.delay.factor"));
  CHECK(names(refusal({.delay = {.jitter = -0.1}}), "supervision.delay.jitter"));
  CHECK(names(refusal({.delay = {.jitter = 1.1}}), "supervision.delay.jitter"));
  CHECK(names(refusal({.delay = {.first = duration::seconds(-1)}}), "supervision.delay"));
  CHECK(names(refusal({.stop_within = duration::seconds(-1)}), "supervision.stop_within"));
  CHECK(refusal({.max_restarts = 0, .delay = {.factor = 1, .jitter = 1}}).empty());
}

TEST_CASE("a child whose options make no sense is refused and names the option") {
  const auto refusal = [](const child_options& o) {
    test_system kit(1);
    const auto top = kit.spawn<supervisor>();
    const auto c = supervise<idle>(top, o);
    kit.run();
    kit.expect_down(c);
    return kit.request_as<>(any_ref(c), 1).get().error().to_string();
  };
  CHECK(names(refusal({.name = "late", .stop_within = duration::seconds(-1)}),
              "child_options.stop_within"));
  CHECK(names(refusal({.spawn = {.linked = true}}), "child_options.spawn.linked"));
  CHECK(names(refusal({.spawn = {.monitored = true}}), "child_options.spawn.monitored"));
  CHECK(names(refusal({.detached = true, .spawn = {.lazy = true}}), "spawn_options.lazy"));
}

TEST_CASE("a system whose options make no sense is not built, and the exception names the option") {
  CHECK(names(refusal_of_system([](options& o) { o.watchdog_after = duration::seconds(-1); }),
              "watchdog_after"));
  CHECK(names(refusal_of_system([](options& o) { o.shutdown_deadline = duration::seconds(-1); }),
              "shutdown_deadline"));
  CHECK(names(refusal_of_system([](options& o) { o.thread_name = "eleven-byte"; }), "thread_name"));
  CHECK(names(refusal_of_system([](options& o) { o.limits.hard_limit = 1; }), "limits.hard_limit"));
  CHECK(names(refusal_of_system([](options& o) { o.limits.full_wait_ns = -1; }),
              "limits.full_wait_ns"));
  CHECK(names(refusal_of_system([](options& o) { o.limits.full_wait_ns = std::int64_t{1} << 62; }),
              "limits.full_wait_ns"));
  CHECK(refusal_of_system([](options& o) { o.thread_name = "ten-bytes!"; }).empty());
}

TEST_CASE("a scheduler's setting that makes no sense ends the start and is named") {
  CHECK(names(refusal_of_system([](options& o) { o.workers = 1025; }),
              "scheduler.workers is 1025; allowed are 1 to 1024"));
  CHECK(names(refusal_of_system([](options& o) { o.workers = 0xffff'ffff; }), "scheduler.workers"));
  CHECK(
      names(refusal_of_system([](options& o) { o.limits.quantum = 0; }), "scheduler.quantum is 0"));
  CHECK(names(refusal_of_system([](options& o) { o.idle_spin_us = 1'000'001; }),
              "scheduler.idle_spin_us"));
  CHECK(names(refusal_of_system([](options& o) { o.policy = "random"; }),
              "scheduler.policy is \"random\"; known are"));
  CHECK(names(refusal_of_system([](options& o) { o.neighbours = "street"; }),
              "scheduler.neighbours"));
  for (const char* machine : {"castle:1", "core:0", "core:-1", "pack:1000 core:1000 pu:1000",
                              "core:99999999999999999999 pu:1"}) {
    CAPTURE(machine);
    CHECK(names(refusal_of_system([machine](options& o) { o.machine = machine; }),
                "scheduler.machine: "));
  }
  CHECK(refusal_of_system([](options& o) { o.limits.quantum = 0xffff'ffff; }).empty());
}

TEST_CASE("a system without threads for detached actors refuses to spawn one") {
  options o;
  o.workers = 1;
  o.detached_threads = 0;
  actor_system system(o);
  CHECK(system.try_spawn<idle>(spawn_options{.detached = true}).error() == errc::spawn_failed);
  CHECK(system.try_spawn<idle>().has_value());
}
