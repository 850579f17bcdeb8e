#include "garrick/net/layer/reliability.hpp"

#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "garrick/net/little_endian.hpp"
#include "garrick/net/stack/internal/hand_carried.hpp"
#include "garrick/net/stack/stack.hpp"

namespace reliability_test {

using namespace garrick;
using namespace garrick::net;
using base::duration;
using base::instant;
using internal::bytes_of;
using end = internal::hand_carried;

namespace {

constexpr duration us(std::int64_t n) { return duration::microseconds(n); }
constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

constexpr reliability_settings much_waits{.most_unsent_bytes = 1 << 20};

constexpr std::byte operator""_b(unsigned long long b) { return static_cast<std::byte>(b); }
using bytes = std::vector<std::byte>;
bytes datagram(const packet& p) { return {p.bytes().begin(), p.bytes().end()}; }

/// A datagram with nothing but an acknowledgement.
bytes acknowledging(const acknowledgement& a) {
  bytes all(1 + a.size());
  all[0] = 2_b;
  encode(all.data() + 1, a);
  return all;
}

template <properties P>
constexpr bool takes = reliability::check_below(P) == misfit::none;

}  // namespace

TEST_CASE("reliability: it makes datagrams reliable, and is refused by a stream") {
  static_assert(takes<properties{.messages = true}>);
  static_assert(!takes<properties{.messages = true, .reliable = true}>);
  static_assert(!takes<properties{.messages = true, .connected = true}>);
  static_assert(!takes<properties{}>);
  static_assert(stack<datagrams, reliability>::provides.reliable);
  static_assert(!stack<datagrams, reliability>::provides.ordered);
}

TEST_CASE("reliability: the bytes are those of the page of the wire") {
  end a, b;
  a.send("hi");
  REQUIRE(a.out.size() == 1);
  CHECK(datagram(a.out[0]) == bytes{1_b, 0x00_b, 0xff_b, 0xff_b, 0xff_b, 0_b, 0x68_b, 0x69_b});
  a.send("ho");
  std::swap(a.out[0], a.out[1]);
  a.out.pop_back();  // the first is lost
  a.flush_to(b);
  b.now = b.now + us(300);
  b.advance_to(b.now);
  REQUIRE(b.out.size() == 1);
  CHECK(datagram(b.out[0]) == bytes{2_b, 0x00_b, 0xff_b, 0xff_b, 0xff_b, 0x01_b, 0xff_b, 0xff_b,
                                    0xff_b, 0_b, 0x2c_b, 0x01_b, 1_b, 1_b, 0_b, 1_b, 0_b});
  b.out.clear();
  a.advance_to(a.now + ms(100));
  a.flush_to(b);
  b.send("ha");
  CHECK(datagram(b.out.at(0)) == bytes{3_b,    0x00_b, 0xff_b, 0xff_b, 0xff_b, 0_b,    0x02_b,
                                       0xff_b, 0xff_b, 0xff_b, 0x00_b, 0xff_b, 0xff_b, 0xff_b,
                                       1_b,    0_b,    0_b,    0_b,    0x68_b, 0x61_b});
  CHECK(b.come == std::vector<std::string>{"ho", "hi"});
}

TEST_CASE("reliability: a lone packet is acknowledged within a millisecond, two at once") {
  end a, b;
  a.send("1");
  a.flush_to(b);
  CHECK(b.out.empty());
  CHECK(b.stack.deadline() > b.now);
  CHECK(b.stack.deadline() <= b.now + ms(1));

  SUBCASE("after the delay") {
    b.advance_to(b.now + ms(1));
    CHECK(b.out.size() == 1);
    CHECK(b.counters().acknowledgements == 1);
  }
  SUBCASE("with the answer") {
    b.send("2");
    REQUIRE(b.out.size() == 1);
    CHECK(datagram(b.out[0])[0] == 3_b);
    b.flush_to(a);
    CHECK(a.layer().buffered() == 0);
    b.advance_to(b.now + ms(2));
    CHECK(b.counters().acknowledgements == 0);
  }
  SUBCASE("when the second has come") {
    a.send("2");
    a.flush_to(b);
    CHECK(b.stack.deadline() == b.now);
    b.advance_to(b.now);
    CHECK(b.out.size() == 1);
    b.flush_to(a);
    CHECK(a.layer().buffered() == 0);
    CHECK(a.stack.deadline().is_never());
  }
}

TEST_CASE(
    "reliability: a gap and a duplicate are acknowledged at once, and each packet passes once") {
  end a, b;
  a.send("1");
  a.send("2");
  a.send("3");
  b.stack.receive(a.out[2].bytes(), b.now);
  CHECK(b.stack.deadline() == b.now);
  b.advance_to(b.now);
  CHECK(b.out.size() == 1);
  b.stack.receive(a.out[2].bytes(), b.now);
  CHECK(b.stack.deadline() == b.now);
  b.advance_to(b.now);
  CHECK(b.out.size() == 2);
  CHECK(b.come == std::vector<std::string>{"3"});
  CHECK(b.counters().duplicates == 1);
  CHECK(b.counters().gaps == 2);
  b.flush_to(a);
  CHECK(a.layer().buffered() == 2);
  a.flush_to(b);
  CHECK(b.come == std::vector<std::string>{"3", "1", "2"});
  CHECK(b.counters().received == 3);
}

TEST_CASE("reliability: a packet is lost when three later transmissions have come, once each") {
  end a, b;
  for (const char* text : {"0", "1", "2", "3"}) a.send(text);
  a.out.erase(a.out.begin());
  a.now = b.now = a.now + ms(1);
  a.flush_to(b);
  b.advance_to(b.now);
  b.flush_to(a);
  REQUIRE(a.out.size() == 1);
  CHECK(a.counters().retransmitted == 1);
  CHECK(a.counters().timeouts == 0);
  CHECK(datagram(a.out[0])[5] == 1_b);  // the second attempt
  a.flush_to(b);
  CHECK(b.come == std::vector<std::string>{"1", "2", "3", "0"});
}

TEST_CASE(
    "reliability: two packets later it is not lost yet, but an eighth of a round trip later") {
  end a, b;
  a.now = b.now = a.now + ms(1);
  for (const char* text : {"0", "1", "2"}) a.send(text);
  a.out.erase(a.out.begin());
  const instant sent = a.now;
  a.now = b.now = a.now + ms(80);
  a.flush_to(b);
  b.advance_to(b.now);
  b.flush_to(a);
  CHECK(a.out.empty());
  CHECK(a.stack.deadline() == sent + ms(90));
  a.advance_to(sent + ms(90));
  CHECK(a.out.size() == 1);
  CHECK(a.counters().timeouts == 0);
}

TEST_CASE(
    "reliability: an unacknowledged packet is sent again after twice the time, up to a second") {
  end a;
  const instant begin = a.now;
  a.send("1");
  std::vector<std::int64_t> waits;
  instant last = begin;
  while (waits.size() < 7) {
    a.advance_to(a.stack.deadline());
    if (a.out.size() < waits.size() + 2) continue;
    waits.push_back((a.now - last).count() / 1'000'000);
    last = a.now;
  }
  CHECK(waits == std::vector<std::int64_t>{100, 200, 400, 800, 1000, 1000, 1000});
  CHECK(a.counters().timeouts == 7);
  CHECK(a.counters().retransmitted == 7);
}

TEST_CASE("reliability: a round trip is that of the transmission that has arrived") {
  end a, b;
  a.send("1");
  packet first = std::move(a.out[0]);
  a.out.clear();
  const instant begin = a.now;
  a.advance_to(begin + ms(100));
  REQUIRE(a.out.size() == 1);
  const auto acknowledge_at = [&](const packet& p, duration after) {
    b.stack.receive(p.bytes(), b.now);
    b.advance_to(b.stack.deadline());
    a.now = begin + after + ms(1);  // the delay of the acknowledgement does not count
    b.flush_to(a);
  };
  SUBCASE("the first, though another was sent meanwhile") {
    acknowledge_at(first, ms(130));
    CHECK(a.layer().times().latest() == ms(131));
    CHECK(a.counters().spurious == 1);
  }
  SUBCASE("the second") {
    acknowledge_at(a.out[0], ms(130));
    CHECK(a.layer().times().latest() == ms(31));
    CHECK(a.counters().spurious == 0);
  }
  SUBCASE("the delay is taken off when the way is known") {
    acknowledge_at(a.out[0], ms(130));
    a.out.clear();
    a.send("2");
    b.stack.receive(a.out[0].bytes(), b.now);
    b.advance_to(b.stack.deadline());
    CHECK(b.out.size() == 1);
    a.now = a.now + ms(41);
    b.flush_to(a);
    CHECK(a.layer().times().latest() == ms(40));
  }
}

TEST_CASE("reliability: packets that no honest peer sends are counted and change nothing") {
  end a, b;
  a.send("1");
  a.send("2");
  a.flush_to(b);
  const sequence_number s = first_sequence;
  const acknowledgement good{.next = s, .newest = s + 1, .ranges = {}};
  std::vector<bytes> bad{
      {},
      {0_b},                           // neither packet nor acknowledgement
      {4_b, 0_b, 0_b, 0_b, 0_b, 0_b},  // an unknown flag
      {1_b, 0_b, 0_b, 0_b, 0_b},       // half a packet's number
      {2_b, 0_b},
  };
  const auto with = [&](auto change) {
    acknowledgement it = good;
    change(it);
    bad.push_back(acknowledging(it));
  };
  with([&](auto& it) { it.next = s + 3; });        // never sent
  with([&](auto& it) { it.newest = s + 2; });      // never sent
  with([&](auto& it) { it.next = s - 100'000; });  // acknowledged long ago
  with([&](auto& it) { it.next = s + 0x8000'0000u; });
  with([&](auto& it) { it.attempt = 1; });  // never sent so often
  const auto ranges = [&](std::initializer_list<packet_range> all) {
    with([&](auto& it) {
      for (const packet_range& r : all) it.ranges[it.range_count++] = r;
    });
  };
  ranges({{1, 2}});  // beyond the sent packets
  ranges({{0, 1}});  // a missing packet among the received ones
  ranges({{1, 0}});  // empty
  ranges({{1, 65535}});
  ranges({{65535, 65535}});
  bytes longer = acknowledging(good);
  longer.push_back(0_b);  // bytes behind it
  bad.push_back(longer);
  bytes shorter = acknowledging(good);
  shorter[12] = 1_b;  // a range that is not there
  bad.push_back(shorter);
  shorter[12] = 33_b;
  shorter.resize(13 + 33 * 4);
  bad.push_back(shorter);

  for (std::size_t i = 0; i < bad.size(); ++i) {
    CAPTURE(i);
    a.stack.receive(bad[i], a.now);
    REQUIRE(a.counters().malformed == i + 1);
    REQUIRE(a.layer().buffered() == 2);
  }
  a.stack.receive(acknowledging(good), a.now);
  CHECK(a.layer().buffered() == 1);
  CHECK(a.counters().malformed == bad.size());

  SUBCASE("ranges that touch or overlap, too") {
    for (int i = 0; i < 20; ++i) a.send("x");
    for (const packet_range second : {packet_range{4, 1}, packet_range{3, 2}, packet_range{1, 1}}) {
      acknowledgement it = good;
      it.ranges[0] = {2, 2};
      it.ranges[1] = second;
      it.range_count = 2;
      const std::uint64_t before = a.counters().malformed;
      a.stack.receive(acknowledging(it), a.now);
      CHECK(a.counters().malformed == before + 1);
    }
  }
}

TEST_CASE("reliability: a packet too far ahead is dropped") {
  end b;
  bytes ahead{1_b, 0_b, 0_b, 0_b, 0_b, 0_b, 0x61_b};
  store_le(ahead.data() + 1, first_sequence + sequence_window);
  b.stack.receive(ahead, b.now);
  CHECK(b.come.empty());
  CHECK(b.counters().beyond == 1);
  CHECK(b.stack.deadline().is_never());
  store_le(ahead.data() + 1, first_sequence + sequence_window - 1);
  b.stack.receive(ahead, b.now);
  CHECK(b.come.size() == 1);
}

TEST_CASE("reliability: bytes under way are not written to by a retransmission") {
  end a;
  a.send("1");
  a.advance_to(a.now + ms(100));
  a.advance_to(a.now + ms(200));
  REQUIRE(a.out.size() == 3);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(datagram(a.out[i]) ==
          bytes{1_b, 0x00_b, 0xff_b, 0xff_b, 0xff_b, static_cast<std::byte>(i), 0x31_b});
}

TEST_CASE("reliability: only as many packets as the window allows are in flight, urgent or not") {
  end a(much_waits);
  for (int i = 0; i < 200; ++i) a.send(std::string(1000, 'x'), system_lane);
  const std::size_t in_flight = a.layer().in_flight() * 1064;
  CHECK(in_flight > a.layer().window());
  CHECK(in_flight <= a.layer().window() + 8 * 1064);
  for (int i = 0; i < 200; ++i) a.send(std::string(1000, 'x'));
  CHECK(a.layer().in_flight() * 1064 == in_flight);
}

TEST_CASE("reliability: after three time-outs in a row the window begins again with two packets") {
  end a;
  a.send("1");
  for (int i = 0; i < 2; ++i) a.advance_to(a.stack.deadline());
  CHECK(a.counters().timeouts == 2);
  CHECK(a.layer().window() > 10'000);
  a.advance_to(a.stack.deadline());
  CHECK(a.layer().window() == 2 * (1200 + 64));
}

TEST_CASE("reliability: sixteen packets are acknowledged even if no time passes") {
  end a, b;
  for (int i = 0; i < 40; ++i) a.send("x");
  a.flush_to(b);
  CHECK(b.out.size() == 2);
  b.flush_to(a);
  CHECK(a.layer().buffered() == 8);
}

TEST_CASE("reliability: a packet sent twice does not prove that the second transmission came") {
  end a, b;
  for (int i = 0; i < 6; ++i) a.send("x");
  std::vector<packet> late = std::exchange(a.out, {});
  a.advance_to(a.now + ms(100));
  REQUIRE(a.out.size() == 1);
  a.out.clear();
  for (int i = 0; i < 2; ++i) b.stack.receive(late[static_cast<std::size_t>(i)].bytes(), b.now);
  b.advance_to(b.now);
  b.flush_to(a);
  CHECK(a.layer().buffered() == 4);
  // If the second transmission seemed to have come, the packets sent before it would be lost.
  CHECK(a.out.empty());
}

TEST_CASE(
    "reliability: the first lost packet is sent again at once, though the window has shrunk") {
  end a(much_waits), b;
  for (int i = 0; i < 200; ++i) a.send(std::string(1000, 'x'));
  const auto pass = [&](duration d) {
    for (const instant until = a.now + d; a.now < until;) a.advance_to(a.now + ms(1));
    b.now = a.now;
  };
  for (int i = 0; i < 3; ++i) {
    pass(ms(20));
    a.flush_to(b);
    b.advance_to(b.now);
    b.flush_to(a);
  }
  pass(ms(20));
  REQUIRE(a.out.size() > 40);
  for (std::size_t i = 1; i < 4; ++i) b.stack.receive(a.out[i].bytes(), b.now);
  a.out.clear();
  b.advance_to(b.now);
  b.flush_to(a);
  REQUIRE(a.layer().in_flight() * 1064 > a.layer().window());
  REQUIRE(a.out.size() == 1);
  CHECK(datagram(a.out[0])[5] == 1_b);
}

TEST_CASE("reliability: time-outs are counted from the last acknowledgement on") {
  end a, b;
  a.send("1");
  for (int i = 0; i < 2; ++i) a.advance_to(a.stack.deadline());
  a.flush_to(b);
  b.advance_to(b.now);
  b.flush_to(a);
  REQUIRE(a.layer().buffered() == 0);
  a.send("2");
  CHECK(a.stack.deadline() - a.now == reliability_settings().shortest_timeout);
}

TEST_CASE("reliability: a path that takes more has a window for two packets of its own") {
  end a;
  a.send("1");
  for (int i = 0; i < 3; ++i) a.advance_to(a.stack.deadline());
  REQUIRE(a.layer().window() == 2 * (1200 + 64));
  a.path = 4000;
  a.stack.path_changed(a.path, a.now);
  CHECK(a.layer().window() == 2 * (4000 + 64));
}

TEST_CASE("reliability: some numbers are kept for the system") {
  end a, b;
  // The first packet never comes, so all others are beyond it.
  const auto carry = [&] {
    for (const packet& p : std::exchange(a.out, {})) {
      const bool is_first = p.bytes()[0] == 1_b && load_le<std::uint32_t>(&p.bytes()[1]) ==
                                                       static_cast<std::uint32_t>(first_sequence);
      if (!is_first) b.stack.receive(p.bytes(), b.now);
    }
    a.advance_to(a.now + ms(1));
    b.advance_to(a.now);
    b.flush_to(a);
  };
  const auto beyond = [&] { return b.counters().received; };
  for (int i = 0; i < 9000 && a.stack.writable(); ++i) {
    a.send("x");
    carry();
  }
  CHECK(beyond() == sequence_window - 1024 - 1);
  a.send("signal", system_lane);
  carry();
  CHECK(beyond() == sequence_window - 1024);
  CHECK(b.come.back() == "signal");
}

TEST_CASE("reliability: a way that reorders no more is trusted again after sixteen losses") {
  end a, b;
  const auto answer = [&] {
    b.advance_to(b.now);
    b.flush_to(a);
  };
  // Loses the first of some packets. Returns true if it is sent again when the others have come.
  const auto is_lost_before = [&](std::size_t others) {
    for (std::size_t i = 0; i <= others; ++i) a.send("x");
    std::vector<packet> sent = std::exchange(a.out, {});
    REQUIRE(sent.size() == others + 1);
    for (std::size_t i = 1; i <= others; ++i) b.stack.receive(sent[i].bytes(), b.now);
    answer();
    const bool again = !a.out.empty();
    b.stack.receive(again ? a.out.at(0).bytes() : sent[0].bytes(), b.now);
    answer();
    REQUIRE(a.layer().buffered() == 0);
    a.out.clear();
    return again;
  };
  CHECK(is_lost_before(3));
  // The packet was only late: from now on it is taken to be lost after six others.
  for (int i = 0; i < 4; ++i) a.send("x");
  std::vector<packet> sent = std::exchange(a.out, {});
  for (std::size_t i = 1; i < 4; ++i) b.stack.receive(sent[i].bytes(), b.now);
  answer();
  REQUIRE(a.out.size() == 1);
  b.stack.receive(sent[0].bytes(), b.now);
  answer();
  CHECK(a.counters().spurious == 1);
  a.out.clear();
  CHECK(!is_lost_before(3));
  for (int i = 0; i < 16; ++i) CHECK(is_lost_before(6));
  CHECK(is_lost_before(3));
}

TEST_CASE("reliability: of a peer that is down nothing is kept") {
  struct ends_itself : layer_defaults {
    void receive(const incoming&, layer_context& c) { c.notify({link_event::kind::down}); }
  };
  end a;
  net::stack<datagrams, reliability, ends_itself> link(a, a, reliability(), ends_itself());
  link.connected(a.now);
  for (const lane_number lane : {lane_number{1}, system_lane})
    REQUIRE(!link.send({packet::copy_of(bytes_of("x")), lane}, a.now));
  CHECK(link.get<reliability>().buffered() == 2);
  link.receive({}, a.now);
  CHECK(link.get<reliability>().buffered() == 0);
  CHECK(link.get<reliability>().deadline().is_never());
}

}  // namespace reliability_test
