// Datagrams, clocks, pauses and crashes in the simulated network.
#include "garrick/net/testkit/simulated_network.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "garrick/net/testkit/faults.hpp"
#include "garrick/net/testkit/recording.hpp"

namespace simulated_network_test {

using garrick::base::duration;
using garrick::base::instant;
using namespace garrick::net;
using namespace garrick::net::testkit;

namespace {

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }
using texts = std::vector<std::string>;

/// Two hosts with an end each.
struct pair_of_ends {
  explicit pair_of_ends(std::uint64_t seed = 1, const path_settings& way = {})
      : net(seed),
        a(net.host("a").datagrams(1, {"b", 2})),
        b(net.host("b").datagrams(2, {"a", 1})) {
    net.both("a", "b", way);
    a->drive(at_a);
    b->drive(at_b);
    net.run_for({});
    at_a.clear();
    at_b.clear();
  }
  simulated_network net;
  recording at_a;
  recording at_b;
  std::unique_ptr<endpoint> a;
  std::unique_ptr<endpoint> b;
};

/// Returns the numbers of the datagrams that arrive, of `count` that are sent, one a millisecond.
std::vector<int> numbers_through(pair_of_ends& p, int count) {
  for (int i = 0; i != count; ++i) {
    p.a->transmit(packet_of(std::to_string(i)));
    p.net.run_for(ms(1));
  }
  p.net.run_for(ms(1000));
  std::vector<int> came;
  for (const auto& e : p.at_b.calls()) came.push_back(std::stoi(e.what));
  return came;
}

}  // namespace

TEST_CASE("a datagram arrives after exactly the delay of its direction") {
  pair_of_ends p;
  p.net.path("a", "b").delay = ms(10);
  p.net.path("b", "a").delay = ms(3);
  const instant start = p.net.now();
  p.a->transmit(packet_of("ping"));
  p.b->transmit(packet_of("pong"));
  p.net.run_for(ms(100));
  REQUIRE(p.at_b.calls().size() == 1);
  REQUIRE(p.at_a.calls().size() == 1);
  CHECK(p.at_b.calls()[0].when == start + ms(10));
  CHECK(p.at_b.calls()[0].what == "ping");
  CHECK(p.at_a.calls()[0].when == start + ms(3));
  CHECK(p.net.now() == start + ms(100));
}

TEST_CASE("the rate delays by the bytes in front, and bytes beyond the queue's room are lost") {
  pair_of_ends p(1, {.delay = ms(0), .rate = 1000, .queue = 25});
  const instant start = p.net.now();
  for (int i = 0; i != 4; ++i) p.a->transmit(packet_of("ten bytes."));
  p.net.run_for(ms(1000));
  REQUIRE(p.at_b.calls().size() == 2);
  CHECK(p.at_b.calls()[0].when == start + ms(10));
  CHECK(p.at_b.calls()[1].when == start + ms(20));
}

TEST_CASE("as many datagrams are lost and doubled as the settings say") {
  pair_of_ends p(3, {.loss = 0.1, .duplication = 0.2});
  std::map<int, int> times;
  for (const int i : numbers_through(p, 20'000)) ++times[i];
  int twice = 0;
  for (const auto& [i, n] : times) twice += n == 2 ? 1 : 0;
  // Five standard deviations on each side.
  CHECK(times.size() > 17'788);
  CHECK(times.size() < 18'212);
  CHECK(twice > 3'333);
  CHECK(twice < 3'867);
}

TEST_CASE("jitter alone keeps the order, reordering does not") {
  pair_of_ends steady(5, {.delay = ms(5), .jitter = ms(20)});
  const std::vector<int> in_order = numbers_through(steady, 500);
  CHECK(in_order.size() == 500);
  CHECK(std::is_sorted(in_order.begin(), in_order.end()));

  pair_of_ends shaken(5, {.delay = ms(5), .reordering = 0.3, .late_by = ms(10)});
  std::vector<int> mixed = numbers_through(shaken, 500);
  CHECK_FALSE(std::is_sorted(mixed.begin(), mixed.end()));
  std::sort(mixed.begin(), mixed.end());
  CHECK(mixed == in_order);
}

TEST_CASE("a datagram larger than the way takes vanishes") {
  pair_of_ends p;
  p.net.path("a", "b").largest = 3;
  p.a->transmit(packet_of("four"));
  p.a->transmit(packet_of("abc"));
  p.net.run_for(ms(100));
  CHECK(p.at_b.texts() == texts{"abc"});
}

TEST_CASE("a cut loses bytes on their way and later ones, in its direction alone, until it heals") {
  pair_of_ends p(1, {.delay = ms(10)});
  p.a->transmit(packet_of("on its way"));
  p.net.run_for(ms(5));
  p.net.cut("a", "b");
  p.a->transmit(packet_of("sent into it"));
  p.b->transmit(packet_of("back"));
  p.net.run_for(ms(100));
  CHECK(p.at_b.texts().empty());
  CHECK(p.at_a.texts() == texts{"back"});
  p.net.heal("a", "b");
  p.a->transmit(packet_of("after it"));
  p.net.run_for(ms(100));
  CHECK(p.at_b.texts() == texts{"after it"});
}

TEST_CASE("a short cut loses the bytes on their way, too") {
  pair_of_ends p(1, {.delay = ms(10)});
  p.a->transmit(packet_of("on its way"));
  p.net.at(p.net.elapsed() + ms(3), cut("a", "b"));
  p.net.at(p.net.elapsed() + ms(4), heal("a", "b"));
  p.net.run_for(ms(100));
  CHECK(p.at_b.texts().empty());
}

TEST_CASE("bytes that have arrived are received before the deadline of the same instant") {
  pair_of_ends p(1, {.delay = ms(10)});
  p.at_b.wakes_at = p.net.now() + ms(10);
  p.a->transmit(packet_of("bytes"));
  p.net.run_for(ms(100));
  CHECK(p.at_b.texts() == texts{"bytes", "advance"});
  CHECK(p.at_b.calls()[0].when == p.at_b.calls()[1].when);
}

TEST_CASE("a paused host gets its packets when it goes on, and only then the time") {
  pair_of_ends p(1, {.delay = ms(10)});
  p.at_b.wakes_at = p.net.now() + ms(15);
  p.net.apply(pause("b"));
  p.a->transmit(packet_of("one"));
  p.net.run_for(ms(2));
  p.a->transmit(packet_of("two"));
  p.net.run_for(ms(100));
  CHECK(p.at_b.texts().empty());
  const instant resumed = p.net.now();
  p.net.apply(resume("b"));
  p.net.run_for(ms(1));
  CHECK(p.at_b.texts() == texts{"one", "two", "advance"});
  for (const auto& e : p.at_b.calls()) CHECK(e.when == resumed);
}

TEST_CASE("a paused host keeps so many bytes of datagrams, and no more") {
  network_settings s;
  s.receive_buffer = 25;
  simulated_network net(1, s);
  recording there;
  const auto a = net.host("a").datagrams(1, {"b", 2});
  const auto b = net.host("b").datagrams(2, {"a", 1});
  recording here;
  a->drive(here);
  b->drive(there);
  net.run_for({});
  net.host("b").pause();
  for (int i = 0; i != 3; ++i) a->transmit(packet_of("ten bytes."));
  net.run_for(ms(100));
  net.host("b").resume();
  net.run_for(ms(100));
  CHECK(there.bytes() == "ten bytes.ten bytes.");
}

TEST_CASE("a host's clock has an offset and a rate of its own, and deadlines go by it") {
  pair_of_ends p;
  simulated_host& b = p.net.host("b");
  const instant start = p.net.now();
  b.set_rate(100'000);  // a tenth faster
  p.net.run_for(ms(100));
  CHECK(b.now() == start + ms(110));
  b.jump(ms(40));
  CHECK(b.now() == start + ms(150));
  p.at_b.wakes_at = b.now() + ms(11);
  p.net.run_for(ms(9));
  CHECK(p.at_b.texts().empty());
  p.net.run_for(ms(1));
  REQUIRE(p.at_b.texts() == texts{"advance"});
  CHECK(p.at_b.calls()[0].when == start + ms(161));
  CHECK_THROWS_AS(b.jump(ms(-1)), std::invalid_argument);
  CHECK_THROWS_AS(b.set_rate(-600'000), std::invalid_argument);
}

TEST_CASE("at any rate a timer fires at the first instant at which its deadline has come") {
  for (const std::int64_t ppm : {-500'000, -333'333, -1, 0, 1, 77, 999'999}) {
    simulated_network net(1);
    simulated_host& h = net.host("a");
    net.run_for(duration::nanoseconds(12'345));
    h.set_rate(ppm);
    for (int i = 1; i != 50; ++i) {
      const instant due = h.now() + duration::nanoseconds(i * 37);
      bool fired = false;
      h.after(duration::nanoseconds(i * 37), [&] {
        fired = true;
        CHECK(h.now() >= due);
        CHECK(h.now() <= due + duration::nanoseconds(1));
      });
      net.run_for(ms(1));
      REQUIRE(fired);
    }
  }
}

TEST_CASE("a layer's deadline comes at once when the clock jumps over it") {
  pair_of_ends p;
  p.at_a.wakes_at = p.net.host("a").now() + ms(500);
  p.net.at(p.net.elapsed() + ms(10), jump("a", ms(1000)));
  const instant start = p.net.now();
  p.net.run_for(ms(20));
  REQUIRE(p.at_a.texts() == texts{"advance"});
  CHECK(p.at_a.calls()[0].when == start + ms(1010));
}

TEST_CASE("a listener gets an end for each address that sends, which then gets the datagram") {
  simulated_network net(1);
  std::vector<std::unique_ptr<endpoint>> ends;
  recording first, second, sender;
  const auto listening = net.host("s").listen_datagrams(7, [&](std::unique_ptr<endpoint> e) {
    e->drive(ends.empty() ? first : second);
    ends.push_back(std::move(e));
  });
  const auto a = net.host("a").datagrams(1, {"s", 7});
  const auto b = net.host("b").datagrams(1, {"s", 7});
  recording at_a, at_b;
  a->drive(at_a);
  b->drive(at_b);
  net.run_for({});
  a->transmit(packet_of("a1"));
  net.run_for(ms(10));
  b->transmit(packet_of("b1"));
  a->transmit(packet_of("a2"));
  net.run_for(ms(10));
  REQUIRE(ends.size() == 2);
  CHECK(first.texts() == texts{"connected", "a1", "a2"});
  CHECK(second.texts() == texts{"connected", "b1"});
  CHECK(ends[1]->peer().host == "b");
  ends[0]->transmit(packet_of("to a"));
  net.run_for(ms(10));
  CHECK(at_a.texts() == texts{"connected", "to a"});
  CHECK_THROWS_AS(std::ignore = net.host("s").listen_datagrams(7, {}), std::invalid_argument);
}

TEST_CASE("an endpoint may be destroyed by the owner that it calls") {
  pair_of_ends p;
  p.at_b.then = [&](std::string_view) { p.b.reset(); };
  p.a->transmit(packet_of("one"));
  p.a->transmit(packet_of("two"));
  p.net.run_for(ms(100));
  CHECK(p.at_b.texts() == texts{"one"});
}

TEST_CASE("an owner that keeps lent bytes reads something else afterwards") {
  struct keeping : recording {
    std::span<const std::byte> kept;
    void receive(std::span<const std::byte> b, instant now) override {
      kept = b;
      recording::receive(b, now);
    }
  } there;
  simulated_network net(1);
  recording here;
  const auto a = net.host("a").datagrams(1, {"b", 2});
  const auto b = net.host("b").datagrams(2, {"a", 1});
  a->drive(here);
  b->drive(there);
  net.run_for({});
  a->transmit(packet_of("one"));
  net.run_for(ms(100));
  CHECK(there.bytes() == "one");
  REQUIRE(there.kept.size() == 3);
  CHECK(std::all_of(there.kept.begin(), there.kept.end(),
                    [](std::byte x) { return x == std::byte{0xa5}; }));
}

TEST_CASE("an endpoint may outlive its network") {
  recording r;
  std::unique_ptr<endpoint> left;
  {
    simulated_network net(1);
    left = net.host("a").datagrams(1, {"b", 2});
    left->drive(r);
    net.run_for(ms(1));
  }
  left->transmit(packet_of("into nothing"));
  CHECK_FALSE(left->is_open());
  CHECK(left->largest() == 0);
}

TEST_CASE("a crash destroys the program and its timers, and a restart makes it anew") {
  struct program {
    explicit program(simulated_host& h, int& alive, int& ticks) : counted(alive) {
      ++counted;
      h.after(ms(10), [&ticks] { ++ticks; });
    }
    ~program() { --counted; }
    program(const program&) = delete;
    program& operator=(const program&) = delete;
    int& counted;
  };
  int alive = 0, ticks = 0;
  simulated_network net(1);
  net.host("a").runs([&](simulated_host& h) { return std::make_shared<program>(h, alive, ticks); });
  net.run_for(ms(5));
  CHECK(alive == 1);
  net.apply(crash("a"));
  CHECK(alive == 0);
  net.run_for(ms(20));
  CHECK(ticks == 0);
  net.apply(restart("a"));
  CHECK(alive == 1);
  CHECK(net.host("a").lives() == 1);
  net.run_for(ms(20));
  CHECK(ticks == 1);
}

TEST_CASE("a program may let its own host crash") {
  simulated_network net(1);
  auto alive = std::make_shared<int>();
  const std::weak_ptr<int> seen = alive;
  net.host("a").runs([&](simulated_host& h) {
    auto own = std::exchange(alive, nullptr);
    h.after(ms(1), [&h, seen] {
      h.crash();
      CHECK_FALSE(seen.expired());
    });
    return own;
  });
  net.run_for(ms(2));
  CHECK(seen.expired());
}

TEST_CASE("bytes to a crashed host are lost, also after its restart, unless an end listens") {
  pair_of_ends p(1, {.delay = ms(10)});
  p.a->transmit(packet_of("to the old one"));
  p.net.apply(crash("b"));
  p.net.apply(restart("b"));
  p.net.run_for(ms(50));
  CHECK(p.at_b.texts().empty());
  recording anew;
  const auto again = p.net.host("b").datagrams(2, {"a", 1});
  again->drive(anew);
  p.a->transmit(packet_of("to the new one"));
  p.net.run_for(ms(50));
  CHECK(anew.texts() == texts{"connected", "to the new one"});
  CHECK(p.at_b.texts().empty());
}

TEST_CASE("an instant that never ends is reported with its history") {
  pair_of_ends p(7, {.delay = {}});
  p.at_b.then = [&](std::string_view) { p.b->transmit(packet_of("ball")); };
  p.at_a.then = [&](std::string_view) { p.a->transmit(packet_of("ball")); };
  p.a->transmit(packet_of("ball"));
  try {
    p.net.run_for(ms(1));
    FAIL("it ended");
  } catch (const network_failure& x) {
    const std::string text = x.what();
    CHECK(x.seed() == 7);
    CHECK(text.find("this instant does not end") != std::string::npos);
    CHECK(text.find("GARRICK_SEED=7 replays it") != std::string::npos);
    CHECK(text.find("b > a  arrived #") != std::string::npos);
  }
}

TEST_CASE("nonsense is refused: probabilities above one, negative times, no function") {
  const auto refused = [](auto change) {
    path_settings s;
    change(s);
    simulated_network net(1);
    CHECK_THROWS_AS(net.both("a", "b", s), std::invalid_argument);
    net.run_for(ms(1));  // nothing was set
    net.path("a", "b") = s;
    CHECK_THROWS_AS(net.run_for(ms(1)), std::invalid_argument);
    CHECK_THROWS_AS(simulated_network(1, {.path = s}), std::invalid_argument);
  };
  using p = path_settings;
  refused([](p& s) { s.loss = 2; });
  refused([](p& s) { s.duplication = -0.1; });
  refused([](p& s) { s.reordering = std::nan(""); });
  refused([](p& s) { s.delay = ms(-1); });
  refused([](p& s) { s.jitter = ms(-1); });
  refused([](p& s) { s.late_by = ms(-1); });
  CHECK_THROWS_AS(simulated_network(1, {.retransmission = {}}), std::invalid_argument);
  simulated_network net(1);
  CHECK_THROWS_AS(std::ignore = net.host("a").listen(7, {}), std::invalid_argument);
  CHECK_THROWS_AS(std::ignore = net.host("a").listen_datagrams(7, {}), std::invalid_argument);
}

}  // namespace simulated_network_test
