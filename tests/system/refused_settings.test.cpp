// Settings that make no sense are refused where they are given, by name: those of a system, and
// the options of a spawn and of supervision.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <atomic>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

#include "support/few_threads.hpp"
#include "support/in_child.hpp"

namespace refused_settings_test {

namespace {

using namespace garrick;
using testkit::test_system;

struct idle : actor<protocol<void(int)>> {
  void on(int) {}
};

std::string refusal_of_spawn(const spawn_options& o, const testkit::settings& system = {}) {
  test_system kit(system);
  const auto r = kit.try_spawn<idle>(o);
  if (r.has_value()) return {};
  CHECK(r.error() == errc::spawn_failed);
  return r.error().to_string();
}

bool names(const std::string& text, const char* setting) {
  return text.find(setting) != std::string::npos;
}

std::string refusal_of_system(const std::function<void(settings&)>& change) {
  settings o;
  o.scheduler.workers = 1;
  change(o);
  try {
    const actor_system system(o);
  } catch (const std::invalid_argument& e) { return e.what(); }
  return {};
}

}  // namespace

TEST_CASE("a spawn with options that make no sense fails and names the option") {
  CHECK(names(refusal_of_spawn({.bound = 5}), "spawn_options.bound"));
  CHECK(names(refusal_of_spawn({.policy = mailbox_policy::reject}), "spawn_options.bound"));
  CHECK(names(refusal_of_spawn({.policy = mailbox_policy::reject, .bound = 32769}),
              "spawn_options.bound"));
  CHECK(names(refusal_of_spawn({.policy = mailbox_policy::drop_oldest, .bound = 5}),
              "through a garrick::latest<T>"));
  CHECK(names(refusal_of_spawn({.soft_limit = 32769}), "spawn_options.soft_limit"));
  CHECK(names(refusal_of_spawn({.hard_limit = core::most_messages_at_all + 1}),
              "spawn_options.hard_limit"));
  CHECK(refusal_of_spawn({.hard_limit = core::most_messages_at_all}).empty());
  CHECK(names(refusal_of_spawn({.soft_limit = 100, .hard_limit = 99}),
              "spawn_options.hard_limit: must not be below spawn_options.soft_limit, which is 100 "
              "messages; it is 99"));
  CHECK(names(refusal_of_spawn({.hard_limit = 3, .policy = mailbox_policy::wait, .bound = 4}),
              "spawn_options.hard_limit: must not be below spawn_options.bound, which is 4"));
  CHECK(names(refusal_of_spawn({.hard_limit = 3}),
              "spawn_options.hard_limit: must not be below mailbox.soft_limit, which is 512"));
  const testkit::settings low{.mailbox = {.soft_limit = 10, .hard_limit = 20}};
  CHECK(names(refusal_of_spawn({.soft_limit = 21}, low),
              "mailbox.hard_limit: must not be below spawn_options.soft_limit, which is 21"));
  CHECK(refusal_of_spawn({.soft_limit = 20}, low).empty());
  CHECK(names(refusal_of_spawn({.lazy = true, .detached = true}), "spawn_options.lazy"));
  CHECK(names(refusal_of_spawn({.policy = mailbox_policy(99), .bound = 4}),
              "spawn_options.policy: is no mailbox_policy"));
  CHECK(refusal_of_spawn({.policy = mailbox_policy::wait, .bound = 513}).empty());
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
    const auto sets = kit.spawn(lent([how](dynamic_actor& self) -> behavior {
      self.set_supervision(how);
      return {[](int) {}};
    }));
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
  CHECK(names(refusal({.strategy = restart_strategy(9)}),
              "supervision.strategy: is no restart_strategy"));
  CHECK(refusal({.strategy = rest_for_one}).empty());
  CHECK(names(refusal({.window = duration()}), "supervision.window"));
  CHECK(names(refusal({.window = duration::seconds(-1)}), "supervision.window"));
  CHECK(names(refusal({.delay = {.factor = 0.5}}), "supervision.delay.factor"));
  CHECK(names(refusal({.delay = {.factor = std::nan("")}}), "supervision.delay.factor"));
  CHECK(names(refusal({.delay = {.factor = HUGE_VAL}}), "supervision.delay.factor"));
  CHECK(names(refusal({.delay = {.first = duration::infinite()}}), "supervision.delay.first"));
  CHECK(
      refusal({.delay = {.first = duration::seconds(1), .longest = duration::infinite()}}).empty());
  CHECK(names(refusal({.delay = {.jitter = -0.1}}), "supervision.delay.jitter"));
  CHECK(names(refusal({.delay = {.jitter = 1.1}}), "supervision.delay.jitter"));
  CHECK(names(refusal({.delay = {.first = duration::seconds(-1)}}), "supervision.delay"));
  const backoff contradicts{.first = duration::seconds(600), .longest = duration::seconds(30)};
  CHECK(names(refusal({.delay = contradicts}),
              "supervision.delay.longest: must not be below first, which is 600s; it is 30s"));
  CHECK(refusal({.delay = {.first = duration::seconds(600)}}).empty());
  CHECK(names(refusal({.stop_within = duration::seconds(-1)}), "supervision.stop_within"));
  CHECK(refusal({.max_restarts = 0, .delay = {.factor = 1, .jitter = 1}}).empty());
}

TEST_CASE("a child with options that make no sense is refused and names the option") {
  const auto refusal = [](const child_options& o) {
    test_system kit(1);
    const auto top = kit.spawn<supervisor>();
    const auto c = supervise<idle>(top, o);
    kit.run();
    kit.expect_down(c);
    return kit.request_as<>(any_ref(c), 1).get().error().to_string();
  };
  CHECK(names(refusal({.restart = restart_policy(3)}),
              "child_options.restart: is no restart_policy"));
  CHECK(names(refusal({.name = "late", .stop_within = duration::seconds(-1)}),
              "child_options.stop_within"));
  CHECK(names(refusal({.spawn = {.linked = true}}), "child_options.spawn.linked"));
  CHECK(names(refusal({.spawn = {.monitored = true}}), "child_options.spawn.monitored"));
  CHECK(names(refusal({.detached = true, .spawn = {.lazy = true}}), "spawn_options.lazy"));
}

TEST_CASE(
    "a system with settings that make no sense is not built, and the exception names the key") {
  CHECK(names(refusal_of_system([](settings& s) { s.watchdog.after = duration::seconds(-1); }),
              "code: the key 'watchdog.after' wants a time with a unit from 0s to infinite"));
  CHECK(names(refusal_of_system([](settings& s) { s.shutdown.deadline = duration::seconds(-1); }),
              "'shutdown.deadline'"));
  CHECK(names(refusal_of_system([](settings& s) { s.scheduler.thread_name = "eleven-byte"; }),
              "'scheduler.thread_name'"));
  CHECK(names(refusal_of_system([](settings& s) { s.mailbox.hard_limit = 1; }),
              "code: the key 'mailbox.hard_limit' must not be below 'mailbox.soft_limit'"));
  CHECK(
      names(refusal_of_system([](settings& s) { s.mailbox.full_wait = duration::nanoseconds(-1); }),
            "'mailbox.full_wait'"));
  CHECK(names(refusal_of_system([](settings& s) { s.mailbox.full_wait = duration::seconds(61); }),
              "'mailbox.full_wait'"));
  CHECK(names(refusal_of_system([](settings& s) { s.log.level = system::log_level(9); }),
              "code: the key 'log.level' wants one of debug, info, warning, error, off, not '9'"));
  CHECK(names(refusal_of_system([](settings& s) { s.scheduler.policy = "random"; }),
              "code: the key 'scheduler.policy' wants one of work_stealing, "));
  for (const char* machine : {"castle:1", "core:0", "core:-1", "pack:1000 core:1000 pu:1000",
                              "core:99999999999999999999 pu:1"}) {
    CAPTURE(machine);
    CHECK(names(refusal_of_system([machine](settings& s) { s.scheduler.machine = machine; }),
                "'scheduler.machine'"));
  }
  CHECK(refusal_of_system([](settings& s) { s.scheduler.thread_name = "ten-bytes!"; }).empty());
  CHECK(refusal_of_system([](settings& s) { s.scheduler.quantum = 0xffff'ffff; }).empty());
}

TEST_CASE("a deterministic system refuses the same limits as a real one") {
  testkit::settings s;
  s.mailbox.soft_limit = core::most_messages + 1;
  CHECK_THROWS_WITH_AS(
      test_system kit(s),
      "the key 'mailbox.soft_limit' wants a whole number from 1 to 32768 (messages), not '32769'",
      std::invalid_argument);
}

TEST_CASE("a system tells its values at the start, and where each comes from") {
  settings s;
  s.scheduler.workers = 1;
  const actor_system running(s);
  CHECK(running.settings().scheduler.workers == 1);
  for (const system::setting_report& r : system::list_settings(running.settings())) {
    CAPTURE(r.key);
    CHECK(r.source == (r.key == "scheduler.workers" ? "code" : "default"));
  }
}

TEST_CASE("a program's own hooks run on each worker thread, with the system's around them") {
  static std::atomic<int> started{0};
  static std::atomic<int> stopped{0};
  for (const bool report : {true, false}) {
    started = stopped = 0;
    settings s;
    s.scheduler.workers = 2;
    s.watchdog.report_stack_overflow = report;
    s.scheduler.on_thread_start = {
        [](void* counter, std::uint32_t) { ++*static_cast<std::atomic<int>*>(counter); }, &started};
    s.scheduler.on_thread_stop = {
        [](void* counter, std::uint32_t) { ++*static_cast<std::atomic<int>*>(counter); }, &stopped};
    {
      const actor_system running(s);
      CHECK(started == 2);
      CHECK(stopped == 0);
    }
    CHECK(stopped == 2);
  }
}

TEST_CASE("a system without threads for detached actors refuses to spawn one") {
  settings o;
  o.scheduler.workers = 1;
  o.detached.threads = 0;
  actor_system system(o);
  const error why = system.try_spawn<idle>(spawn_options{.detached = true}).error();
  CHECK(why == errc::spawn_failed);
  CHECK(why.detail().find("detached.threads is 0") != std::string_view::npos);
  CHECK(system.try_spawn<idle>().has_value());
}

TEST_CASE("a detached actor for which the operating system has no thread is an error that says so" *
          doctest::skip(HAS_SANITIZER || IS_EMULATED)) {
  actor_system system;
  const garrick::tests::room_for_threads none(0);
  const error why = system.try_spawn<idle>(spawn_options{.detached = true}).error();
  CHECK(why == errc::spawn_failed);
  CHECK(why.detail().find("the operating system refuses one (") != std::string_view::npos);
}

}  // namespace refused_settings_test
