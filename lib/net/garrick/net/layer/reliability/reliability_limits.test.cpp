// The limits of `reliability`: when it is not writable, and when it has room again.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/stack/internal/hand_carried.hpp"

namespace reliability_limits_test {

using namespace garrick;
using namespace garrick::net;
using internal::bytes_of;
using end = internal::hand_carried;

namespace {

constexpr base::duration ms(std::int64_t n) { return base::duration::milliseconds(n); }

}  // namespace

TEST_CASE(
    "reliability: with as many packets as are allowed it is not writable, until there is room") {
  end a({.most_packets = 20}), b;
  for (int i = 0; i < 20; ++i) {
    CHECK(a.stack.writable());
    a.send(std::string(1000, 'x'));
  }
  CHECK(!a.stack.writable());
  CHECK(a.stack.send({packet::copy_of(bytes_of("x")), 1}, a.now) == net_errc::overload);
  CHECK(a.layer().buffered() == 20);
  CHECK(a.out.size() < 20);  // the congestion window

  SUBCASE("of which acknowledgements tell once") {
    a.events.clear();
    a.flush_to(b);
    b.advance_to(b.now);
    b.flush_to(a);
    CHECK(a.stack.writable());
    REQUIRE(a.events.size() == 1);
    CHECK(a.events[0].what == link_event::kind::writable);
  }
  SUBCASE("but for the system, ahead of all that waits and beyond the window") {
    const std::size_t before = a.out.size();
    a.send("urgent", system_lane);
    REQUIRE(a.out.size() == before + 1);
    a.send("also", system_lane);
    REQUIRE(a.out.size() == before + 2);
    b.stack.receive(a.out[before].bytes(), b.now);
    CHECK(b.come == std::vector<std::string>{"urgent"});
  }
}

TEST_CASE("reliability: bytes are limited as packets are") {
  end a({.most_bytes = 5000});
  int n = 0;
  for (; a.stack.writable(); ++n) a.send(std::string(1000, 'x'));
  CHECK(n == 5);
  // There is room again when a quarter of the limit is free.
  end b;
  b.stack.receive(a.out[0].bytes(), b.now);
  b.advance_to(b.stack.deadline());
  b.flush_to(a);
  CHECK(a.layer().buffered() == 4);
  CHECK(!a.stack.writable());
  b.stack.receive(a.out[1].bytes(), b.now);
  b.advance_to(b.stack.deadline());
  b.flush_to(a);
  CHECK(a.stack.writable());
}

TEST_CASE("reliability: bytes that wait for the congestion window have a limit of their own") {
  constexpr std::size_t limit = std::size_t{128} << 10;
  end a, b;
  std::size_t n = 0;
  const auto unsent = [&] { return (n - a.counters().sent) * 1000; };
  const auto fill = [&] {
    for (; a.stack.writable(); ++n) a.send(std::string(1000, 'x'));
    CHECK(unsent() >= limit);
    CHECK(unsent() < limit + 1000);
  };
  fill();
  a.events.clear();
  // It is writable again as soon as a quarter is free, by an acknowledgement, or in between when
  // the pace lets packets go. A round trip takes 20 ms.
  std::size_t by_time = 0;
  for (int step = 1; step <= 400; ++step) {
    b.now = a.now = a.now + ms(1);
    const bool hears = step % 20 == 0;
    if (hears) {
      a.flush_to(b);
      b.advance_to(b.now);
      b.flush_to(a);
    }
    a.advance_to(a.now);
    REQUIRE(a.stack.writable() == (unsent() <= limit / 4 * 3));
    REQUIRE(a.events.size() == (a.stack.writable() ? 1 : 0));
    if (!a.stack.writable()) continue;
    by_time += hears ? 0 : 1;
    fill();
    a.events.clear();
  }
  CHECK(by_time > 0);
  CHECK(b.come.size() * 1000 > 4 * limit);
}

TEST_CASE("reliability: packets that the congestion window lets pass at once do not wait") {
  end a({.most_unsent_bytes = 1});
  a.send(std::string(1000, 'x'));
  a.send(std::string(1000, 'x'));
  CHECK(a.out.size() == 2);
  CHECK(a.stack.writable());
}

TEST_CASE("reliability: room that a transport makes that takes more again is told at once") {
  end a({.most_unsent_bytes = 8000});
  a.takes_more = false;
  for (int i = 0; i < 8; ++i) {
    CHECK(a.stack.writable());
    a.send(std::string(1000, 'x'));
  }
  CHECK(!a.stack.writable());
  CHECK(a.out.empty());
  a.events.clear();
  a.takes_more = true;
  a.stack.carrier_writable(a.now);
  CHECK(a.out.size() == 8);
  CHECK(a.stack.writable());
  REQUIRE(a.events.size() == 1);
  CHECK(a.events[0].what == link_event::kind::writable);
}

TEST_CASE("reliability: a peer that takes no signal any more is given up, not served in silence") {
  end a({.most_urgent_packets = 50});
  for (int i = 0; i < 50; ++i) a.send("signal", system_lane);
  CHECK(!a.closed);
  a.send("one too many", system_lane);
  CHECK(a.closed);
  REQUIRE(!a.events.empty());
  CHECK(a.events.back().what == link_event::kind::down);
  CHECK(a.events.back().why == net_errc::overload);
  CHECK(a.stack.deadline().is_never());
  CHECK(a.layer().buffered() == 0);
}

}  // namespace reliability_limits_test
