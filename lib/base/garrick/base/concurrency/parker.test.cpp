// The parker: tokens pile up to one, waits end, and what a waker wrote is there.
#include <garrick/base/concurrency/parker.hpp>

#include <doctest/doctest.h>

#include <thread>

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

TEST_CASE("what a waker wrote is there after park, for many rounds") {
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
