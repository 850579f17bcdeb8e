#include "garrick/net/layer/reliability/congestion.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace congestion_test {

using namespace garrick;
using namespace garrick::net;
using base::duration;
using base::instant;

namespace {

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

/// A sender that fills its window in each round trip.
struct sender {
  explicit sender(std::size_t packet = 1000) : size(packet), window(packet) {}

  /// Runs a round trip in which all packets of the window are acknowledged, one by one.
  void round(duration trip, bool limited = true) {
    const std::uint64_t end = order + window.window() / size;
    now = now + trip;
    while (order < end) {
      times.sample(trip);
      window.sampled(trip, order, end);
      window.acknowledged(size, order, limited, times, now);
      ++order;
    }
  }
  bool lose() { return window.lost(order, order + 1, times, now); }
  [[nodiscard]] double packets() const {
    return static_cast<double>(window.window()) / static_cast<double>(size);
  }

  std::size_t size;
  congestion window;
  round_trip times;
  instant now = instant::at(duration::seconds(1));
  std::uint64_t order = 1;
};

}  // namespace

TEST_CASE("congestion: a window begins with ten packets and doubles in each round trip") {
  sender s;
  CHECK(s.packets() == 10);
  s.round(ms(20));
  CHECK(s.packets() == 20);
  s.round(ms(20));
  CHECK(s.packets() == 40);
  CHECK(s.window.slow_start());
}

TEST_CASE("congestion: a round trip that becomes longer ends slow start before a loss") {
  sender s;
  for (const std::int64_t trip : {20, 20, 20}) s.round(ms(trip));
  s.round(ms(26));
  CHECK(!s.window.slow_start());
  CHECK(s.packets() < 100);
}

TEST_CASE("congestion: a window that is not used does not grow") {
  sender s;
  s.round(ms(20), false);
  CHECK(s.packets() == 10);
  s.lose();
  const double before = s.packets();
  for (int i = 0; i < 500; ++i) s.round(ms(20), false);
  CHECK(s.packets() == before);
  // The window does not jump to the size that it would have reached meanwhile.
  s.round(ms(20));
  CHECK(s.packets() < before + 1.5);
}

TEST_CASE("congestion: a loss with a queue takes three tenths, one without half as much, once") {
  sender s;
  for (int i = 0; i < 4; ++i) s.round(ms(20));
  CHECK(s.packets() == 160);
  SUBCASE("in slow start") {
    CHECK(s.lose());
    CHECK(s.packets() == doctest::Approx(112));
    CHECK(!s.lose());  // sent before the window shrank
    CHECK(s.packets() == doctest::Approx(112));
  }
  SUBCASE("later") {
    s.lose();
    for (int i = 0; i < 3; ++i) {
      ++s.order;
      s.round(ms(20));
    }
    const double before = s.packets();
    SUBCASE("with a queue") {
      s.round(ms(30));
      s.round(ms(30));
      const double now = s.packets();
      CHECK(s.lose());
      CHECK(s.packets() == doctest::Approx(0.7 * now).epsilon(0.01));
    }
    SUBCASE("without") {
      CHECK(s.lose());
      CHECK(s.packets() == doctest::Approx(0.85 * before).epsilon(0.01));
    }
  }
}

TEST_CASE("congestion: after a loss the window is back after the cubic root, and not faster") {
  sender s(1000);
  for (int i = 0; i < 5; ++i) s.round(ms(100));
  const double most = s.packets();
  s.lose();
  s.order += 2;
  const double root = std::cbrt(most * 0.3 / 0.4);
  const instant begin = s.now;
  while (s.packets() < 0.99 * most) s.round(ms(100));
  const double took = static_cast<double>((s.now - begin).count()) * 1e-9;
  CHECK(took > 0.6 * root);
  CHECK(took < 1.1 * root);
  // The window stays there for a while, and grows then.
  s.round(ms(100));
  CHECK(s.packets() < 1.02 * most);
  for (int i = 0; i < 80; ++i) s.round(ms(100));
  CHECK(s.packets() > 1.2 * most);
}

TEST_CASE("congestion: it is never slower than Reno") {
  sender s;
  for (int i = 0; i < 2; ++i) s.round(ms(1));
  s.lose();
  s.order += 2;
  const double before = s.packets();
  // With so short a round trip the curve is flat for seconds, but Reno is not.
  for (int i = 0; i < 100; ++i) s.round(ms(1));
  CHECK(s.packets() > before + 40);
  CHECK(s.packets() < before + 110);
}

TEST_CASE("congestion: two packets are the least, and the first window after a silence") {
  sender s;
  for (int i = 0; i < 50; ++i) {
    s.lose();
    s.order += 2;
  }
  CHECK(s.packets() == 2);
  for (int i = 0; i < 5; ++i) s.round(ms(1));
  s.window.collapse(s.order, s.now);
  CHECK(s.packets() == 2);
  CHECK(s.window.slow_start());
  s.window.packet_size(9000);
  CHECK(s.window.window() == 18000);
}

TEST_CASE("congestion: losses that were none give the window back, if all of them were") {
  sender s;
  for (int i = 0; i < 3; ++i) s.round(ms(20));
  const double before = s.packets();
  s.lose();
  s.lose();
  const std::uint32_t event = s.window.event();
  s.window.was_not_lost(event);
  CHECK(s.packets() < before);
  s.window.was_not_lost(event - 1);
  CHECK(s.packets() < before);
  s.window.was_not_lost(event);
  CHECK(s.packets() == before);
  s.window.was_not_lost(event);
  CHECK(s.packets() == before);
}

TEST_CASE("congestion: after a silence that was none, the window is as large as before") {
  sender s;
  for (int i = 0; i < 3; ++i) s.round(ms(20));
  s.lose();
  const double before = s.packets();
  s.window.collapse(s.order + 1, s.now);
  CHECK(s.packets() == 2);
  CHECK(!s.window.lost(s.order, s.order + 1, s.times, s.now));
  s.window.was_not_lost(s.window.event());
  CHECK(s.packets() == before);
}

}  // namespace congestion_test
