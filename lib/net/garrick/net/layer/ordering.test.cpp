#include "garrick/net/layer/ordering.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "garrick/base/values/random.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/stack/stack.hpp"

namespace ordering_test {

using namespace garrick;
using namespace garrick::net;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct end final : carrier, link_owner {
  std::vector<std::string> sent;
  std::vector<std::string> messages;
  std::vector<lane_number> lanes;
  std::vector<link_event> events;
  bool closed = false;

  void transmit(packet p) override { sent.push_back(text_of(p.bytes())); }
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 1200; }
  void reopen() override {}
  void close() override { closed = true; }
  bool on_message(const incoming& m) override {
    messages.push_back(text_of(m.bytes));
    lanes.push_back(m.lane);
    return true;
  }
  void on_event(const link_event& e) override { events.push_back(e); }
};

struct reliable_datagrams {
  static constexpr properties offers{.messages = true, .reliable = true};
};

using ordered = stack<datagrams, ordering>;
using reliably_ordered = stack<reliable_datagrams, ordering>;
using texts = std::vector<std::string>;

static_assert(ordered::provides.ordered && ordered::provides.lanes && !ordered::provides.reliable);
static_assert(reliably_ordered::provides.reliable);

constexpr base::instant now{};
constexpr base::instant at_ms(std::int64_t ms) {
  return base::instant::at(base::duration::milliseconds(ms));
}

std::string datagram(lane_number lane, std::uint16_t number, std::string_view text) {
  std::string bytes{static_cast<char>(lane), static_cast<char>(number & 0xff),
                    static_cast<char>(number >> 8)};
  return bytes.append(text);
}

/// A receiver that is fed by number; the text is the number.
template <class Stack = ordered>
struct receiver {
  explicit receiver(ordering_settings s = {}) : link(here, here, ordering(s)) {}
  void feed(std::uint16_t number, lane_number lane = 1, base::instant at = now) {
    link.receive(bytes_of(datagram(lane, number, std::to_string(number))), at);
  }
  void feed_all(std::initializer_list<std::uint16_t> numbers) {
    for (const std::uint16_t n : numbers) feed(n);
  }
  [[nodiscard]] const ordering_counters& counters() const {
    return link.template get<ordering>().counters();
  }
  end here;
  Stack link;
};

std::uint64_t seeds() {
  const char* text = std::getenv("GARRICK_SEEDS");
  return text == nullptr ? 200 : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("ordering: each lane has numbers of its own, which come first, three bytes in all") {
  end there;
  ordered link(there, there, ordering());
  for (const lane_number lane : {lane_number{1}, lane_number{200}, lane_number{1}})
    REQUIRE(!link.send({packet::copy_of(bytes_of("x")), lane}, now));
  CHECK(there.sent == texts{datagram(1, 0, "x"), datagram(200, 0, "x"), datagram(1, 1, "x")});
  CHECK(link.header_size() == 3);
}

TEST_CASE("ordering: a message that comes too early is held until the missing one comes") {
  receiver<> r;
  r.feed_all({0, 2, 3, 5});
  CHECK(r.here.messages == texts{"0"});
  CHECK(r.counters().held == 3);
  CHECK(r.counters().gaps == 1);
  r.feed(1);
  CHECK(r.here.messages == texts{"0", "1", "2", "3"});
  r.feed(4);
  CHECK(r.here.messages == texts{"0", "1", "2", "3", "4", "5"});
  CHECK(r.counters().held == 0);
  CHECK(r.counters().held_bytes == 0);
  CHECK(r.link.deadline().is_never());
  CHECK(r.counters().given_up == 0);
}

TEST_CASE("ordering: a gap in one lane holds up no other lane") {
  receiver<> r;
  r.feed(1, 1);
  r.feed(0, 2);
  CHECK(r.here.messages == texts{"0"});
  CHECK(r.here.lanes == std::vector<lane_number>{2});
  r.feed(0, 1);
  CHECK(r.here.messages == texts{"0", "0", "1"});
  CHECK(r.here.lanes == std::vector<lane_number>{2, 1, 1});
}

TEST_CASE("ordering: a full buffer is released from the smallest number on, to the next gap") {
  receiver<> r({.pending = 5});
  r.feed_all({0, 2, 3, 4, 6, 7});
  CHECK(r.here.messages == texts{"0"});
  r.feed(8);
  CHECK(r.here.messages == texts{"0", "2", "3", "4"});
  CHECK(r.counters().released_for_room == 1);
  CHECK(r.counters().given_up == 1);
  CHECK(r.counters().held == 3);
  SUBCASE("and a message that was given up is late") {
    r.feed(1);
    CHECK(r.counters().late == 1);
    CHECK(r.counters().duplicates == 0);
    r.feed(1);
    CHECK(r.counters().duplicates == 1);
    r.feed(5);
    CHECK(r.here.messages == texts{"0", "2", "3", "4", "5", "6", "7", "8"});
  }
}

TEST_CASE("ordering: a message that finds no room is the first to go if it is the smallest") {
  receiver<> r({.pending = 2});
  r.feed_all({3, 4, 2});
  CHECK(r.here.messages == texts{"2", "3", "4"});
  CHECK(r.counters().given_up == 2);
}

TEST_CASE("ordering: without room nothing is held, and a lost message is lost at once") {
  receiver<> r({.pending = 0});
  r.feed_all({0, 2, 1, 3});
  CHECK(r.here.messages == texts{"0", "2", "3"});
  CHECK(r.counters().late == 1);
}

TEST_CASE("ordering: no message waits for longer than the time-out") {
  receiver<> r({.timeout = base::duration::milliseconds(50)});
  r.feed(2, 1, at_ms(10));
  r.feed(4, 1, at_ms(30));
  r.feed(9, 7, at_ms(40));
  CHECK(r.link.deadline() == at_ms(60));
  r.link.advance(at_ms(59));
  CHECK(r.here.messages.empty());
  r.link.advance(at_ms(60));
  CHECK(r.here.messages == texts{"2"});
  CHECK(r.link.deadline() == at_ms(80));
  r.link.advance(at_ms(500));
  CHECK(r.here.messages == texts{"2", "4", "9"});
  CHECK(r.counters().released_by_time == 3);
  CHECK(r.link.deadline().is_never());
}

TEST_CASE(
    "ordering: the clock of a gap begins with the first message that is still held behind it") {
  receiver<> r({.timeout = base::duration::milliseconds(50)});
  r.feed(1, 1, at_ms(0));
  r.feed(3, 1, at_ms(40));
  r.feed(0, 1, at_ms(45));
  CHECK(r.here.messages == texts{"0", "1"});
  CHECK(r.link.deadline() == at_ms(90));
}

TEST_CASE("ordering: a message that comes twice is passed up once") {
  receiver<> r;
  r.feed_all({0, 0, 2, 2, 1, 2, 1, 0});
  CHECK(r.here.messages == texts{"0", "1", "2"});
  CHECK(r.counters().duplicates == 5);
  CHECK(r.counters().late == 0);
}

TEST_CASE("ordering: numbers go round, and are compared by half the range") {
  receiver<> r({.pending = 4});
  for (std::uint32_t n = 0; n < 70000; ++n) r.feed(static_cast<std::uint16_t>(n));
  REQUIRE(r.here.messages.size() == 70000);
  CHECK(r.counters().late + r.counters().duplicates + r.counters().gaps == 0);

  receiver<> edge;
  for (std::uint32_t n = 0; n < 65535; ++n) edge.feed(static_cast<std::uint16_t>(n));
  edge.here.messages.clear();
  edge.feed_all({1, 0, 65535});
  CHECK(edge.here.messages == texts{"65535", "0", "1"});
  edge.feed(static_cast<std::uint16_t>(2 + 32767));
  CHECK(edge.counters().held == 1);
  edge.feed(static_cast<std::uint16_t>(2 + 32768));
  CHECK(edge.counters().late == 1);
}

TEST_CASE("ordering: the bytes of all lanes have one limit, and the longest wait ends first") {
  const auto each = static_cast<std::uint32_t>(ordering::overhead + 1);
  receiver<> r({.bytes = 3 * each, .timeout = base::duration::seconds(9)});
  r.feed(5, 3, at_ms(2));
  r.feed(6, 4, at_ms(1));
  r.feed(7, 5, at_ms(3));
  CHECK(r.here.messages.empty());
  r.feed(8, 6, at_ms(4));
  CHECK(r.here.messages == texts{"6"});
  SUBCASE("the system's lanes have a limit of their own") {
    for (const std::uint16_t n : {std::uint16_t{5}, std::uint16_t{7}}) r.feed(n, 0, at_ms(5));
    r.feed(6, 255, at_ms(6));
    CHECK(r.here.messages == texts{"6"});
    CHECK(r.counters().held == 6);
    r.feed(8, 255, at_ms(7));
    CHECK(r.here.messages == texts{"6", "5"});
    CHECK(r.here.lanes.back() == system_lane);
  }
}

TEST_CASE("ordering: a message larger than all the room is passed up at once") {
  receiver<> r({.bytes = ordering::overhead});
  r.feed(5);
  CHECK(r.here.messages == texts{"5"});
}

TEST_CASE("ordering: datagrams without a whole header are counted and dropped") {
  receiver<> r;
  r.link.receive(bytes_of(""), now);
  r.link.receive(bytes_of(std::string_view("\1\0", 2)), now);
  CHECK(r.counters().malformed == 2);
  r.link.receive(bytes_of(std::string_view("\1\0\0", 3)), now);
  CHECK(r.here.messages == texts{""});
}

TEST_CASE("ordering: held messages come before the peer's end") {
  struct ends_itself : layer_defaults {
    void receive(const incoming& m, layer_context& c) {
      if (m.bytes.empty())
        c.notify({link_event::kind::down});
      else
        static_cast<void>(c.up(m));
    }
  };
  const auto ended = [](auto transport) {
    end here;
    stack<decltype(transport), ordering, ends_itself> link(here, here, ordering(), ends_itself());
    for (const std::uint16_t n : {std::uint16_t{1}, std::uint16_t{3}})
      link.receive(bytes_of(datagram(1, n, std::to_string(n))), now);
    link.receive({}, now);
    REQUIRE(here.events.size() == 1);
    CHECK(here.events[0].what == link_event::kind::down);
    return here.messages;
  };
  CHECK(ended(datagrams()) == texts{"1", "3"});
  // Over a reliable layer no message may be missing, so the held ones are dropped.
  CHECK(ended(reliable_datagrams()).empty());
}

TEST_CASE("ordering: over a reliable layer no gap is given up, neither by time nor for room") {
  receiver<reliably_ordered> r({.pending = 2, .bytes = 100});
  for (std::uint16_t n = 1000; n > 0; --n) r.feed(n);
  CHECK(r.link.deadline().is_never());
  r.link.advance(at_ms(100000));
  CHECK(r.here.messages.empty());
  r.feed(0);
  REQUIRE(r.here.messages.size() == 1001);
  for (std::size_t n = 0; n <= 1000; ++n) REQUIRE(r.here.messages[n] == std::to_string(n));
  CHECK(!r.here.closed);
}

TEST_CASE("ordering: a whole window of early messages is released in order, however it comes") {
  receiver<reliably_ordered> r;
  for (std::uint16_t n = 16384; n > 8192; --n) r.feed(n);
  for (std::uint16_t n = 1; n <= 4096; ++n) r.feed_all({static_cast<std::uint16_t>(8193 - n), n});
  CHECK(r.counters().held == 16384);
  CHECK(r.counters().gaps == 1);
  r.feed(8000);
  CHECK(r.counters().duplicates == 1);
  r.feed(0);
  REQUIRE(r.here.messages.size() == 16385);
  for (std::size_t n = 0; n <= 16384; ++n) REQUIRE(r.here.messages[n] == std::to_string(n));
  CHECK(r.counters().held == 0);
}

TEST_CASE("ordering: over a reliable layer a peer that leaves its window behind ends the link") {
  SUBCASE("by numbers") {
    receiver<reliably_ordered> r({.window = 10});
    r.feed(10);
    CHECK(!r.here.closed);
    r.feed(11);
    CHECK(r.here.closed);
    REQUIRE(r.here.events.size() == 1);
    CHECK(r.here.events[0].what == link_event::kind::down);
    CHECK(r.here.events[0].why == net_errc::overload);
    CHECK(r.counters().held == 0);
    CHECK(r.here.messages.empty());
  }
  SUBCASE("by bytes") {
    receiver<reliably_ordered> r({.window_bytes = 2 * ordering::overhead + 2});
    r.feed_all({1, 2});
    CHECK(!r.here.closed);
    r.feed(3);
    CHECK(r.here.closed);
  }
}

TEST_CASE("ordering: an owner that leaves while it is called is called no more") {
  struct leaving final : link_owner {
    net::any_link* mine = nullptr;
    int messages = 0;
    bool on_message(const incoming&) override {
      if (++messages == 2) mine->leave(now);
      return true;
    }
    void on_event(const link_event&) override {}
  } owner;
  end wire;
  ordered link(owner, wire, ordering());
  owner.mine = &link;
  for (std::uint16_t n = 4; n-- > 0;) link.receive(bytes_of(datagram(1, n, "x")), now);
  CHECK(owner.messages == 2);
}

namespace {

/// The output of a network that loses, doubles and delays 400 messages in up to five lanes.
struct storm {
  std::vector<std::pair<std::uint64_t, std::string>> arrivals;  // in milliseconds
  std::map<lane_number, texts> sent;

  storm(base::random_source& random, bool lossless) {
    end there;
    ordered sender(there, there, ordering());
    for (std::uint64_t i = 0; i < 400; ++i) {
      const auto lane = static_cast<lane_number>(random.below(5) * 63);
      const std::string text = std::to_string(i);
      sent[lane].push_back(text);
      REQUIRE(!sender.send({packet::copy_of(bytes_of(text)), lane}, now));
      if (!lossless && random.below(10) == 0) continue;
      arrivals.emplace_back(i + random.below(20), there.sent.back());
      if (!lossless && random.below(10) == 0)
        arrivals.emplace_back(i + random.below(40), there.sent.back());
    }
    std::sort(arrivals.begin(), arrivals.end());
  }
};

std::map<lane_number, texts> by_lane(const end& here) {
  std::map<lane_number, texts> found;
  for (std::size_t i = 0; i < here.messages.size(); ++i)
    found[here.lanes[i]].push_back(here.messages[i]);
  return found;
}

}  // namespace

TEST_CASE("ordering: over a network that loses and doubles, each lane grows, and all is counted") {
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    const storm weather(random, false);
    const auto timeout = base::duration::milliseconds(static_cast<std::int64_t>(random.below(30)));
    receiver<> r({.pending = static_cast<std::uint16_t>(random.below(20)),
                  .bytes = static_cast<std::uint32_t>(random.below(5000)),
                  .timeout = timeout});
    for (const auto& [ms, bytes] : weather.arrivals) {
      const base::instant at = at_ms(static_cast<std::int64_t>(ms));
      r.link.receive(bytes_of(bytes), at);
      if (r.link.deadline() <= at) r.link.advance(at);
      REQUIRE((r.counters().held == 0) == r.link.deadline().is_never());
      REQUIRE(r.link.deadline() > at);
    }
    const ordering_counters& k = r.counters();
    REQUIRE(r.here.messages.size() + k.held + k.late + k.duplicates == weather.arrivals.size());
    r.link.advance(at_ms(1000));
    REQUIRE(k.held == 0);
    REQUIRE(k.held_bytes == 0);
    for (const auto& [lane, all] : by_lane(r.here)) {
      const texts& sent = weather.sent.at(lane);
      auto from = sent.begin();
      for (const std::string& text : all) {
        from = std::find(from, sent.end(), text);
        REQUIRE(from != sent.end());
        ++from;
      }
    }
  }
}

TEST_CASE("ordering: a network that only delays loses nothing") {
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    const storm weather(random, true);
    const auto check = [&](auto& r) {
      for (const auto& [ms, bytes] : weather.arrivals) {
        r.link.receive(bytes_of(bytes), at_ms(static_cast<std::int64_t>(ms)));
        r.link.advance(at_ms(static_cast<std::int64_t>(ms)));
      }
      REQUIRE(by_lane(r.here) == weather.sent);
    };
    receiver<> r;
    check(r);
    receiver<reliably_ordered> over_reliable({.pending = 0, .timeout = {}});
    check(over_reliable);
  }
}

}  // namespace ordering_test
