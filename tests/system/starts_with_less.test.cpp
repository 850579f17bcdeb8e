// A start with less than was asked for says so: a flat machine, one that cannot be read, no room
// for all workers.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "support/few_threads.hpp"
#include "support/in_child.hpp"

namespace starts_with_less_test {

namespace {

using namespace garrick;
using garrick::tests::in_child;

struct ask {};
struct answerer : actor<protocol<int(ask)>> {
  int on(ask) { return 7; }
};

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
std::ptrdiff_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

/// Starts a system and asks an actor of it. The system's messages, or the reason why it did not
/// start, go to the standard error stream.
void start_and_ask(const settings& o) {
  try {
    actor_system system(o);
    const auto a = system.spawn<answerer>();
    if (system.request(a, ask{}).get().value() != 7) std::fputs("no answer\n", stderr);
  } catch (const std::exception& e) { std::fprintf(stderr, "not started: %s\n", e.what()); }
}

}  // namespace

TEST_CASE("start: locality_guided on a flat machine says that it makes no difference, and why" *
          doctest::skip(HAS_SANITIZER)) {
  const auto said = [](const char* machine, system::log_level level) {
    return in_child([&] {
             settings o;
             o.scheduler.policy = "locality_guided";
             o.scheduler.workers = 2;
             o.scheduler.machine = machine;
             o.log.level = level;
             start_and_ask(o);
           })
        .first;
  };
  const std::string flat = said("numa:1 l3:1 core:2 pu:1", system::log_level::warning);
  CHECK(has(flat,
            "warning: scheduler: locality_guided works as work_stealing, since the machine is "
            "flat: 1 package, 1 memory node"));
  CHECK(lines(flat) == 1);
  CHECK(said("numa:1 l3:1 core:2 pu:1", system::log_level::error).empty());
  CHECK(said("numa:2 l3:1 core:2 pu:1", system::log_level::warning).empty());
}

TEST_CASE("start: a machine that cannot be read is said to count as flat, with the reason" *
          doctest::skip(HAS_SANITIZER)) {
  const auto said = [](const char* policy) {
    return in_child([&] {
             ::setenv("HWLOC_SYNTHETIC", "core:1 pu:1(indexes=60000)", 1);
             settings o;
             o.scheduler.policy = policy;
             start_and_ask(o);
           })
        .first;
  };
  const std::string guided = said("locality_guided");
  CHECK(has(guided,
            "warning: scheduler: locality_guided works as work_stealing, since the machine counts "
            "as flat: "));
  CHECK(has(guided, "hwloc knows none of the processors that this process may use"));
  CHECK(lines(guided) == 1);
  CHECK(said("work_stealing").empty());
}

TEST_CASE(
    "start: a system without room for its workers does not start, and with best_effort goes on "
    "with fewer and says so" *
    doctest::skip(HAS_SANITIZER || IS_EMULATED)) {
  const auto said = [](bool best_effort, std::uint64_t room) {
    return in_child([&] {
      settings o;
      o.scheduler.workers = 16;
      o.scheduler.best_effort = best_effort;
      const tests::room_for_threads few(room);
      start_and_ask(o);
    });
  };
  const auto [refused, refused_status] = said(false, 6);
  CHECK(WIFEXITED(refused_status));
  CHECK(has(refused, "not started: scheduler.workers is 16, but worker "));
  CHECK(lines(refused) == 1);
  const auto [fewer, fewer_status] = said(true, 6);
  CHECK(WIFEXITED(fewer_status));
  CHECK(has(fewer, "warning: scheduler: workers "));
  CHECK(has(fewer, " to 15 could not be started ("));
  CHECK_FALSE(has(fewer, "workers 0 "));
  CHECK_FALSE(has(fewer, "no answer"));
  CHECK_FALSE(has(fewer, "not started"));
  const auto [none, none_status] = said(true, 1);
  CHECK(WIFEXITED(none_status));
  CHECK(has(none, "not started: "));
}

}  // namespace starts_with_less_test
