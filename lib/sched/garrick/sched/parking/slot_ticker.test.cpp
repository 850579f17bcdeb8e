// The slot ticker: how it is armed ahead of need, how often it looks, when it rests, and which
// workers it finds behind.
#include <garrick/sched/parking/slot_looks.hpp>
#include <garrick/sched/parking/slot_ticker.hpp>

#include <doctest/doctest.h>

namespace slot_ticker_test {

using namespace garrick::sched;

namespace {

/// Counts tokens; no thread sleeps.
struct counting_parker {
  static inline int tokens = 0;
  void park() noexcept { --tokens; }
  void unpark() noexcept { ++tokens; }
};

struct ticker : slot_ticker<garrick::base::real_atomics, counting_parker> {
  ticker() { counting_parker::tokens = 0; }
  static int tokens() { return counting_parker::tokens; }
};

constexpr std::uint64_t us = 1000;
constexpr std::uint64_t ms = 1000 * us;

}  // namespace

TEST_CASE("arming wakes the ticker once") {
  ticker t;
  CHECK_FALSE(t.armed());
  t.arm();
  t.arm();
  CHECK(t.armed());
  CHECK(t.tokens() == 1);
  t.sleep_until_armed();
  t.disarm(false);
  CHECK_FALSE(t.armed());
  t.arm();
  CHECK(t.tokens() == 1);
}

TEST_CASE(
    "outside threads arm ahead only if a worker had to arm it last time, and a slot was then "
    "used") {
  ticker t;
  CHECK_FALSE(t.arm_ahead());  // no slot was used yet
  t.arm();
  CHECK_FALSE(t.arm_ahead());  // it is armed
  t.sleep_until_armed();
  t.disarm(false);

  CHECK(t.arm_ahead());
  CHECK(t.armed());  // before the token: the worker that is woken meanwhile relies on it (K3)
  CHECK(t.tokens() == 0);
  CHECK_FALSE(t.arm_ahead());  // one promise is enough
  t.keep_promise();
  CHECK(t.tokens() == 1);
  t.sleep_until_armed();
  t.disarm(true);

  CHECK_FALSE(t.arm_ahead());
  CHECK_FALSE(t.armed());
  t.arm();
  t.sleep_until_armed();
  t.disarm(false);
  CHECK(t.arm_ahead());
}

TEST_CASE("arming between a promise and its keeping leaves exactly one token") {
  ticker t;
  t.arm();
  t.sleep_until_armed();
  t.disarm(false);
  REQUIRE(t.arm_ahead());
  t.arm();
  CHECK(t.tokens() == 1);
  t.keep_promise();
  CHECK(t.tokens() == 1);
}

TEST_CASE(
    "a ticker that stays awake waits for no promise, and takes the token of a thread that armed it "
    "meanwhile") {
  ticker t;
  t.arm();
  t.sleep_until_armed();
  t.disarm(false);
  REQUIRE(t.arm_ahead());
  t.stay_awake();
  CHECK(t.armed());
  t.keep_promise();
  CHECK(t.tokens() == 0);

  t.disarm(false);
  t.arm();
  CHECK(t.tokens() == 1);
  t.stay_awake();
  CHECK(t.tokens() == 0);
  CHECK(t.armed());
}

TEST_CASE("a ticker rests when everybody is parked or no slot has been used for a while") {
  tick_budget budget;
  budget.armed(10 * ms);
  CHECK(budget.may_rest(10 * ms, true, true));
  CHECK_FALSE(budget.may_rest(10 * ms, true, false));
  CHECK_FALSE(budget.may_rest(11 * ms - us, false, false));
  CHECK(budget.may_rest(11 * ms, false, false));
  // Woken again at once, it stays awake although all workers are parked.
  budget.armed(12 * ms);
  budget.armed(12 * ms + 10 * us);
  CHECK_FALSE(budget.may_rest(12 * ms + 20 * us, false, true));
  CHECK(budget.may_rest(13 * ms + 10 * us, false, true));
}

TEST_CASE(
    "a ticker keeps to a sixty-fourth of a core, with an allowance, and is trusted again after an "
    "exposure") {
  tick_budget budget;
  std::uint64_t wall = 100 * ms;
  std::uint64_t cpu = 0;
  static_cast<void>(budget.after_look(wall, cpu));
  int at_full_speed = 0;
  std::uint64_t pause = 0;
  for (int i = 0; i < 10'000; ++i) {
    pause = budget.after_look(wall += pause + 40 * us, cpu += 40 * us);
    at_full_speed += pause == tick_budget::period_ns ? 1 : 0;
  }
  CHECK(pause == 40 * us * 63);
  CHECK(at_full_speed > 5);
  CHECK(at_full_speed < 50);
  CHECK(static_cast<double>(cpu) / static_cast<double>(wall - 100 * ms) < 1.02 / 64);
  budget.refill();
  CHECK(budget.after_look(wall + 40 * us, cpu + 40 * us) == tick_budget::period_ns);
}

TEST_CASE("a worker is behind that has open work at two looks and has not emptied its own queues") {
  const auto yes = [] { return true; };
  const auto no = [] { return false; };
  backlog_looks<garrick::base::real_atomics> looks(2);
  CHECK_FALSE(looks.is_behind(0, yes, 3));  // the first look
  CHECK(looks.is_behind(0, yes, 3));
  CHECK(looks.is_behind(0, yes, 3));        // still
  CHECK_FALSE(looks.is_behind(1, yes, 3));  // the first look at this worker
  CHECK_FALSE(looks.is_behind(0, yes, 4));  // it emptied its queues, so the work is new
  CHECK_FALSE(looks.is_behind(0, no, 4));   // it has none
  CHECK_FALSE(looks.is_behind(0, yes, 4));
  int left = 3;
  CHECK_FALSE(looks.is_behind(0, [&left] { return left-- > 0; }, 4));  // for a moment only
  CHECK(looks.some_open());
  CHECK(looks.is_behind(0, yes, 4));
}

}  // namespace slot_ticker_test
