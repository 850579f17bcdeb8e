// The parker: tokens pile up to one, waits end, and a waker's writes are visible.
#include <garrick/base/concurrency/parker.hpp>

#include <doctest/doctest.h>

#include <thread>

namespace parker_test {

using namespace garrick::base;

TEST_CASE(
    "a token that was left before parking lets park return at once, and tokens pile up to one") {
  parker p;
  CHECK_FALSE(p.unpark());
  CHECK_FALSE(p.unpark());
  p.park();
  CHECK_FALSE(p.park_for(1'000'000));
}

TEST_CASE("park_for returns early with a token and tells that there was one") {
  parker p;
  p.unpark();
  CHECK(p.park_for(60'000'000'000));
}

TEST_CASE("an owner that waits elsewhere is interrupted there, and finds its token") {
  parker p;
  int interruptions = 0;
  const auto interrupt = [&] { ++interruptions; };
  REQUIRE(p.begin_elsewhere());
  CHECK_FALSE(p.has_token());
  CHECK(p.unpark_or(interrupt));
  CHECK(interruptions == 1);
  CHECK(p.has_token());
  CHECK_FALSE(p.unpark_or(interrupt));  // an owner on its way needs no second call
  CHECK(p.end_elsewhere());
  CHECK_FALSE(p.has_token());
  // An earlier token keeps the owner from a wait elsewhere, and no interruption is made.
  CHECK_FALSE(p.unpark_or(interrupt));
  CHECK_FALSE(p.begin_elsewhere());
  CHECK(interruptions == 1);
  // Having returned for another reason, the owner sleeps here again.
  REQUIRE(p.begin_elsewhere());
  CHECK_FALSE(p.end_elsewhere());
  CHECK_FALSE(p.unpark_or(interrupt));
  p.park();
  CHECK(interruptions == 1);
}

TEST_CASE("a waker's writes are there after park, for many rounds") {
  constexpr int rounds = 20'000;
  parker ping;
  parker pong;
  int value = 0;
  std::thread other([&] {
    for (int i = 0; i < rounds; ++i) {
      ping.park();
      ++value;
      pong.unpark();
    }
  });
  int wrong = 0;
  for (int i = 0; i < rounds; ++i) {
    ++value;
    ping.unpark();
    pong.park();
    if (value != 2 * (i + 1)) ++wrong;
  }
  other.join();
  CHECK(wrong == 0);
}

}  // namespace parker_test
