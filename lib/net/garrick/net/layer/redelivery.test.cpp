#include "garrick/net/layer/redelivery.hpp"

#include <doctest/doctest.h>

#include <array>
#include <deque>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/stack/internal/session_pair.hpp"

namespace redelivery_test {

using namespace garrick;
using namespace garrick::net;
using namespace garrick::net::tests;
using base::duration;
using kind = link_event::kind;

namespace {

using bare_stream = stack<byte_stream, redelivery, session, framing>;
using laned_stream = stack<byte_stream, redelivery, lane_byte, session, framing>;
using bare_datagrams = stack<reliable_datagrams, redelivery, session>;
using laned_datagrams = stack<reliable_datagrams, redelivery, lane_byte, session>;
/// A transport with sessions, none of which is open.
struct with_sessions {
  static constexpr properties offers{
      .messages = true, .ordered = true, .reliable = true, .sessions = true};
};

static_assert(bare_stream::provides.reliable && bare_stream::provides.lanes);
static_assert(!bare_stream::provides.connected);

template <class S>
struct reconnecting : simulated_pair {
  static constexpr bool is_stream =
      std::is_same_v<S, bare_stream> || std::is_same_v<S, laned_stream>;

  explicit reconnecting(redelivery_settings zero = {}, redelivery_settings one = {},
                        std::uint64_t seed = 1)
      : simulated_pair(is_stream, seed), settings{zero, one} {
    build(0);
    build(1);
  }
  void build(int i) {
    test_end& e = ends[static_cast<std::size_t>(i)];
    redelivery top(settings[static_cast<std::size_t>(i)]);
    session fd(settings_of(i));
    if constexpr (std::is_same_v<S, bare_stream>)
      e.stack = std::make_unique<S>(e, e, std::move(top), std::move(fd), framing());
    else if constexpr (std::is_same_v<S, laned_stream>)
      e.stack = std::make_unique<S>(e, e, std::move(top), lane_byte(), std::move(fd), framing());
    else if constexpr (std::is_same_v<S, bare_datagrams>)
      e.stack = std::make_unique<S>(e, e, std::move(top), std::move(fd));
    else
      e.stack = std::make_unique<S>(e, e, std::move(top), lane_byte(), std::move(fd));
  }
  redelivery& layer(std::size_t i) {
    return static_cast<S&>(*ends[i].stack).template get<redelivery>();
  }
  /// Returns false if the window is full.
  bool say(std::size_t i, std::string_view text, lane_number lane = 1, std::uint64_t report = 0) {
    const base::error e = ends[i].stack->send(message(text, lane, report), now);
    const std::string down = ends[i].down().to_string() + ends[1 - i].down().to_string();
    CAPTURE(down);
    REQUIRE((!e || e == net_errc::overload));
    return !e;
  }
  std::vector<std::string> texts(std::size_t i) const {
    std::vector<std::string> all;
    for (const auto& m : ends[i].messages) all.push_back(m.second);
    return all;
  }

  std::array<redelivery_settings, 2> settings;
};

/// The messages of one end to the other, each checked.
struct traffic {
  std::size_t from;
  std::map<lane_number, std::uint64_t> sent;
  std::map<lane_number, std::uint64_t> come;        // next number expected
  std::map<lane_number, std::deque<bool>> mailbox;  // true for each message that is in it
  std::map<lane_number, std::uint64_t> there;       // the number of those, from the first on
  std::deque<lane_number> deferred;                 // in the order of arrival
  std::map<std::uint64_t, std::pair<lane_number, std::uint64_t>> reports;  // those that are due

  void settle(lane_number lane) {
    auto& m = mailbox[lane];
    while (there[lane] < m.size() && m[there[lane]]) ++there[lane];
  }
};

/// Both ends send in several lanes, some deliveries are deferred, and streams are cut.
template <class S>
struct flood : reconnecting<S> {
  std::array<traffic, 2> ways{traffic{0, {}, {}, {}, {}, {}, {}},
                              traffic{1, {}, {}, {}, {}, {}, {}}};
  std::uint64_t next_report = 0;
  std::uint64_t wrong = 0;  // messages out of order, repeated, or reported too early
  std::size_t most_kept = 0;

  flood(redelivery_settings zero, redelivery_settings one, std::uint64_t seed)
      : reconnecting<S>(zero, one, seed) {
    for (std::size_t i : {0u, 1u}) {
      this->ends[i].on_incoming = [this, i](incoming m) { return arrives(ways[1 - i], m); };
      this->ends[i].on_notice = [this, i](const link_event& e) { hears(ways[i], e); };
    }
  }
  bool arrives(traffic& t, incoming m) {
    const std::string text = text_of(m.bytes);
    const std::string expected = std::to_string(t.come[m.lane]++) + ".";
    if (text.compare(0, expected.size(), expected) != 0) ++wrong;
    const bool at_once = this->random.below(4) != 0;
    t.mailbox[m.lane].push_back(at_once);
    if (!at_once) t.deferred.push_back(m.lane);
    t.settle(m.lane);
    return at_once;
  }
  void hears(traffic& t, const link_event& e) {
    if (e.what != kind::delivered) return;
    const auto found = t.reports.find(e.number);
    if (found == t.reports.end() || found->second.second >= t.there[found->second.first]) ++wrong;
    if (found != t.reports.end()) t.reports.erase(found);
  }
  void send_some() {
    constexpr std::array<lane_number, 5> lanes{0, 1, 2, 77, 254};
    for (traffic& t : ways) {
      for (std::uint32_t n = this->random.below(20); n != 0; --n) {
        const lane_number lane = lanes[this->random.below(5)];
        const std::uint64_t report = this->random.below(3) == 0 ? ++next_report : 0;
        const std::string text =
            std::to_string(t.sent[lane]) + "." + std::string(this->random.below(300), 'x');
        if (report != 0) t.reports[report] = {lane, t.sent[lane]};
        if (this->say(t.from, text, lane, report))
          ++t.sent[lane];
        else
          t.reports.erase(report);
      }
      most_kept = std::max(most_kept, this->layer(t.from).kept());
    }
  }
  void deliver_some(std::uint32_t most) {
    for (traffic& t : ways) {
      for (std::uint32_t n = this->random.below(most + 1); n != 0 && !t.deferred.empty(); --n) {
        const lane_number lane = t.deferred.front();
        t.deferred.pop_front();
        auto& m = t.mailbox[lane];
        *std::find(m.begin(), m.end(), false) = true;
        t.settle(lane);
        this->ends[1 - t.from].stack->delivered(lane, this->now);
      }
    }
  }
  void run_with_cuts(int steps, std::uint32_t one_in) {
    this->connect();
    this->run(2_ms);  // only an open session can be resumed
    for (int i = 0; i != steps; ++i) {
      send_some();
      deliver_some(20);
      this->run(duration::microseconds(this->random.below(4000)));
      if (one_in != 0 && this->random.below(one_in) == 0) this->cut();
    }
    for (int i = 0; i != 100; ++i) {
      deliver_some(1000);
      this->run(200_ms);
    }
  }
  void check_complete() {
    REQUIRE(wrong == 0);
    for (traffic& t : ways) {
      REQUIRE(!this->ends[t.from].down());
      REQUIRE(t.come == t.sent);
      REQUIRE(t.reports.empty());
      REQUIRE(this->layer(t.from).kept() == 0);
    }
  }
};

constexpr redelivery_settings small{.messages = 50,
                                    .bytes = 20'000,
                                    .accepted_messages = 40,
                                    .accepted_bytes = 30'000,
                                    .ack_every = 16};

}  // namespace

TEST_CASE_TEMPLATE("redelivery: messages sent before the session is open come in order", S,
                   bare_stream, laned_stream, bare_datagrams, laned_datagrams) {
  reconnecting<S> p;
  for (int i = 0; i != 100; ++i) CHECK(p.say(0, std::to_string(i), 3, 1000u + unsigned(i)));
  p.connect();
  p.run(100_ms);
  REQUIRE(p.ends[1].messages.size() == 100);
  for (std::size_t i = 0; i != 100; ++i) {
    CHECK(p.ends[1].messages[i].first == 3);
    CHECK(p.ends[1].messages[i].second == std::to_string(i));
  }
  CHECK(numbers_of(p.ends[0].events, kind::delivered).size() == 100);
  CHECK(p.layer(0).kept() == 0);
  CHECK(p.layer(0).counters().sent_again == 0);
}

TEST_CASE("redelivery: 1000 forced resets in mid-stream lose nothing and repeat nothing") {
  for (std::uint64_t seed : {1u, 2u}) {
    CAPTURE(seed);
    flood<laned_stream> f(small, small, seed);
    f.connect();
    f.run(2_ms);
    for (int resets = 0; resets != 1000; ++resets) {
      f.send_some();
      f.deliver_some(20);
      f.run(duration::microseconds(f.random.below(30'000)));
      f.cut();
    }
    for (int i = 0; i != 100; ++i) {
      f.deliver_some(1000);
      f.run(200_ms);
    }
    f.check_complete();
    CHECK(f.layer(0).counters().sent_again > 100);
    CHECK(f.layer(1).counters().sent_again > 100);
    CHECK(f.ends[0].count(kind::opened) == 1);
    CHECK(f.most_kept < 50 + 4096);
  }
}

TEST_CASE_TEMPLATE("redelivery: cuts at any time, in all lanes and both directions", S, bare_stream,
                   laned_stream) {
  for (std::uint64_t seed = 0; seed != seeds(); ++seed) {
    CAPTURE(seed);
    flood<S> f(seed % 2 == 0 ? small : redelivery_settings{},
               seed % 3 == 0 ? small : redelivery_settings{}, seed);
    f.run_with_cuts(60, 1 + static_cast<std::uint32_t>(seed % 8));
    f.check_complete();
  }
}

TEST_CASE_TEMPLATE("redelivery: over reliable datagrams each message is confirmed in its mailbox",
                   S, bare_datagrams, laned_datagrams) {
  for (std::uint64_t seed = 0; seed != seeds(); ++seed) {
    CAPTURE(seed);
    flood<S> f(seed % 2 == 0 ? small : redelivery_settings{}, small, seed);
    f.run_with_cuts(60, 0);
    f.check_complete();
    REQUIRE(f.layer(0).counters().sent_again == 0);
  }
}

TEST_CASE_TEMPLATE("redelivery: a full mailbox stops the sender, and nothing is lost", S,
                   laned_stream, laned_datagrams) {
  reconnecting<S> p(small, small);
  p.ends[1].on_incoming = [](incoming m) { return m.lane == system_lane; };
  p.connect();
  std::uint64_t sent = 0;
  for (int i = 0; i != 1000; ++i) {
    if (p.say(0, std::to_string(sent), 1, sent + 1)) ++sent;
    p.run(1_ms);
  }
  CHECK(sent == 40);  // the limit of the other end
  CHECK(!p.ends[0].stack->writable());
  CHECK(p.ends[1].messages.size() == 40);
  CHECK(p.layer(0).kept() == 40);
  CHECK(numbers_of(p.ends[0].events, kind::delivered).empty());
  // The system's lane is not held up.
  CHECK(p.say(0, "signal", system_lane, 999));
  p.run(20_ms);
  CHECK(p.ends[1].messages.back().second == "signal");
  CHECK(numbers_of(p.ends[0].events, kind::delivered) == std::vector<std::uint64_t>{999});

  const std::size_t before = p.ends[0].count(kind::writable);
  for (int i = 0; i != 10; ++i) p.ends[1].stack->delivered(1, p.now);
  p.run(20_ms);
  CHECK(p.ends[0].stack->writable());
  CHECK(p.ends[0].count(kind::writable) > before);
  CHECK(numbers_of(p.ends[0].events, kind::delivered).size() == 11);
  CHECK(p.layer(0).kept() == 30);
}

TEST_CASE("redelivery: a message behind one that waits is not confirmed before it") {
  reconnecting<laned_stream> p;
  p.ends[1].on_incoming = [](incoming m) { return text_of(m.bytes) != "waits"; };
  p.connect();
  CHECK(p.say(0, "waits", 1, 1));
  CHECK(p.say(0, "is there", 1, 2));
  CHECK(p.say(0, "in another lane", 2, 3));
  p.run(100_ms);
  CHECK(numbers_of(p.ends[0].events, kind::delivered) == std::vector<std::uint64_t>{3});
  p.ends[1].stack->delivered(1, p.now);
  p.run(100_ms);
  CHECK(numbers_of(p.ends[0].events, kind::delivered) == std::vector<std::uint64_t>{3, 1, 2});
}

TEST_CASE("redelivery: an unconfirmed message is reported before the session is down") {
  reconnecting<laned_stream> p;
  p.ends[1].on_incoming = [](incoming m) { return m.lane == 2; };
  p.connect();
  CHECK(p.say(0, "not in its mailbox", 1, 11));
  CHECK(p.say(0, "confirmed", 2, 12));
  p.run(100_ms);
  p.ends[0].on_reopen = [] {};
  p.lose(0);
  CHECK(p.say(0, "never sent", 1, 13));
  CHECK(p.say(0, "nobody asks", 1));
  p.run(60_s);
  REQUIRE(p.ends[0].down() == net_errc::peer_down);
  const auto& events = p.ends[0].events;
  REQUIRE(events.size() >= 3);
  const link_event& perhaps = events[events.size() - 3];
  const link_event& never = events[events.size() - 2];
  CHECK(perhaps.what == kind::unknown);
  CHECK(perhaps.number == 11);
  CHECK(perhaps.why == net_errc::perhaps_delivered);
  CHECK(never.what == kind::unknown);
  CHECK(never.number == 13);
  CHECK(never.why == net_errc::peer_down);
  CHECK(never.why.detail().find("never sent") != std::string_view::npos);
  CHECK(numbers_of(p.ends[0].events, kind::delivered) == std::vector<std::uint64_t>{12});
  CHECK(p.layer(0).kept() == 0);
}

TEST_CASE(
    "redelivery: an end that leaves tells its last counts, and hears of unconfirmed messages") {
  reconnecting<laned_stream> p;
  p.connect();
  p.run(10_ms);
  CHECK(p.say(0, "m", 1, 5));
  p.run(1_ms);
  REQUIRE(p.ends[1].messages.size() == 1);
  CHECK(p.say(1, "m", 1, 6));
  p.ends[1].stack->leave(p.now);
  CHECK(numbers_of(p.ends[1].events, kind::unknown) == std::vector<std::uint64_t>{6});
  p.run(10_ms);
  CHECK(numbers_of(p.ends[0].events, kind::delivered) == std::vector<std::uint64_t>{5});
  CHECK(p.ends[0].down() == net_errc::peer_down);
}

TEST_CASE("redelivery: counts are told after some messages, some time, or half of a window") {
  SUBCASE("some messages") {
    reconnecting<laned_stream> p({}, {.ack_every = 10, .ack_after = duration::seconds(100)});
    p.connect();
    p.run(10_ms);
    for (int i = 0; i != 9; ++i) CHECK(p.say(0, "x"));
    p.run(1_s);
    CHECK(p.layer(0).kept() == 9);
    CHECK(p.say(0, "x"));
    p.run(10_ms);
    CHECK(p.layer(0).kept() == 0);
    CHECK(p.layer(1).counters().acks_sent == 2);  // the beginning counts as one
  }
  SUBCASE("some time") {
    reconnecting<laned_stream> p({}, {.ack_after = duration::milliseconds(7)});
    p.connect();
    p.run(10_ms);
    CHECK(p.say(0, "x"));
    p.run(8_ms);
    CHECK(p.layer(0).kept() == 1);
    p.run(1_ms);
    CHECK(p.layer(0).kept() == 0);
  }
  SUBCASE("half of a window") {
    reconnecting<laned_stream> p({.messages = 8}, {.ack_after = duration::seconds(100)});
    p.connect();
    p.run(10_ms);
    for (int i = 0; i != 4; ++i) CHECK(p.say(0, "x"));
    p.run(10_ms);
    CHECK(p.layer(0).kept() == 0);
  }
  SUBCASE("half of a window's bytes") {
    reconnecting<laned_stream> p({.bytes = 1000}, {.ack_after = duration::seconds(100)});
    p.connect();
    p.run(10_ms);
    CHECK(p.say(0, std::string(400, 'x')));
    CHECK(p.say(0, std::string(100, 'x')));
    p.run(10_ms);
    CHECK(p.layer(0).kept() == 0);
  }
}

TEST_CASE("redelivery: counts wait while the layers below take nothing") {
  reconnecting<laned_stream> p;
  p.connect();
  p.run(10_ms);
  p.ends[1].room = false;
  for (int i = 0; i != 1000; ++i) {
    CHECK(p.say(0, "x"));
    p.run(1_ms);
  }
  CHECK(p.layer(1).counters().acks_sent == 1);
  CHECK(p.layer(0).kept() == 1000);
  p.ends[1].room = true;
  p.ends[1].stack->carrier_writable(p.now);
  p.run(10_ms);
  CHECK(p.layer(1).counters().acks_sent == 2);
  CHECK(p.layer(0).kept() == 0);
}

TEST_CASE("redelivery: a carrier that takes nothing holds messages back, up to the window") {
  reconnecting<laned_stream> p(small, {});
  p.connect();
  p.run(10_ms);
  p.ends[0].room = false;
  int taken = 0;
  while (p.say(0, std::to_string(taken))) ++taken;
  CHECK(taken == 50);
  p.run(100_ms);
  CHECK(p.ends[1].messages.empty());
  p.ends[0].room = true;
  p.ends[0].stack->carrier_writable(p.now);
  p.run(100_ms);
  CHECK(p.ends[1].messages.size() == 50);
  CHECK(p.ends[1].messages.back().second == "49");
  CHECK(p.ends[0].stack->writable());
}

TEST_CASE("redelivery: large messages leave the others their window, and keep to their own") {
  reconnecting<laned_stream> p({.bytes = 200'000});
  p.ends[1].on_incoming = [](incoming) { return false; };
  p.connect();
  p.run(10_ms);
  const std::string large(150'000, 'x');
  for (int i = 0; i != 3; ++i) CHECK(p.say(0, large, 1));
  CHECK(p.say(0, "behind", 1));
  for (int i = 0; i != 10; ++i) CHECK(p.say(0, "small", 2));
  p.run(100_ms);
  const auto come = [&](std::string_view text) {
    const std::vector<std::string> all = p.texts(1);
    return std::count(all.begin(), all.end(), text);
  };
  CHECK(come(large) == 2);
  CHECK(come("small") == 10);
  CHECK(come("behind") == 0);
  p.cut();
  p.run(200_ms);
  CHECK(come(large) == 2);  // both are there, and still fill the window
  for (int i = 0; i != 2; ++i) p.ends[1].stack->delivered(1, p.now);
  p.run(100_ms);
  CHECK(come(large) == 3);
  CHECK(p.texts(1).back() == "behind");
}

TEST_CASE("redelivery: with the session open large messages have all of the window, too") {
  reconnecting<laned_stream> p({.bytes = 4u << 20});
  p.ends[1].on_incoming = [](incoming) { return false; };
  const std::string large(600'000, 'x');
  p.connect();
  p.run(10_ms);
  for (int i = 0; i != 10; ++i) CHECK(p.say(0, large, 1));
  p.run(100_ms);
  CHECK(p.ends[1].messages.size() == 7);
}

TEST_CASE("redelivery: large and other messages together keep to the limits of the other end") {
  reconnecting<laned_stream> p({}, {.accepted_bytes = 1u << 20});
  p.ends[1].on_incoming = [](incoming) { return false; };
  p.connect();
  p.run(10_ms);
  CHECK(p.say(0, std::string(2'000'000, 'x'), 1));
  CHECK(p.say(0, "small", 2));
  p.run(100_ms);
  CHECK(p.ends[1].messages.size() == 1);
  CHECK(!p.ends[1].down());
  p.ends[1].stack->delivered(1, p.now);
  p.run(100_ms);
  REQUIRE(p.ends[1].messages.size() == 2);
  CHECK(p.ends[1].messages.back().second == "small");
}

TEST_CASE("redelivery: the number of messages that may be kept is that of large and other ones") {
  reconnecting<laned_stream> p({.messages = 4});
  for (int i = 0; i != 2; ++i) CHECK(p.say(0, std::string(150'000, 'x')));
  for (int i = 0; i != 2; ++i) CHECK(p.say(0, "small"));
  CHECK(!p.say(0, "small"));
}

TEST_CASE("redelivery: until the other end has told its limits, few messages are kept for it") {
  reconnecting<laned_stream> p({.messages = 400});
  int taken = 0;
  while (p.say(0, "x")) ++taken;
  CHECK(taken == 256);
  p.ends[1].on_incoming = [](incoming) { return false; };
  p.connect();
  p.run(10_ms);
  while (p.say(0, "x")) ++taken;
  CHECK(taken == 400);
}

TEST_CASE("redelivery: large messages that wait fill the window at last") {
  reconnecting<laned_stream> p({.large_bytes = 500'000});
  const std::string large(150'000, 'x');
  int taken = 0;
  while (p.say(0, large)) ++taken;
  CHECK(taken == 4);
  CHECK(!p.say(0, "small", 2));
}

TEST_CASE("redelivery: messages sent at once from within a call do not overrun the other end") {
  reconnecting<laned_stream> p({}, {.accepted_messages = 300});
  p.ends[1].on_incoming = [](incoming) { return false; };
  p.ends[0].on_incoming = [&](incoming) {
    for (int i = 0; i != 400; ++i) CHECK(p.say(0, std::to_string(i)));
    return true;
  };
  p.connect();
  p.run(10_ms);
  CHECK(p.say(1, "go"));
  p.run(100_ms);
  CHECK(p.ends[1].messages.size() == 300);
  for (int i = 0; i != 300; ++i) p.ends[1].stack->delivered(1, p.now);
  p.run(100_ms);
  REQUIRE(p.ends[1].messages.size() == 400);
  CHECK(p.ends[1].messages.back().second == "399");
}

TEST_CASE("redelivery: a lane with many messages does not hold up another") {
  reconnecting<laned_stream> p;
  for (int i = 0; i != 200; ++i) CHECK(p.say(0, "large", 1));
  for (int i = 0; i != 10; ++i) CHECK(p.say(0, "other", 2));
  CHECK(p.say(0, "signal", system_lane));
  p.connect();
  p.run(100_ms);
  const std::vector<std::string> all = p.texts(1);
  REQUIRE(all.size() == 211);
  CHECK(all[0] == "signal");
  const auto last_other = std::find(all.rbegin(), all.rend(), "other").base() - all.begin();
  CHECK(last_other <= 22);
}

TEST_CASE("redelivery: the system's lane has a limit, too") {
  reconnecting<laned_stream> p({.system_messages = 100});
  for (int i = 0; i != 100; ++i) CHECK(p.say(0, "x", system_lane, 1));
  CHECK(!p.ends[0].down());
  CHECK(p.say(0, "x", system_lane, 1));
  CHECK(p.ends[0].down() == net_errc::overload);
  CHECK(p.ends[0].closed);
  CHECK(numbers_of(p.ends[0].events, kind::unknown).size() == 101);
}

TEST_CASE("redelivery: settings that make no sense are named") {
  CHECK(!redelivery::check({}));
  CHECK(redelivery::check({.messages = 0}) == base::errc::invalid_setting);
  CHECK(redelivery::check({.accepted_bytes = 0}) == base::errc::invalid_setting);
  CHECK(redelivery::check({.large_bytes = 0}) == base::errc::invalid_setting);
  CHECK(redelivery::check({.system_messages = 0}) == base::errc::invalid_setting);
  CHECK(redelivery::check({.ack_every = 0}) == base::errc::invalid_setting);
}

TEST_CASE("redelivery: of the system's messages so many are under way, and no more") {
  reconnecting<laned_stream> p;
  p.ends[1].on_incoming = [](incoming) { return false; };
  p.connect();
  p.run(10_ms);
  for (int i = 0; i != 1100; ++i) CHECK(p.say(0, "x", system_lane));
  p.run(100_ms);
  CHECK(p.ends[1].messages.size() == 1024);
  for (int i = 0; i != 1024; ++i) p.ends[1].stack->delivered(system_lane, p.now);
  p.run(100_ms);
  CHECK(p.ends[1].messages.size() == 1100);
  CHECK(!p.ends[1].down());
}

TEST_CASE("redelivery: counts of many lanes take as many messages as the path wants") {
  reconnecting<laned_datagrams> p;
  p.connect();
  p.run(10_ms);
  constexpr std::size_t limit = 100;
  p.ends[1].limit = limit;
  std::size_t most = 0;
  p.ends[1].on_transmit = [&, on = p.ends[1].on_transmit](test_end::bytes b) {
    most = std::max(most, b.size());
    on(std::move(b));
  };
  for (int lane = 1; lane != 60; ++lane) CHECK(p.say(0, "x", static_cast<lane_number>(lane)));
  p.run(100_ms);
  CHECK(p.layer(0).kept() == 0);
  CHECK(most <= limit);
  CHECK(p.layer(1).counters().acks_sent >= 7);
}

TEST_CASE("redelivery: nothing is taken before the session is open") {
  reconnecting<laned_stream> p;
  stack<with_sessions, redelivery> link(p.ends[0], p.ends[0], redelivery());
  link.connected(p.now);
  link.receive(bytes_of("\1early"), p.now);
  link.receive(bytes_of("\377nonsense"), p.now);
  CHECK(p.ends[0].messages.empty());
  CHECK(!p.ends[0].down());
}

}  // namespace redelivery_test
