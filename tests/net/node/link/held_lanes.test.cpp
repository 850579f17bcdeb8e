// Lanes that are held up while a worker decodes a large message. The workers are those of a test
// system, so each test decides when one of them begins.
#include <doctest/doctest.h>
#include <garrick/net/error.hpp>

#include <cstdint>
#include <optional>

#include "net/node/link/holding.hpp"

namespace held_lanes_test {

TEST_CASE("held lanes: large messages alone go to a worker, and others are the link's") {
  fixture f;
  SUBCASE("since it is too small") { CHECK_FALSE(f.come({.size = large - 1})); }
  SUBCASE("since it has handles") { CHECK_FALSE(f.come({.size = large, .has_handle = true})); }
  SUBCASE("since it is late") { CHECK_FALSE(f.come({.size = large, .is_late = true})); }
  SUBCASE("since its memory is not its own") {
    CHECK_FALSE(f.come({.size = large, .has_block = false}));
  }
  SUBCASE("since its type is unknown") { CHECK_FALSE(f.come({.size = large, .type = 3})); }
  SUBCASE("since all workers wait") {
    f.at.wait = true;
    CHECK_FALSE(f.come({.size = large}));
  }
  CHECK(f.lanes.empty());
  CHECK(f.lanes.deadline().is_never());
  f.lanes.go_on();
  f.system.run();
  CHECK(decoded == 0);
  CHECK(f.read.empty());
  CHECK(f.come({.number = 1, .size = large}) == !f.at.wait);
}

TEST_CASE("held lanes: later frames of the lane are held, and read once, in order") {
  fixture f;
  REQUIRE(f.come({.number = 1, .size = large}));
  CHECK(f.come({.number = 2}));
  CHECK(f.come({.number = 3, .is_late = true, .has_block = false}));
  CHECK(f.come({.number = 4, .kind = frame_kind::message, .type = 3}));  // of no request: number 0
  CHECK_FALSE(f.come({.number = 5, .lane = 4}));
  CHECK(f.lanes.size() == 1);
  f.lanes.go_on();
  CHECK(f.read.empty());  // H1
  f.system.run();
  CHECK(decoded == 1);
  CHECK(f.door->visits == 1);
  CHECK(f.read.empty());  // until the visit
  f.lanes.go_on();
  CHECK(f.all_read() == numbers{1, 2, 3, 0});
  CHECK(f.told == lane_numbers{3, 3, 3, 3});
  REQUIRE(f.read.size() == 4);
  CHECK(f.read[0].by_worker);
  CHECK_FALSE(f.read[0].why);
  for (const std::size_t i : {1u, 2u, 3u}) {
    CHECK_FALSE(f.read[i].by_worker);
    CHECK(f.read[i].is_whole);
    CHECK(f.read[i].is_late == (i == 2));
  }
  CHECK(f.lanes.empty());
  CHECK(f.lanes.deadline().is_never());
  f.lanes.go_on();
  CHECK(f.read.size() == 4);
  CHECK_FALSE(f.come({.number = 6}));
}

TEST_CASE("held lanes: a large one behind another goes to a worker in its turn") {
  fixture f;
  REQUIRE(f.come({.number = 1, .size = large}));
  CHECK(f.come({.number = 2}));
  CHECK(f.come({.number = 3, .size = large + 5}));
  CHECK(f.come({.number = 4}));
  f.system.run();
  CHECK(decoded == 1);
  f.lanes.go_on();
  CHECK(f.all_read() == numbers{1, 2});
  CHECK(f.lanes.size() == 1);
  CHECK(f.lanes.deadline() == f.from.time + ms(10));  // H2
  CHECK(f.come({.number = 5}));
  f.system.run();
  f.lanes.go_on();
  CHECK(f.all_read() == numbers{1, 2, 3, 4, 5});
  CHECK(f.read[2].by_worker);
  CHECK(f.lanes.empty());
}

TEST_CASE("held lanes: each lane goes on by itself") {
  fixture f;
  REQUIRE(f.come({.number = 1, .size = large, .lane = 1}));
  f.system.run();
  REQUIRE(f.come({.number = 2, .size = large, .lane = 2}));
  REQUIRE(f.come({.number = 3, .size = large, .lane = 0}));
  CHECK(f.come({.number = 4, .lane = 2}));
  CHECK(f.lanes.size() == 3);
  f.lanes.go_on();
  CHECK(f.all_read() == numbers{1});
  CHECK(f.told == lane_numbers{1});
  CHECK(f.lanes.size() == 2);
  f.system.run();
  f.lanes.go_on();
  CHECK(f.all_read() == numbers{1, 3, 2, 4});
  CHECK(f.told == lane_numbers{1, 0, 2, 2});
}

TEST_CASE("held lanes: a message that cannot be decoded is read with the reason") {
  fixture f;
  REQUIRE(f.come({.number = 1, .size = large, .what = fate::refused}));
  f.system.run();
  f.lanes.go_on();
  REQUIRE(f.read.size() == 1);
  CHECK(f.read[0].by_worker);
  CHECK(f.read[0].why == net_errc::decode_failed);
}

TEST_CASE("held lanes: the look at the workers is not put off") {
  fixture f;
  REQUIRE(f.come({.number = 1, .size = large}));
  const base::instant due = f.from.time + ms(10);
  CHECK(f.lanes.deadline() == due);
  f.go_on_after(ms(4));
  CHECK(f.lanes.deadline() == due);  // H2
  REQUIRE(f.come({.number = 2, .size = large, .lane = 4}));
  CHECK(f.lanes.deadline() == due);
  f.go_on_after(ms(6));
  CHECK(f.lanes.deadline() == due + ms(10));
  SUBCASE("and ends when a worker has begun") {
    base::instant meanwhile;
    while_decoding = [&] {
      f.lanes.go_on();
      meanwhile = f.lanes.deadline();
    };
    f.system.run();
    CHECK(meanwhile.is_never());
    CHECK(f.read.size() == 1);  // the first was done while the second was decoded
  }
  SUBCASE("and ends with the link") {
    f.lanes.end();
    CHECK(f.lanes.deadline().is_never());
  }
}

TEST_CASE("held lanes: a message with which no worker begins is the link's after some looks") {
  fixture f;
  REQUIRE(f.come({.number = 1, .size = large}));
  CHECK(f.come({.number = 2}));
  for (int i = 0; i < 100; ++i) f.lanes.go_on();  // calls from below are not looks
  CHECK(f.read.empty());
  for (int i = 0; i < 9; ++i) f.go_on_after(ms(10));
  CHECK(f.read.empty());
  f.go_on_after(ms(10));
  REQUIRE(f.all_read() == numbers{1, 2});
  CHECK_FALSE(f.read[0].by_worker);
  CHECK(f.read[0].is_whole);
  CHECK(f.lanes.empty());
  CHECK(f.lanes.deadline().is_never());
  // H3: its actor is still in a queue.
  CHECK_FALSE(f.come({.number = 3, .size = large}));
  f.system.run();
  CHECK(decoded == 0);
  CHECK(f.read.size() == 2);
  CHECK(f.come({.number = 4, .size = large}));
}

TEST_CASE("held lanes: looks count from the message with which a lane goes on") {
  fixture f;
  REQUIRE(f.come({.number = 1, .size = large}));
  CHECK(f.come({.number = 2, .size = large}));
  for (int i = 0; i < 9; ++i) f.go_on_after(ms(10));
  f.system.run();
  f.lanes.go_on();
  CHECK(f.all_read() == numbers{1});
  for (int i = 0; i < 9; ++i) f.go_on_after(ms(10));
  CHECK(f.all_read() == numbers{1});
  f.go_on_after(ms(10));
  CHECK(f.all_read() == numbers{1, 2});
}

TEST_CASE("held lanes: a large one behind another that was taken back is the link's, too") {
  fixture f;
  REQUIRE(f.come({.number = 1, .size = large}));
  CHECK(f.come({.number = 2, .size = large}));
  for (int i = 0; i < 10; ++i) f.go_on_after(ms(10));
  CHECK(f.all_read() == numbers{1, 2});  // H3
  for (const reading& r : f.read) CHECK(r.is_whole);
  CHECK(f.lanes.empty());
}

TEST_CASE("held lanes: if all workers wait, the next look takes the message back") {
  fixture f;
  REQUIRE(f.come({.number = 1, .size = large}));
  f.at.wait = true;
  f.go_on_after(ms(9));
  CHECK(f.read.empty());
  f.go_on_after(ms(1));
  REQUIRE(f.read.size() == 1);
  CHECK_FALSE(f.read[0].by_worker);
  CHECK(f.read[0].is_whole);
  f.system.run();
  CHECK(decoded == 0);
}

TEST_CASE("held lanes: a worker that has begun keeps its message, however long it takes") {
  fixture f;
  REQUIRE(f.come({.number = 1, .size = large}));
  CHECK(f.come({.number = 2}));
  while_decoding = [&] {
    f.at.wait = true;
    for (int i = 0; i < 20; ++i) f.go_on_after(ms(10));
    CHECK(f.read.empty());
    CHECK(f.come({.number = 3}));
  };
  f.system.run();
  f.lanes.go_on();
  CHECK(f.all_read() == numbers{1, 2, 3});
  CHECK(f.read[0].by_worker);
}

TEST_CASE("held lanes: a message with a handle is the link's, and later ones of its type are") {
  fixture f;
  REQUIRE(f.come({.number = 1, .size = large, .what = fate::has_handle}));
  f.system.run();
  CHECK(decoded == 1);
  f.lanes.go_on();
  REQUIRE(f.read.size() == 1);
  CHECK_FALSE(f.read[0].by_worker);
  CHECK(f.read[0].is_whole);
  CHECK_FALSE(f.come({.number = 2, .size = large}));
  CHECK(f.come({.number = 3, .size = large, .type = 2}));
}

TEST_CASE("held lanes: the time of a request passes while it is held") {
  fixture f;
  REQUIRE(f.come({.number = 1, .size = large, .time_left = ms(100)}));
  CHECK(f.come({.number = 2, .time_left = ms(30)}));
  CHECK(f.come({.number = 3}));
  f.system.run();
  f.system.advance(ms(40));
  f.lanes.go_on();
  REQUIRE(f.read.size() == 3);
  CHECK(f.read[0].time_left == ms(60));
  CHECK(f.read[1].time_left == duration());
  CHECK_FALSE(f.read[2].time_left.has_value());
}

TEST_CASE("held lanes: a request that is cancelled while it is held has no time left") {
  fixture f;
  REQUIRE(f.come({.number = 1, .size = large, .time_left = ms(100)}));
  CHECK(f.come({.number = 2}));
  CHECK(f.come({.number = 3, .time_left = ms(100)}));
  CHECK(f.come({.number = 3, .kind = frame_kind::response}));
  std::uint64_t which = 0;
  SUBCASE("which a worker decodes") { which = 1; }
  SUBCASE("which has no limit") { which = 2; }
  SUBCASE("which has a limit") { which = 3; }
  SUBCASE("of which there is none") { which = 4; }
  CHECK(f.come({.number = which, .kind = frame_kind::cancel}));
  f.system.run();
  f.lanes.go_on();
  REQUIRE(f.all_read() == numbers{1, 2, 3, 3, which});
  const std::optional<duration> none = duration();
  CHECK(f.read[0].time_left == (which == 1 ? none : ms(100)));
  CHECK(f.read[1].time_left == (which == 2 ? none : std::nullopt));
  CHECK(f.read[2].time_left == (which == 3 ? none : ms(100)));
  CHECK_FALSE(f.read[3].time_left.has_value());  // an answer is not a request
}

TEST_CASE("held lanes: a link that ends reads nothing that it holds") {
  fixture f;
  REQUIRE(f.come({.number = 1, .size = large, .lane = 1}));
  CHECK(f.come({.number = 2, .lane = 1}));
  CHECK(f.come({.number = 3, .lane = 1}));
  REQUIRE(f.come({.number = 4, .size = large, .lane = 2}));
  SUBCASE("before a worker has begun") {
    f.lanes.end();
    f.system.run();
    CHECK(decoded == 0);
    CHECK(f.door->visits == 2);
  }
  SUBCASE("while a worker decodes") {
    while_decoding = [&] { f.lanes.end(); };
    f.system.run();
    CHECK(decoded == 1);
  }
  SUBCASE("when the worker is done") {
    f.system.run();
    f.lanes.end();
  }
  SUBCASE("while it reads them") {
    f.system.run();
    f.ends_with = 2;
    f.lanes.go_on();
    CHECK(f.all_read() == numbers{1, 2});
    f.read.clear();
    f.told.clear();
  }
  CHECK(f.lanes.empty());
  CHECK(f.lanes.deadline().is_never());
  f.lanes.go_on();
  CHECK(f.read.empty());
  CHECK(f.told.empty());
}

TEST_CASE("held lanes: a message for which no actor can be spawned is the link's") {
  fixture f;
  f.system.finish();
  REQUIRE(f.come({.number = 1, .size = large}));
  CHECK(f.come({.number = 2}));
  CHECK(f.door->visits == 1);
  f.lanes.go_on();
  REQUIRE(f.all_read() == numbers{1, 2});
  CHECK_FALSE(f.read[0].by_worker);
  CHECK(f.read[0].is_whole);
  CHECK(decoded == 0);
}

}  // namespace held_lanes_test
