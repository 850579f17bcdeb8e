#include "garrick/net/layer/slicing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "garrick/base/values/random.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/layer/framing.hpp"
#include "garrick/net/layer/ordering.hpp"
#include "garrick/net/stack/stack.hpp"

namespace slicing_test {

using namespace garrick;
using namespace garrick::net;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A carrier that takes `takes` datagrams, and an owner that keeps its messages.
struct end final : carrier, link_owner {
  std::vector<packet> sent;
  std::size_t takes = 1u << 30;
  std::size_t path = 100;
  std::vector<std::pair<lane_number, std::string>> messages;
  std::vector<link_event> events;
  bool closed = false;

  void transmit(packet p) override {
    REQUIRE(p.size() <= path);
    sent.push_back(std::move(p));
    takes -= takes == 0 ? 0 : 1;
  }
  [[nodiscard]] bool writable() const override { return takes != 0; }
  [[nodiscard]] std::size_t largest() const override { return path; }
  void reopen() override {}
  void close() override { closed = true; }
  bool on_message(const incoming& m) override {
    messages.emplace_back(m.lane, text_of(m.bytes));
    return true;
  }
  void on_event(const link_event& e) override { events.push_back(e); }

  [[nodiscard]] std::ptrdiff_t count(link_event::kind what) const {
    return std::count_if(events.begin(), events.end(),
                         [&](const link_event& e) { return e.what == what; });
  }
};

struct reliable_datagrams {
  static constexpr properties offers{.messages = true, .ordered = true, .reliable = true};
};

using unordered = stack<datagrams, slicing>;
using reliable = stack<reliable_datagrams, slicing>;
using stream = stack<byte_stream, slicing, framing>;

static_assert(unordered::provides.lanes && !unordered::provides.ordered);
static_assert(stream::provides.ordered && stream::provides.reliable);

constexpr base::instant now{};
constexpr base::instant at_ms(std::int64_t ms) {
  return base::instant::at(base::duration::milliseconds(ms));
}

template <class Stack>
struct endpoint {
  explicit endpoint(slicing_settings s = {}) : link(here, here, slicing(s)) {}
  void send(std::string_view text, lane_number lane = 1) {
    REQUIRE(!link.send({packet::copy_of(bytes_of(text), 32), lane}, now));
  }
  void take(std::size_t more) {
    here.takes += more;
    link.carrier_writable(now);
  }
  [[nodiscard]] const slicing_counters& counters() const {
    return link.template get<slicing>().counters();
  }
  end here;
  Stack link;
};

std::string text_of_size(std::size_t size, std::uint64_t seed = 1) {
  base::random_source random(seed);
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>('a' + random.below(26));
  return text;
}

/// Returns "w" for a whole message or "p" for a piece, and the lane, of each datagram sent.
std::string turns_of(const end& e) {
  std::string turns;
  for (const packet& p : e.sent) {
    turns += p.bytes()[0] == std::byte{0} ? 'w' : 'p';
    turns += std::to_string(static_cast<unsigned>(p.bytes()[1])) + " ";
  }
  return turns;
}

std::uint64_t seeds() {
  const char* text = std::getenv("GARRICK_SEEDS");
  return text == nullptr ? 200 : std::strtoull(text, nullptr, 10);
}

using message = std::pair<lane_number, std::string>;

}  // namespace

TEST_CASE("slicing: a message that fits goes down where it lies, behind one byte and its lane") {
  endpoint<unordered> e;
  packet whole = packet::copy_of(bytes_of(text_of_size(98)), 32);
  const std::byte* at = whole.bytes().data();
  REQUIRE(!e.link.send({std::move(whole), 7}, now));
  REQUIRE(e.here.sent.size() == 1);
  CHECK(e.here.sent[0].bytes().data() == at - 2);
  CHECK(text_of(e.here.sent[0].bytes().first(2)) == std::string_view("\0\7", 2));

  end here;
  stack<datagrams, slicing, ordering> with_lanes(here, here, slicing(), ordering());
  REQUIRE(!with_lanes.send({packet::copy_of(bytes_of("x")), 7}, now));
  CHECK(text_of(here.sent[0].bytes()) == std::string_view("\7\0\0\0x", 5));
}

TEST_CASE("slicing: a message of any size comes back whole, in its lane") {
  endpoint<unordered> from;
  endpoint<unordered> to;
  for (std::size_t size = 0; size < 500; ++size) {
    const std::string text = text_of_size(size);
    from.send(text, static_cast<lane_number>(size % 256));
    for (const packet& p : from.here.sent) to.link.receive(p.bytes(), now);
    from.here.sent.clear();
    REQUIRE(to.here.messages.size() == 1);
    REQUIRE(to.here.messages[0] == message{static_cast<lane_number>(size % 256), text});
    to.here.messages.clear();
  }
  CHECK(from.counters().cut == 500 - 99);
  CHECK(to.counters().joined == 500 - 99);
  CHECK(to.counters().partial_bytes == 0);
}

TEST_CASE("slicing: pieces may come in any order and twice, and the message comes once") {
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    endpoint<unordered> from;
    endpoint<unordered> to;
    std::multiset<message> sent;
    for (std::uint64_t i = 0; i < 8; ++i) {
      const auto lane = static_cast<lane_number>(random.below(4));
      const std::string text = text_of_size(100 + random.below(900), seed * 100 + i);
      sent.emplace(lane, text);
      from.send(text, lane);
    }
    std::vector<packet> wire;
    for (const packet& p : from.here.sent) {
      wire.push_back(p.share());
      if (random.below(3) == 0) wire.push_back(p.share());
    }
    std::shuffle(wire.begin(), wire.end(), random);
    for (const packet& p : wire) {
      to.link.receive(p.bytes(), now);
      REQUIRE(to.counters().partial_bytes <= 16 * 1024);
    }
    REQUIRE(std::multiset<message>(to.here.messages.begin(), to.here.messages.end()) == sent);
    REQUIRE(to.counters().repeated + to.counters().stale == wire.size() - from.here.sent.size());
    REQUIRE(to.counters().malformed == 0);
    REQUIRE(to.counters().partial_bytes == 0);
  }
}

TEST_CASE("slicing: lanes take turns, the system's come first, and each lane keeps its order") {
  endpoint<unordered> e;
  e.here.takes = 0;
  const std::string large = text_of_size(3 * 86);
  e.send(large, 1);
  e.send("after the large one", 1);
  e.send("small", 2);
  e.send(large, 3);
  e.send(large, 0);
  CHECK(e.here.sent.empty());
  e.take(1);
  e.send(large, 255);
  e.take(100);
  CHECK(turns_of(e.here) == "p0 p0 p0 p255 p255 p255 p1 w2 p3 p1 p3 p1 p3 w1 ");

  endpoint<unordered> to;
  for (const packet& p : e.here.sent) to.link.receive(p.bytes(), now);
  CHECK(to.here.messages.size() == 6);
  CHECK(to.here.messages.back() == message{1, "after the large one"});
  CHECK(e.counters().queued == 0);
  CHECK(e.counters().queued_bytes == 0);
}

TEST_CASE("slicing: nothing overtakes the messages that wait in its lane") {
  endpoint<unordered> e;
  e.here.takes = 0;
  e.send("first");
  e.here.takes = 10;  // no event has reported that yet
  e.send("second");
  REQUIRE(e.here.sent.size() == 2);
  CHECK(text_of(e.here.sent[0].bytes()).ends_with("first"));
}

TEST_CASE("slicing: small messages of the system wait for no lane but their own") {
  endpoint<unordered> e;
  e.here.takes = 0;
  e.send("ordinary", 1);
  e.send("urgent", 0);
  CHECK(turns_of(e.here) == "w0 ");
  e.send(text_of_size(200), 0);
  e.send("behind", 0);
  e.send("other", 255);
  CHECK(turns_of(e.here) == "w0 w255 ");
  e.take(100);
  CHECK(turns_of(e.here) == "w0 w255 p0 p0 p0 w0 w1 ");
}

TEST_CASE("slicing: a full queue is not writable until it is half empty, and says so once") {
  endpoint<unordered> e({.queue_messages = 4, .queue_bytes = 1000});
  e.here.takes = 0;
  SUBCASE("by messages") {
    for (int i = 0; i < 4; ++i) e.send("x");
    CHECK(!e.link.writable());
    CHECK(e.link.send({packet::copy_of(bytes_of("x"))}, now) == net_errc::overload);
    e.take(1);
    CHECK(!e.link.writable());
    CHECK(e.here.count(link_event::kind::writable) == 0);
    e.take(2);
    CHECK(e.link.writable());
    CHECK(e.here.count(link_event::kind::writable) == 1);
    e.take(2);
    CHECK(e.here.count(link_event::kind::writable) == 1);
  }
  SUBCASE("by bytes, of which the last message may have more") {
    e.send(text_of_size(999));
    CHECK(e.link.writable());
    e.send(text_of_size(5000));
    CHECK(!e.link.writable());
    e.take(1000);
    CHECK(e.link.writable());
    CHECK(e.here.count(link_event::kind::writable) == 1);
  }
  SUBCASE("by large messages, which have room of their own") {
    endpoint<unordered> large({.largest = 100'000, .queue_bytes = 1000, .partial_bytes = 100'000});
    large.here.takes = 0;
    for (int i = 0; i < 2; ++i) large.send(text_of_size(90'000));
    large.send(text_of_size(999), 2);
    CHECK(large.link.writable());
    large.send(text_of_size(90'000));
    CHECK(!large.link.writable());
    large.take(100'000);
    CHECK(large.link.writable());
    CHECK(large.here.count(link_event::kind::writable) == 1);
  }
  SUBCASE("the system's messages do not fill it") {
    for (int i = 0; i < 3; ++i) e.send(text_of_size(600), 0);
    CHECK(e.link.writable());
  }
}

TEST_CASE("slicing: more messages of the system than there is room for end the link") {
  endpoint<unordered> e({.largest = 1000, .queue_messages = 4, .queue_bytes = 1000});
  e.here.takes = 0;
  for (int i = 0; i < 4; ++i) e.send(text_of_size(200), 0);
  CHECK(!e.here.closed);
  e.send(text_of_size(200), 0);
  CHECK(e.here.closed);
  REQUIRE(e.here.count(link_event::kind::down) == 1);
  CHECK(e.here.events.back().why == net_errc::overload);

  endpoint<unordered> large({.largest = 1000, .queue_messages = 100, .queue_bytes = 1000});
  large.here.takes = 0;
  for (int i = 0; i < 2; ++i) large.send(text_of_size(1000), 0);
  CHECK(!large.here.closed);
  large.send("x", 0);
  CHECK(large.here.closed);
}

TEST_CASE("slicing: a whole message has at most the largest size") {
  endpoint<reliable> e({.largest = 10});
  e.link.receive(bytes_of(std::string(2, '\0') + std::string(10, 'x')), now);
  CHECK(!e.here.closed);
  CHECK(e.here.messages == std::vector{message{0, std::string(10, 'x')}});
  e.link.receive(bytes_of(std::string(2, '\0') + std::string(11, 'x')), now);
  CHECK(e.here.closed);
  CHECK(e.here.messages.size() == 1);
}

TEST_CASE("slicing: pieces that are not sent yet are as large as the path is then") {
  endpoint<unordered> e;
  endpoint<unordered> to;
  e.here.takes = 1;
  const std::string text = text_of_size(400);
  e.send(text);
  e.here.path = 50;
  e.link.path_changed(50, now);
  e.take(2);
  e.here.path = 1000;
  e.link.path_changed(1000, now);
  e.take(100);
  std::vector<std::size_t> sizes;
  for (const packet& p : e.here.sent) {
    sizes.push_back(p.size());
    to.link.receive(p.bytes(), now);
  }
  CHECK(sizes == std::vector<std::size_t>{100, 50, 50, 400 - 86 - 2 * 36 + 14});
  CHECK(to.here.messages == std::vector{message{1, text}});
}

TEST_CASE("slicing: on a path that takes no piece everything waits for a better one") {
  endpoint<unordered> e;
  e.here.path = 14;
  e.send(text_of_size(50));
  CHECK(e.here.sent.empty());
  CHECK(e.counters().queued == 1);
  e.here.path = 15;
  e.link.path_changed(15, now);
  CHECK(e.here.sent.size() == 50);
}

TEST_CASE("slicing: waiting messages go when the session opens") {
  endpoint<unordered> e;
  e.here.takes = 0;
  e.send("early");
  e.here.takes = 1;
  e.link.connected(now);
  CHECK(turns_of(e.here) == "w1 ");
  CHECK(e.here.count(link_event::kind::connected) == 1);
}

TEST_CASE("slicing: pieces have a limit of their own, so a large frame holds up no other lane") {
  end here;
  here.path = 1u << 30;
  stream link(here, here, slicing({.piece = 1000}), framing());
  REQUIRE(!link.send({packet::copy_of(bytes_of(text_of_size(5000)), 32)}, now));
  REQUIRE(here.sent.size() == 6);
  CHECK(here.sent[0].size() == 1004);
}

TEST_CASE("slicing: no more is under way at a time than the other end takes") {
  endpoint<unordered> e({.largest = 500, .partial_messages = 2, .partial_bytes = 800});
  e.here.takes = 0;
  e.send(text_of_size(400), 1);
  e.send(text_of_size(400), 2);
  e.send(text_of_size(100), 3);
  e.send("small", 4);
  e.take(100);
  CHECK(turns_of(e.here) == "p1 p2 w4 p1 p2 p1 p2 p1 p2 p1 p2 p3 p3 ");
  e.here.sent.clear();
  e.here.takes = 0;
  for (const lane_number lane : {lane_number{5}, lane_number{6}}) e.send(text_of_size(150), lane);
  e.take(100);
  CHECK(turns_of(e.here) == "p5 p6 p5 p6 ");

  // Three messages together exceed the limit in bytes, so the third one waits.
  endpoint<unordered> by_bytes({.largest = 500, .partial_bytes = 800});
  by_bytes.here.takes = 0;
  by_bytes.send(text_of_size(400), 1);
  by_bytes.send(text_of_size(300), 2);
  by_bytes.send(text_of_size(200), 3);
  by_bytes.take(4);
  CHECK(turns_of(by_bytes.here) == "p1 p2 p1 p2 ");
}

TEST_CASE("slicing: a lost stream takes along the messages that were not whole or not sent") {
  end here;
  here.path = 1u << 30;
  stream link(here, here, slicing({.piece = 64, .queue_messages = 2}), framing());
  here.takes = 1;
  for (int i = 0; i < 2; ++i)
    REQUIRE(!link.send({packet::copy_of(bytes_of(text_of_size(200)), 32)}, now));
  CHECK(!link.writable());
  const std::string first = text_of(here.sent.at(0).bytes());
  link.receive(bytes_of(first), now);
  CHECK(link.get<slicing>().counters().partial == 1);

  link.disconnected(net_errc::connection_lost, now);
  CHECK(link.writable());
  CHECK(here.count(link_event::kind::writable) == 1);
  CHECK(link.get<slicing>().counters().partial == 0);
  here.sent.clear();
  here.takes = 100;
  link.connected(now);
  CHECK(here.sent.empty());
  REQUIRE(!link.send({packet::copy_of(bytes_of("new")), 1}, now));
  link.receive(here.sent.at(0).bytes(), now);
  CHECK(here.messages == std::vector{message{1, "new"}});
}

TEST_CASE("slicing: datagrams that are lost for a while take nothing with them") {
  endpoint<unordered> e;
  e.here.takes = 1;
  e.send(text_of_size(200));
  e.link.disconnected(net_errc::connection_lost, now);
  e.take(100);
  CHECK(e.here.sent.size() == 3);
}

TEST_CASE("slicing: two ends with equal limits exchange everything, each lane in order") {
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    const slicing_settings s{.largest = 2000,
                             .piece = 64 + random.below(200),
                             .queue_messages = 1 + random.below(20),
                             .partial_messages = random.below(4),
                             .partial_bytes = random.below(4000)};
    endpoint<reliable> from(s);
    endpoint<reliable> to(s);
    from.here.takes = 0;
    std::map<lane_number, std::vector<std::string>> sent;
    std::size_t delivered = 0;
    const auto carry = [&] {
      for (; delivered != from.here.sent.size(); ++delivered)
        to.link.receive(from.here.sent[delivered].bytes(), now);
    };
    for (std::uint64_t i = 0; i < 60; ++i) {
      const auto lane = static_cast<lane_number>(random.below(8) * 36 + random.below(2));
      const std::string text = text_of_size(random.below(random.below(2) == 0 ? 80 : 2000), i);
      if (lane == 0 ? from.counters().queued < s.queue_messages : from.link.writable()) {
        from.send(text, lane);
        sent[lane].push_back(text);
      }
      from.here.path = 20 + random.below(300);
      from.link.path_changed(from.here.path, now);
      from.take(random.below(12));
      carry();
    }
    from.take(100000);
    carry();
    REQUIRE(!to.here.closed);
    REQUIRE(!from.here.closed);
    std::map<lane_number, std::vector<std::string>> found;
    for (const message& m : to.here.messages) found[m.first].push_back(m.second);
    REQUIRE(found == sent);
    REQUIRE(from.counters().queued == 0);
    REQUIRE(to.counters().partial_bytes == 0);
  }
}

TEST_CASE("slicing: over a network that loses, only messages that were sent come, at most once") {
  using lossy = stack<datagrams, slicing, ordering>;
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    end wire;
    end here;
    const ordering_settings o{.pending = static_cast<std::uint16_t>(random.below(10))};
    lossy from(wire, wire, slicing(), ordering());
    lossy to(here, here, slicing({.expiry = base::duration::milliseconds(30)}), ordering(o));
    std::map<lane_number, std::vector<std::string>> sent;
    for (std::uint64_t i = 0; i < 50; ++i) {
      const auto lane = static_cast<lane_number>(random.below(3));
      const std::string text = text_of_size(8 + random.below(400), seed * 1000 + i);
      sent[lane].push_back(text);
      REQUIRE(!from.send({packet::copy_of(bytes_of(text)), lane}, now));
    }
    std::vector<std::pair<std::uint64_t, std::size_t>> arrivals;
    for (std::size_t i = 0; i < wire.sent.size(); ++i)
      for (std::uint32_t times = random.below(20); times < 20; times += 10 + random.below(10))
        if (random.below(20) != 0) arrivals.emplace_back(i + random.below(10), i);
    std::sort(arrivals.begin(), arrivals.end());
    for (const auto& [ms, i] : arrivals) {
      const base::instant at = at_ms(static_cast<std::int64_t>(ms));
      to.receive(wire.sent[i].bytes(), at);
      to.advance(at);
    }
    to.advance(at_ms(10000));
    to.advance(at_ms(20000));
    REQUIRE(to.get<slicing>().counters().malformed == 0);
    REQUIRE(to.get<slicing>().counters().partial_bytes == 0);
    REQUIRE(here.messages.size() > 10);
    for (auto& [lane, all] : sent) {
      auto place = all.begin();
      for (const message& m : here.messages) {
        if (m.first != lane) continue;
        place = std::find(place, all.end(), m.second);
        REQUIRE(place != all.end());
        ++place;
      }
    }
  }
}

}  // namespace slicing_test
