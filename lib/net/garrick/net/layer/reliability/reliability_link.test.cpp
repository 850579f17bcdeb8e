// Reliability over a simulated link with any faults: each message arrives exactly once.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "garrick/base/values/random.hpp"
#include "garrick/net/layer/reliability.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/stack/internal/simulated_link.hpp"
#include "garrick/net/stack/stack.hpp"

namespace reliability_link_test {

using namespace garrick;
using namespace garrick::net;
using base::duration;
using base::instant;

namespace {

constexpr duration us(std::int64_t n) { return duration::microseconds(n); }
constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

std::uint64_t seeds() {
  const char* set = std::getenv("GARRICK_SEEDS");
  const long n = set == nullptr ? 200 : std::atol(set);
  return n > 0 ? static_cast<std::uint64_t>(n) : 1;
}

/// Replaces a layer that knows whether the peer lives.
struct telling : layer_defaults {
  static constexpr std::uint64_t heard = 7777;  ///< a path of this size means: the peer sends again
  static void notice(const link_event& e, layer_context& c) {
    const bool is_news = e.what == link_event::kind::path && e.number == heard;
    c.notify(is_news ? link_event{link_event::kind::trusted} : e);
  }
};

using reliable = stack<datagrams, reliability, telling>;

/// Sends numbered messages as fast as its stack takes them, and counts those that come.
struct end : internal::simulated_end<reliable> {
  end(internal::timeline& t, internal::wire& out, std::uint64_t seed, reliability_settings s = {})
      : simulated_end(t, out, reliability(s), telling()), random(seed) {
    message = [this](incoming m) { count(m); };
    event = [this](const link_event& e) {
      if (e.what == link_event::kind::writable) go();
    };
  }
  void count(incoming m) {
    REQUIRE(m.bytes.size() >= 4);
    const auto n = load_le<std::uint32_t>(m.bytes.data());
    if (n >= come.size()) come.resize(n + 1);
    ++come[n];
    // The bytes are unchanged.
    const auto rest = m.bytes.subspan(4);
    REQUIRE(std::all_of(rest.begin(), rest.end(),
                        [&](std::byte b) { return b == static_cast<std::byte>(n); }));
    ++received;
  }
  void go() {
    while (!paused && sent != to_send && stack.writable()) {
      packet p = packet::with_room(stack.header_size() + 8, 1100);
      store_le(p.append(4), sent);
      const std::size_t more = fixed != 0             ? fixed - 4
                               : random.below(4) == 0 ? random.below(1090)
                                                      : 20;
      std::fill_n(p.append(more), more, static_cast<std::byte>(sent));
      const lane_number lane = random.below(20) == 0 ? system_lane : lane_number{1};
      REQUIRE(!stack.send({std::move(p), lane}, time.now()));
      ++sent;
      most_buffered = std::max(most_buffered, layer().buffered());
    }
    wake();
  }
  [[nodiscard]] const reliability& layer() const { return stack.get<reliability>(); }
  [[nodiscard]] bool complete(std::uint32_t of) const {
    return received == of && come.size() == of &&
           std::all_of(come.begin(), come.end(), [](int n) { return n == 1; });
  }

  base::random_source random;
  std::uint32_t to_send = 0;
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
  std::uint32_t most_buffered = 0;
  std::size_t fixed = 0;  ///< bytes of each message; 0: any
  std::vector<int> come;
};

struct pair {
  explicit pair(std::uint64_t seed, internal::link_faults faults, reliability_settings s = {})
      : there(time, seed * 4 + 1),
        back(time, seed * 4 + 2),
        a(time, there, seed * 4 + 3, s),
        b(time, back, seed * 4 + 4, s) {
    there.faults = back.faults = faults;
    a.talks_to(b);
    b.talks_to(a);
  }
  void run(duration d) { time.run_until(time.now() + d); }
  [[nodiscard]] bool complete() const { return b.complete(a.to_send) && a.complete(b.to_send); }
  [[nodiscard]] bool quiet() const {
    return a.layer().buffered() == 0 && b.layer().buffered() == 0;
  }
  /// Runs until all messages have come and are acknowledged.
  bool finish(duration limit) {
    const instant end = time.now() + limit;
    while (time.now() < end && !(complete() && quiet())) run(ms(1));
    return complete() && quiet();
  }

  internal::timeline time;
  internal::wire there, back;
  end a, b;
};

internal::link_faults faults_from(base::random_source& random) {
  constexpr std::array<duration, 5> delays{us(20), us(200), ms(2), ms(10), ms(50)};
  internal::link_faults f;
  f.delay = delays[random.below(5)];
  if (random.below(2) == 0) f.jitter = f.delay * random.below(20) / 10;
  if (random.below(3) != 0) f.loss = random.unit() * 0.2;
  if (random.below(3) == 0) f.duplication = random.unit() * 0.2;
  if (random.below(3) == 0) f.rate = 1e6 * (1 + random.below(100));
  f.queue = 5 + random.below(60);
  return f;
}

}  // namespace

TEST_CASE("reliability: room that there is when the peer is heard again is told at once") {
  internal::timeline time;
  internal::wire there(time, 1), back(time, 2);
  using silent = internal::simulated_end<reliable>;
  silent a(time, there, reliability({.most_unsent_bytes = 8000}), telling());
  silent b(time, back, reliability(), telling());
  a.talks_to(b);
  a.carrier_writable = false;
  for (int i = 0; i < 8; ++i) {
    CHECK(a.stack.writable());
    packet p = packet::with_room(a.stack.header_size(), 1000);
    std::ignore = p.append(1000);
    REQUIRE(!a.stack.send({std::move(p), 1}, time.now()));
  }
  CHECK(!a.stack.writable());
  a.events.clear();
  a.carrier_writable = true;
  a.stack.path_changed(telling::heard, time.now());
  CHECK(a.transmitted == 8);
  REQUIRE(a.events.size() == 2);
  CHECK(a.events[0].what == link_event::kind::trusted);
  CHECK(a.events[1].what == link_event::kind::writable);
}

TEST_CASE("reliability: over any link each message arrives exactly once") {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    const reliability_settings s{.most_packets = 16u << random.below(8)};
    pair p(seed, faults_from(random), s);
    p.a.to_send = 1000;
    p.b.to_send = 500 * random.below(3);
    p.a.go();
    p.b.go();
    REQUIRE(p.finish(duration::seconds(120)));
    for (const end* e : {&p.a, &p.b}) {
      // The system's lane has room of its own.
      REQUIRE(e->most_buffered <= s.most_packets + 1000 / 20 * 3);
      REQUIRE(e->layer().counters().malformed == 0);
      REQUIRE(e->layer().counters().beyond == 0);
      REQUIRE(e->layer().counters().sent == e->to_send);
      REQUIRE(e->layer().in_flight() == 0);
      REQUIRE(e->stack.deadline().is_never());
    }
  }
}

TEST_CASE("reliability: messages that were cut off arrive exactly once after the link has healed") {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    pair p(seed, faults_from(random));
    p.a.to_send = 600;
    p.b.to_send = 600;
    p.a.go();
    p.b.go();
    for (int i = 0; i < 4; ++i) {
      p.run(ms(random.below(60)));
      const std::uint32_t which = random.below(4);
      p.there.cut = which != 1;
      p.back.cut = which != 2;
      if (which == 3) p.b.pause();
      p.run(ms(random.below(3000)));
      if (p.b.paused) p.b.go_on();
      p.there.cut = p.back.cut = false;
    }
    REQUIRE(p.finish(duration::seconds(120)));
    REQUIRE(p.a.layer().counters().malformed + p.b.layer().counters().malformed == 0);
  }
}

TEST_CASE("reliability: messages kept when the path became narrower arrive in parts, once") {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    pair p(seed, faults_from(random));
    p.a.to_send = p.b.to_send = 300;  // all of it is taken at once
    p.a.go();
    p.b.go();
    p.run(p.there.faults.delay * random.below(50) / 10);
    const std::size_t largest = 100 + random.below(1000);
    p.there.faults.largest = p.back.faults.largest = largest;
    if (random.below(2) == 0) p.run(ms(random.below(500)));
    const std::uint64_t vanished = p.there.too_large;
    for (end* e : {&p.a, &p.b}) {
      e->datagram = largest;
      e->stack.path_changed(largest, p.time.now());
      e->wake();
    }
    REQUIRE(p.finish(duration::seconds(240)));
    REQUIRE(p.there.too_large == vanished);
    REQUIRE(p.a.layer().partial() + p.b.layer().partial() == 0);
    REQUIRE(p.a.layer().counters().malformed + p.b.layer().counters().malformed == 0);
  }
}

TEST_CASE("reliability: parts get through a queue that is shorter than a packet has parts") {
  pair p(1, {.delay = ms(5), .rate = 1e6, .queue = 3});
  p.a.fixed = 1000;
  p.a.to_send = 20;
  p.there.faults.largest = 60;
  p.a.go();
  p.run(ms(50));
  CHECK(p.b.received == 0);
  p.a.datagram = 60;
  p.a.stack.path_changed(60, p.time.now());
  p.a.wake();
  REQUIRE(p.finish(duration::seconds(1200)));
  CHECK(p.a.layer().counters().cut >= 20);
}

TEST_CASE("reliability: a packet that comes whole after parts of it leaves nothing behind") {
  pair p(1, {.delay = ms(5)});
  const auto takes = [&](std::size_t largest) {
    p.a.datagram = largest;
    p.a.stack.path_changed(largest, p.time.now());
    p.a.wake();
  };
  p.a.fixed = 1000;
  p.a.to_send = 20;
  p.there.cut = true;
  p.a.go();
  takes(100);
  p.there.cut = false;
  p.there.faults.loss = 0.5;
  p.run(duration::seconds(1));
  CHECK(p.b.layer().partial() != 0);
  CHECK(!p.complete());
  p.there.faults.loss = 0;
  takes(1200);
  REQUIRE(p.finish(duration::seconds(60)));
  CHECK(p.b.layer().partial() == 0);
}

TEST_CASE(
    "reliability: a healed link is found at the latest a second later, or when told at once") {
  pair p(1, {.delay = ms(5)});
  p.a.to_send = 1;
  p.there.cut = true;
  p.a.go();
  p.run(duration::seconds(60));
  CHECK(p.a.layer().counters().timeouts >= 58);
  CHECK(p.a.layer().counters().timeouts <= 68);
  p.there.cut = false;
  SUBCASE("by itself") { p.run(ms(1010)); }
  SUBCASE("by the layer below, which has heard the peer") {
    p.a.stack.path_changed(telling::heard, p.time.now());
    CHECK(p.a.events.back().what == link_event::kind::trusted);
    p.run(ms(11));
  }
  CHECK(p.complete());
}

TEST_CASE("reliability: many packets are in flight at a time") {
  pair p(1, {.delay = ms(10)});
  p.a.to_send = 2000;
  p.a.fixed = 1000;
  p.a.go();
  const instant begin = p.time.now();
  REQUIRE(p.finish(duration::seconds(60)));
  CHECK(p.a.layer().counters().most_in_flight > 100);
  CHECK(p.a.layer().counters().retransmitted == 0);
  CHECK(p.b.layer().counters().duplicates == 0);
  // With one packet at a time it would take forty seconds.
  CHECK(p.time.now() - begin < duration::seconds(1));
}

TEST_CASE("reliability: a window is spread over the round trip, not sent in one burst") {
  pair p(1, {.delay = ms(10)});
  p.a.fixed = 1000;
  p.a.to_send = 500;
  p.a.go();
  REQUIRE(p.finish(duration::seconds(10)));
  p.run(duration::seconds(1));
  REQUIRE(p.a.layer().window() > 150'000);

  p.a.to_send = 650;
  const std::uint64_t before = p.a.transmitted;
  p.a.go();
  CHECK(p.a.transmitted - before >= 10);
  CHECK(p.a.transmitted - before <= 60);
  p.run(ms(1));
  CHECK(p.a.transmitted - before > 40);
  CHECK(p.a.transmitted - before < 120);
  p.run(ms(15));
  CHECK(p.a.transmitted - before == 150);
  REQUIRE(p.finish(ms(100)));
}

TEST_CASE("reliability: a link that reorders is not taken for one that loses") {
  pair p(1, {.delay = ms(10), .jitter = ms(10)});
  p.a.to_send = 20000;
  p.a.fixed = 1000;
  p.a.go();
  const bool done = p.finish(duration::seconds(60));
  const reliability_counters c = p.a.layer().counters();
  MESSAGE("reordered by 10 of 20 ms: sent again " << c.retransmitted << " of " << c.sent
                                                  << ", known as spurious " << c.spurious
                                                  << ", window " << p.a.layer().window());
  REQUIRE(done);
  CHECK(c.retransmitted < c.sent / 20);
  CHECK(c.spurious > 0);
}

TEST_CASE("reliability: nothing is sent by a carrier that is full, but for the system") {
  pair p(1, {.delay = ms(1)});
  p.a.carrier_writable = false;
  p.a.to_send = 10;
  p.a.fixed = 100;
  for (lane_number lane : {lane_number{1}, lane_number{1}, system_lane}) {
    packet m = packet::with_room(64, 8);
    store_le(m.append(4), p.a.sent++);
    REQUIRE(!p.a.stack.send({std::move(m), lane}, p.time.now()));
  }
  p.a.to_send = 3;
  p.a.wake();
  p.run(ms(500));
  CHECK(p.a.transmitted == 0);  // the layer below was never open, so no peer would get a packet
  p.a.carrier_writable = true;
  p.a.stack.carrier_writable(p.time.now());
  p.a.wake();
  REQUIRE(p.finish(ms(100)));

  p.a.carrier_writable = false;
  const std::uint64_t before = p.a.transmitted;
  p.a.to_send = 5;
  for (lane_number lane : {lane_number{1}, system_lane}) {
    packet m = packet::with_room(64, 8);
    store_le(m.append(4), p.a.sent++);
    REQUIRE(!p.a.stack.send({std::move(m), lane}, p.time.now()));
  }
  p.a.wake();
  p.run(ms(500));
  CHECK(p.a.transmitted == before + 1);
  CHECK(p.b.come.size() == 5);
  CHECK(p.b.come[3] == 0);
  p.a.stack.carrier_writable(p.time.now());  // without effect: it still takes no packet
  p.run(ms(10));
  CHECK(p.b.come[3] == 0);
  p.a.carrier_writable = true;
  p.a.stack.carrier_writable(p.time.now());
  p.a.wake();
  REQUIRE(p.finish(ms(100)));
}

}  // namespace reliability_link_test
