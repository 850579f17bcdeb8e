// The timing wheel: the order and time at which timers fire, checked against a sorted map too.
#include "garrick/base/time/timing_wheel.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace timing_wheel_test {

using garrick::base::duration;
using garrick::base::instant;
using garrick::base::timer_id;
using garrick::base::timer_task;
using garrick::base::timing_wheel;

namespace {

instant at(std::int64_t ns) { return instant::at(duration::nanoseconds(ns)); }
timer_task task(std::uint64_t argument) {
  return {.fire = nullptr, .context = nullptr, .argument = argument, .drop = nullptr};
}

std::vector<std::uint64_t> due(timing_wheel& wheel, instant now) {
  std::vector<std::uint64_t> out;
  timing_wheel::expired x;
  while (wheel.pop(now, x)) {
    if (x.deadline > now) FAIL("fired early");
    out.push_back(x.task.argument);
  }
  return out;
}

using list = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("nothing fires before its deadline, to the nanosecond") {
  timing_wheel wheel(at(0));
  wheel.arm(at(1000), task(1));
  CHECK(due(wheel, at(999)).empty());
  CHECK(due(wheel, at(1000)) == list{1});
  CHECK(wheel.size() == 0);
}

TEST_CASE("the order is that of deadlines, then of arming") {
  timing_wheel wheel(at(0));
  wheel.arm(at(5'000'000), task(3));
  wheel.arm(at(5'000'000), task(4));
  wheel.arm(at(4'999'999), task(2));
  wheel.arm(at(10), task(1));
  wheel.arm(at(3'600'000'000'000), task(5));
  CHECK(due(wheel, at(6'000'000)) == list{1, 2, 3, 4});
  CHECK(due(wheel, at(4'000'000'000'000)) == list{5});
}

TEST_CASE("a cancelled timer does not fire, and an old id cancels nothing") {
  timing_wheel wheel(at(0));
  const timer_id a = wheel.arm(at(100), task(1));
  const timer_id b = wheel.arm(at(1'000'000'000), task(2));
  timer_task out;
  CHECK(wheel.cancel(b, &out));
  CHECK(out.argument == 2);
  CHECK_FALSE(wheel.cancel(b));
  const timer_id c = wheel.arm(at(1'000'000'000), task(3));
  CHECK(c.index == b.index);
  CHECK_FALSE(wheel.cancel(b));
  CHECK(due(wheel, at(200)) == list{1});
  CHECK_FALSE(wheel.cancel(a));
  CHECK_FALSE(wheel.cancel({}));
  CHECK_FALSE(wheel.cancel({123456, 7}));
  CHECK(due(wheel, at(1'000'000'000)) == list{3});
}

TEST_CASE("the next look is the first deadline") {
  timing_wheel wheel(at(5));
  CHECK(wheel.next_look() == instant::never());
  const timer_id far = wheel.arm(at(86'400'000'000'000), task(1));
  CHECK(wheel.next_look() == at(86'400'000'000'000));
  const timer_id near = wheel.arm(at(50'000'000), task(2));
  CHECK(wheel.next_look() == at(50'000'000));
  CHECK(wheel.cancel(near));
  CHECK(wheel.next_look() == at(86'400'000'000'000));
  CHECK(wheel.cancel(far));
  CHECK(wheel.next_look() == instant::never());
}

TEST_CASE("the farthest future is no special case") {
  timing_wheel wheel(at(1));
  wheel.arm(at(std::numeric_limits<std::int64_t>::max() - 1), task(1));
  CHECK_FALSE(static_cast<bool>(wheel.arm(instant::never(), task(2))));
  CHECK(due(wheel, at(1'000'000'000'000'000)).empty());
  CHECK(wheel.next_look() == at(std::numeric_limits<std::int64_t>::max() - 1));
  CHECK(due(wheel, at(std::numeric_limits<std::int64_t>::max() - 1)) == list{1});
}

TEST_CASE("a hundred thousand timers of one instant fire in the order of arming") {
  timing_wheel wheel(at(0));
  for (std::uint64_t i = 0; i < 100'000; ++i) wheel.arm(at(1'000'000'000), task(i));
  const list order = due(wheel, at(1'000'000'000));
  CHECK(order.size() == 100'000);
  CHECK(std::ranges::is_sorted(order));
}

TEST_CASE("remaining timers can be taken out") {
  timing_wheel wheel(at(0));
  for (unsigned i = 0; i < 100; ++i) wheel.arm(at(std::int64_t{i} * i * i * i * 1000), task(i));
  list left;
  timer_task out;
  while (wheel.pop_any(out)) left.push_back(out.argument);
  std::ranges::sort(left);
  CHECK(left.size() == 100);
  CHECK(left.front() == 0);
  CHECK(left.back() == 99);
  CHECK(wheel.size() == 0);
}

TEST_CASE("random arming, cancelling and time agree with a sorted map") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::minstd_rand random(seed);
    std::int64_t now = 1'000'000'000 + seed;
    timing_wheel wheel(at(now));
    std::map<std::pair<std::int64_t, std::uint64_t>, timer_id> model;
    std::uint64_t next = 0;
    for (int step = 0; step < 3000; ++step) {
      const auto what = random() % 10;
      // half of the seeds leave slots half open: not all timers are moved before the next step
      if (unsigned moves = 3; seed % 2 == 0) wheel.sort_until(at(now), moves);
      if (what < 6) {
        const std::int64_t range = std::int64_t{1} << (random() % 44);
        const std::int64_t deadline =
            now - 1000 + static_cast<std::int64_t>(random()) * 7919 % range;
        model[{deadline, next}] = wheel.arm(at(deadline), task(next));
        ++next;
      } else if (what < 8 && !model.empty()) {
        const auto chosen =
            std::next(model.begin(), static_cast<std::ptrdiff_t>(random() % model.size()));
        REQUIRE(wheel.cancel(chosen->second));
        model.erase(chosen);
      } else {
        now += std::int64_t{1} << (random() % 36);
        list expected;
        while (!model.empty() && model.begin()->first.first <= now) {
          expected.push_back(model.begin()->first.second);
          model.erase(model.begin());
        }
        REQUIRE(due(wheel, at(now)) == expected);
      }
      REQUIRE(wheel.size() == model.size());
      if (!model.empty() && seed % 4 == 0)
        REQUIRE(wheel.first_deadline() == at(model.begin()->first.first));
      if (!model.empty()) REQUIRE(wheel.next_look() <= at(model.begin()->first.first));
    }
  }
}

TEST_CASE("a crowded far slot is looked at when it begins") {
  timing_wheel wheel(at(0));
  for (unsigned i = 0; i < 1000; ++i)
    wheel.arm(at(10'000'000'000'000 + std::int64_t{i} * 40), task(i));
  CHECK(wheel.next_look() < at(10'000'000'000'000));
  CHECK(due(wheel, wheel.next_look()).empty());
  CHECK(wheel.size() == 1000);
}

TEST_CASE("looking again and again finds every timer, however crowded its slot") {
  timing_wheel wheel(at(0));
  for (unsigned i = 0; i < 1000; ++i)
    wheel.arm(at(10'000'000'000'000 + std::int64_t{i} * 40), task(i));
  CHECK(wheel.first_deadline() == at(10'000'000'000'000));
  std::uint64_t fired = 0;
  int looks = 0;
  while (wheel.next_look() != instant::never()) {
    ++looks;
    const instant now = wheel.next_look();
    for (const std::uint64_t argument : due(wheel, now)) {
      CHECK(argument == fired++);
      CHECK(now == at(10'000'000'000'000 + static_cast<std::int64_t>(argument) * 40));
    }
  }
  CHECK(fired == 1000);
  CHECK(looks < 1010);
}

TEST_CASE("a crowded slot is opened in steps, between which timers are armed and cancelled") {
  timing_wheel wheel(at(0));
  constexpr std::uint64_t crowd = 10'000;
  constexpr std::int64_t begin = 1'000'000'000;
  std::vector<timer_id> ids;
  for (std::uint64_t i = 0; i < crowd; ++i)
    ids.push_back(wheel.arm(at(begin + static_cast<std::int64_t>(i) * 10), task(i)));
  list expected;
  std::uint64_t steps = 0;
  for (unsigned moves = 16; !wheel.sort_until(at(begin * 2), moves); moves = 16) {
    CHECK(moves == 0);
    if (++steps > crowd / 2) continue;
    // this timer is still to be moved, or has been moved already
    CHECK(wheel.cancel(ids[steps * 2 - 1]));
    CHECK(wheel.next_look() <= at(begin));
    const auto late = begin + static_cast<std::int64_t>(crowd + steps) * 10;
    wheel.arm(at(late), task(crowd + steps));
  }
  CHECK(steps >= crowd / 16 - 100);
  for (std::uint64_t i = 0; i < crowd; ++i)
    if (i % 2 == 0 || i > steps * 2) expected.push_back(i);
  for (std::uint64_t i = 1; i <= steps; ++i) expected.push_back(crowd + i);
  CHECK(due(wheel, at(begin * 2)) == expected);
  CHECK(wheel.size() == 0);
}

TEST_CASE("cancelling everything in a slot that is half open leaves an empty wheel") {
  timing_wheel wheel(at(0));
  std::vector<timer_id> ids;
  for (unsigned i = 0; i < 100; ++i) ids.push_back(wheel.arm(at(1'000'000'000 + i), task(i)));
  unsigned moves = 40;
  REQUIRE_FALSE(wheel.sort_until(at(2'000'000'000), moves));
  for (const timer_id id : ids) CHECK(wheel.cancel(id));
  CHECK(wheel.size() == 0);
  moves = 40;
  CHECK(wheel.sort_until(at(2'000'000'000), moves));
  CHECK(moves == 40);
  CHECK(wheel.next_look() == instant::never());
  wheel.arm(at(2'500'000'000), task(7));
  CHECK(wheel.first_deadline() == at(2'500'000'000));
}

TEST_CASE("remaining timers can be taken out of a slot that is half open") {
  timing_wheel wheel(at(0));
  for (unsigned i = 0; i < 100; ++i) wheel.arm(at(1'000'000'000 + i), task(i));
  unsigned moves = 40;
  REQUIRE_FALSE(wheel.sort_until(at(2'000'000'000), moves));
  timer_task out;
  for (unsigned i = 0; i < 100; ++i) CHECK(wheel.pop_any(out));
  CHECK_FALSE(wheel.pop_any(out));
}

}  // namespace timing_wheel_test
