// The run right of an actor that pauses, when its clock was stopped or never calls.
#include <doctest/doctest.h>
#include <garrick/base/time/timer_service.hpp>
#include <garrick/core/overload/internal/paused_senders.hpp>

namespace paused_senders_test {

using namespace garrick;

namespace {

struct nothing final : base::runnable {
  base::run_outcome run(std::uint32_t&) noexcept override { return base::run_outcome::released; }
};
struct counting final : base::executor {
  void schedule(base::runnable&) noexcept override { ++scheduled; }
  bool claim(base::runnable&) noexcept override { return false; }
  void expose() noexcept override {}
  int scheduled = 0;
};

}  // namespace

TEST_CASE("paused senders: a clock that was stopped lets the actor go on at once, and once") {
  nothing who;
  counting home;
  base::timer_service clock;
  clock.stop();
  core::paused_senders all;
  core::paused_sender* const one = all.add(who, home, clock, base::duration::seconds(60));
  REQUIRE(one != nullptr);
  CHECK(home.scheduled == 1);
  CHECK_FALSE(one->claim());
  one->drop();
  all.go_on();
  CHECK(home.scheduled == 1);
}

TEST_CASE("paused senders: patience without an end needs no clock") {
  nothing who;
  counting home;
  base::timer_service clock;
  core::paused_senders all;
  core::paused_sender* const one = all.add(who, home, clock, base::duration::infinite());
  REQUIRE(one != nullptr);
  one->drop();
  CHECK(home.scheduled == 0);
  CHECK(clock.pending() == 0);
  all.go_on();
  CHECK(home.scheduled == 1);
}

}  // namespace paused_senders_test
