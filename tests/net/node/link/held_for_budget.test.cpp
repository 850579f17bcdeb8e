// Lanes that are held up while the peer's budget for decoding is overdrawn.
#include <doctest/doctest.h>

#include <cstdint>

#include "net/node/link/holding.hpp"

namespace held_lanes_test {

using internal::decoding_budget;

constexpr std::size_t second_of_budget = std::size_t{decoding_budget::per_second};

/// Overdraws the budget, so that it takes `wait` to end that.
void overdraw(fixture& f, duration wait) {
  const auto ms_of_it = static_cast<std::size_t>(wait.count() / 1'000'000);
  f.budget.pay(static_cast<std::size_t>(f.budget.left()) + second_of_budget * ms_of_it / 1000 + 1);
}
constexpr duration just_after(duration d) { return d + duration::nanoseconds(100); }

TEST_CASE("held for budget: frames that are decoded wait, and others pass") {
  fixture f;
  CHECK_FALSE(f.come({.number = 1}));
  overdraw(f, ms(100));
  for (const frame_kind k :
       {frame_kind::error, frame_kind::cancel, frame_kind::link, frame_kind::unlink,
        frame_kind::monitor, frame_kind::demonitor, frame_kind::down, frame_kind::exit,
        frame_kind::kill, frame_kind::release, frame_kind::credit, frame_kind::resolved})
    CHECK_FALSE(f.come({.number = 2, .kind = k}));
  CHECK(f.lanes.empty());
  lane_number lane = 10;
  for (const frame_kind k : {frame_kind::message, frame_kind::request, frame_kind::response,
                             frame_kind::resolve, frame_kind::spawn, frame_kind::spawned})
    CHECK(f.come({.number = lane, .lane = ++lane, .kind = k, .has_block = false}));
  CHECK(f.lanes.size() == 6);
  CHECK(f.come({.number = 30, .lane = 11, .kind = frame_kind::credit}));  // behind another (H1)
  f.lanes.go_on();
  CHECK(f.read.empty());
}

TEST_CASE("held for budget: the lanes go on, in order, when the budget is overdrawn no more") {
  fixture f;
  overdraw(f, ms(100));
  CHECK(f.come({.number = 1}));
  CHECK(f.come({.number = 2, .lane = 4, .has_block = false}));
  CHECK(f.come({.number = 3}));
  CHECK(f.come({.number = 4, .is_late = true, .has_block = false}));
  const base::instant due = f.lanes.deadline();
  CHECK(due >= f.from.time + ms(100));
  CHECK(due <= f.from.time + just_after(ms(100)));
  f.go_on_after(ms(50));
  f.go_on_after(ms(49));
  CHECK(f.read.empty());
  CHECK(f.lanes.deadline() <= due + duration::nanoseconds(100));
  CHECK(f.told.empty());
  f.go_on_after(just_after(ms(1)));
  CHECK(f.all_read() == numbers{1, 3, 4, 2});
  CHECK(f.told == lane_numbers{3, 3, 3, 4});
  for (const reading& r : f.read) CHECK(r.is_whole);
  CHECK(f.read[2].is_late);
  CHECK(f.lanes.empty());
  CHECK(f.lanes.deadline().is_never());
  CHECK_FALSE(f.come({.number = 5}));
}

TEST_CASE("held for budget: bytes that come end the wait before its time") {
  fixture f;
  overdraw(f, ms(1000));
  CHECK(f.come({.number = 1}));
  f.budget.received(second_of_budget / static_cast<std::size_t>(decoding_budget::per_byte) + 1);
  f.lanes.go_on();
  CHECK(f.all_read() == numbers{1});
  CHECK_FALSE(f.come({.number = 2}));
}

TEST_CASE("held for budget: a lane that overdraws it again lets the others go before it") {
  fixture f;
  f.costs = second_of_budget / 10;
  overdraw(f, ms(100));
  for (std::uint64_t i = 0; i != 4; ++i)
    for (const lane_number lane : {lane_number{0}, lane_number{9}, lane_number{255}})
      CHECK(f.come({.number = i * 1000 + lane + 1, .lane = lane}));
  std::vector<std::size_t> sizes;
  while (!f.lanes.empty()) {
    f.go_on_after(just_after(ms(100)));
    sizes.push_back(f.read.size());
  }
  CHECK(f.all_read() == numbers{1, 10, 256, 1001, 1010, 1256, 2001, 2010, 2256, 3001, 3010, 3256});
  CHECK(sizes.size() == 12);  // as the budget allows
}

TEST_CASE("held for budget: no worker begins with a large message meanwhile") {
  fixture f;
  overdraw(f, ms(100));
  CHECK(f.come({.number = 1, .size = large}));
  CHECK(f.come({.number = 2}));
  f.system.run();
  CHECK(decoded == 0);
  f.go_on_after(just_after(ms(100)));
  CHECK(f.read.empty());
  f.system.run();
  CHECK(decoded == 1);
  f.lanes.go_on();
  REQUIRE(f.all_read() == numbers{1, 2});
  CHECK(f.read[0].by_worker);
}

TEST_CASE("held for budget: a message that a worker has decoded is read, and the next one waits") {
  fixture f;
  REQUIRE(f.come({.number = 1, .size = large}));
  CHECK(f.come({.number = 2}));
  f.system.run();
  overdraw(f, ms(100));
  f.lanes.go_on();
  CHECK(f.all_read() == numbers{1});
  f.go_on_after(just_after(ms(100)));
  CHECK(f.all_read() == numbers{1, 2});
}

TEST_CASE("held for budget: a message that is taken back from the workers waits as well") {
  fixture f;
  REQUIRE(f.come({.number = 1, .size = large}));
  CHECK(f.come({.number = 2}));
  overdraw(f, ms(1000));
  f.at.wait = true;
  f.go_on_after(ms(10));
  CHECK(f.read.empty());
  CHECK(f.lanes.deadline() >= f.from.time + ms(980));
  f.go_on_after(just_after(ms(990)));
  REQUIRE(f.all_read() == numbers{1, 2});
  CHECK_FALSE(f.read[0].by_worker);
  CHECK(f.read[0].is_whole);
}

TEST_CASE("held for budget: a request waits no longer than its time, and may be cancelled") {
  fixture f;
  overdraw(f, ms(100));
  CHECK(f.come({.number = 1, .time_left = ms(30)}));
  CHECK(f.come({.number = 2, .time_left = ms(300)}));
  CHECK(f.come({.number = 2, .kind = frame_kind::cancel}));
  f.system.advance(ms(100));
  f.go_on_after(just_after(ms(100)));
  REQUIRE(f.all_read() == numbers{1, 2, 2});
  CHECK(f.read[0].time_left == duration());
  CHECK(f.read[1].time_left == duration());
}

TEST_CASE("held for budget: a link that ends reads nothing more") {
  fixture f;
  overdraw(f, ms(100));
  CHECK(f.come({.number = 1}));
  CHECK(f.come({.number = 2, .lane = 4}));
  SUBCASE("while all wait") { f.lanes.end(); }
  SUBCASE("while it reads") {
    f.ends_with = 1;
    f.go_on_after(just_after(ms(100)));
    CHECK(f.all_read() == numbers{1});
    f.read.clear();
  }
  CHECK(f.lanes.empty());
  CHECK(f.lanes.deadline().is_never());
  f.go_on_after(ms(1000));
  CHECK(f.read.empty());
}

}  // namespace held_lanes_test
