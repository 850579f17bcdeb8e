#include "garrick/net/layer/session.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/stack/internal/session_pair.hpp"

namespace session_silence_test {

using namespace garrick;
using namespace garrick::net;
using namespace garrick::net::tests;
using base::duration;
using kind = link_event::kind;

namespace {

using over_a_stream = std::true_type;
using over_datagrams = std::false_type;

std::string detail(const base::error& e) { return std::string(e.detail()); }
bool contains(const base::error& e, std::string_view text) {
  return detail(e).find(text) != std::string::npos;
}

}  // namespace

TEST_CASE_TEMPLATE("session: an idle end beats once an interval, and the other answers", T,
                   over_a_stream, over_datagrams) {
  const bool stream = T::value;
  pair_of p(stream);
  p.connect();
  p.run(60_s);
  const auto sent_by = [&](std::size_t end) { return p.layer(end).counters().heartbeats_sent; };
  CHECK(sent_by(0) + sent_by(1) >= 115);
  CHECK(sent_by(0) + sent_by(1) <= 125);
  for (test_end& e : p.ends) {
    CHECK(!e.has(kind::suspected));
    CHECK(!e.down());
  }
  SUBCASE("and not at all while something else is sent") {
    const auto before = sent_by(0);
    for (int i = 0; i != 600; ++i) {
      p.say(0, "x");
      p.run(100_ms);
    }
    CHECK(sent_by(0) == before);
    CHECK(!p.ends[0].has(kind::suspected));
  }
}

TEST_CASE_TEMPLATE("session: silence is suspected, trusted again, and final after down_after", T,
                   over_a_stream, over_datagrams) {
  const bool stream = T::value;
  pair_of p(stream);
  p.connect();
  p.run(20_s);
  const base::instant last = p.now;
  auto transmit = std::exchange(p.ends[1].on_transmit, [](auto) {});
  p.run(5_s);
  CHECK(p.ends[0].count(kind::suspected) == 1);
  CHECK(p.layer(0).phi(p.now) > 8);
  CHECK(p.ends[0].stack->writable());
  SUBCASE("it is heard again") {
    p.ends[1].on_transmit = transmit;
    p.run(1_s);
    CHECK(p.ends[0].count(kind::trusted) == 1);
    CHECK(p.layer(0).phi(p.now) < 8);
    CHECK(p.layer(0).counters().suspicions == 1);
    CHECK(!p.ends[0].down());
  }
  SUBCASE("it is not") {
    // The last sign of life came within the interval before the silence.
    p.run(last + 15_s - 502_ms);
    CHECK(!p.ends[0].down());
    p.run(last + 15_s);
    CHECK(p.ends[0].down() == net_errc::peer_down);
    CHECK(contains(p.ends[0].down(), "15s"));
    CHECK(p.ends[0].closed);
    const std::size_t events = p.ends[0].events.size();
    p.inject(0, bytes_of("anything"));
    p.ends[0].stack->connected(p.now);
    p.ends[0].stack->advance(p.now);
    CHECK(p.ends[0].events.size() == events);
    // The silent peer is told.
    CHECK(p.ends[1].down() == net_errc::peer_down);
    CHECK(p.layer(0).peer()->self == settings_of(1).self);
  }
}

TEST_CASE_TEMPLATE("session: a pause of this process is not charged to the peer", T, over_a_stream,
                   over_datagrams) {
  const bool stream = T::value;
  session_settings one = settings_of(1);
  one.down_after = duration::seconds(1000);
  pair_of p(stream, settings_of(0), one);
  p.connect();
  p.run(10_s);
  SUBCASE("if the peer's packets wait for it") {
    p.frozen[0] = p.now + 100_s;
    p.run(200_s);
    CHECK(!p.ends[0].has(kind::suspected));
  }
  SUBCASE("if only later ones come") {
    auto transmit = std::exchange(p.ends[1].on_transmit, [](auto) {});
    p.frozen[0] = p.now + 100_s;
    p.run(100_s);
    p.ends[1].on_transmit = transmit;
    p.run(50_s);
    CHECK(!p.ends[0].has(kind::suspected));
    CHECK(p.layer(0).counters().paused > 90_s);
  }
  SUBCASE("if it is stopped again and again") {
    for (int i = 0; i != 20; ++i) {
      p.frozen[0] = p.now + 14_s;
      p.run(15_s);
    }
    CHECK(!p.ends[0].has(kind::suspected));
  }
  CHECK(!p.ends[0].down());
}

TEST_CASE_TEMPLATE("session: a pause of this process is told, and how long it was", T,
                   over_a_stream, over_datagrams) {
  const bool stream = T::value;
  pair_of p(stream);
  p.connect();
  p.run(10_s);
  CHECK(!p.ends[0].has(kind::paused));
  // A delay below an interval is usual on a busy machine.
  p.frozen[0] = p.now + 400_ms;
  p.run(5_s);
  CHECK(!p.ends[0].has(kind::paused));
  p.frozen[0] = p.now + 5_s;
  p.run(10_s);
  CHECK(p.ends[0].count(kind::paused) == 1);
  CHECK(!p.ends[1].has(kind::paused));
  for (const link_event& e : p.ends[0].events)
    if (e.what == kind::paused) {
      CHECK(e.number >= 4'400'000'000);
      CHECK(e.number <= 5'000'000'000);
    }
}

TEST_CASE_TEMPLATE("session: silence after a pause of this process is charged", T, over_a_stream,
                   over_datagrams) {
  const bool stream = T::value;
  pair_of p(stream);
  p.connect();
  p.run(10_s);
  p.frozen[0] = p.now + 10_s;
  p.run(12_s);
  CHECK(!p.ends[0].down());
  p.ends[1].on_transmit = [](auto) {};
  p.run(16_s);
  CHECK(p.ends[0].down() == net_errc::peer_down);
}

TEST_CASE_TEMPLATE("session: a peer that was stopped for too long finds itself given up", T,
                   over_a_stream, over_datagrams) {
  const bool stream = T::value;
  pair_of p(stream);
  p.connect();
  p.run(10_s);
  p.frozen[1] = p.now + 30_s;
  p.run(60_s);
  CHECK(p.ends[0].down() == net_errc::peer_down);
  CHECK(p.ends[1].down() == net_errc::peer_down);
  CHECK(contains(p.ends[1].down(), "given it up"));
}

TEST_CASE("session: a pause of this process uses up no time that others have") {
  SUBCASE("to open a lost stream again") {
    pair_of p(true);
    p.connect();
    p.run(1_s);
    p.ends[0].on_reopen = [] {};
    p.lose(0);
    p.frozen[0] = p.now + 100_s;
    p.run(101_s);
    CHECK(!p.ends[0].down());
    p.run(20_s);
    CHECK(p.ends[0].down() == net_errc::peer_down);
  }
  SUBCASE("to shake hands") {
    pair_of p(true);
    p.ends[1].on_transmit = [](auto) {};
    p.connect();
    p.run(1_s);
    p.frozen[0] = p.now + 100_s;
    p.run(101_s);
    CHECK(!p.ends[0].down());
    p.run(20_s);
    CHECK(p.ends[0].down() == net_errc::unreachable);
  }
}

TEST_CASE_TEMPLATE("session: a pause while a connection is awaited is told, not charged", T,
                   over_a_stream, over_datagrams) {
  pair_of p(T::value);
  p.ends[0].on_reopen = [] {};
  const base::instant began = p.now;
  p.run(1_s);
  duration pause;
  SUBCASE("and is longer than the limit") { pause = 60_s; }
  SUBCASE("and is shorter than the limit") { pause = 8_s; }
  p.frozen[0] = p.now + pause;
  p.run(pause);
  CHECK(p.ends[0].count(kind::paused) == 1);
  const duration paused = p.layer(0).counters().paused;
  CHECK(paused >= pause - settings_of(0).interval);
  CHECK(paused <= pause);
  p.run(began + settings_of(0).handshake_limit + paused - 1_ms);
  CHECK(!p.ends[0].down());
  p.run(1_ms);
  CHECK(p.ends[0].down() == net_errc::unreachable);
}

TEST_CASE("session: a pause while another stream is awaited is not charged") {
  pair_of p(true);
  p.connect();
  p.run(1_s);
  p.ends[0].on_reopen = [] {};
  p.lose(0);
  p.lose(1);
  p.run(5_s);  // the attempt to connect again is under way; the other end waits to be connected to
  for (base::instant& until : p.frozen) until = p.now + 100_s;
  p.run(105_s);
  for (const test_end& e : p.ends) {
    CHECK(!e.down());
    CHECK(e.count(kind::paused) == 1);
  }
  p.run(20_s);
  for (const test_end& e : p.ends) CHECK(e.down() == net_errc::peer_down);
}

TEST_CASE("session: a pause while a hello is awaited is not charged") {
  session_settings patient = settings_of(0);
  patient.handshake_limit = duration::seconds(1000);
  pair_of p(true, patient);
  p.ends[0].on_transmit = [](auto) {};
  p.connect();
  p.run(1_s);
  p.frozen[1] = p.now + 100_s;
  p.run(105_s);
  CHECK(!p.ends[1].down());
  CHECK(p.ends[1].count(kind::paused) == 1);
  p.run(20_s);
  CHECK(p.ends[1].down() == net_errc::unreachable);
}

TEST_CASE("session: an end that awaits a connection is called at most once an interval") {
  session_settings s = settings_of(0);
  SUBCASE("") {}
  SUBCASE("or as often as it says hello, if that is more often") {
    s.interval = duration::seconds(3600);
    s.down_after = duration::seconds(7200);
  }
  pair_of p(true, s);
  any_link& link = *p.ends[0].stack;
  const base::instant end = p.now + s.handshake_limit;
  link.advance(p.now);
  while (link.deadline() < end) {
    CHECK(link.deadline() >= p.now + std::min(s.interval, s.hello_most));
    CHECK(link.deadline() <= p.now + s.hello_most);
    p.now = link.deadline();
    link.advance(p.now);
  }
  link.advance(end);
  CHECK(p.ends[0].down() == net_errc::unreachable);
  CHECK(p.layer(0).counters().paused == duration{});
}

TEST_CASE("session: only the answer to the last heartbeat gives a round trip") {
  pair_of p(false);
  p.connect();
  p.run(10_s);
  const duration measured = p.layer(0).counters().round_trip;
  CHECK(measured == 2_ms);
  REQUIRE(p.layer(0).counters().heartbeats_sent > 3);
  const auto answers = [&](std::uint32_t number) {
    std::vector<std::byte> all(9);
    all[0] = static_cast<std::byte>(session_packet::heartbeat_ack);
    store_le(all.data() + 1, p.layer(0).tag_of_peer());
    store_le(all.data() + 5, number);
    return all;
  };
  p.now = p.now + 100_ms;
  p.inject(0, answers(1));
  CHECK(p.layer(0).counters().strangers == 0);
  CHECK(p.layer(0).counters().round_trip == measured);
}

TEST_CASE("session: a new stream is greeted as often as the first one was") {
  pair_of p(true);
  p.ends[1].on_transmit = [](auto) {};
  p.ends[0].on_reopen = [] {};
  p.connect();
  p.run(8_s);
  REQUIRE(!p.ends[0].down());
  p.lose(0);
  p.ends[0].connected = true;
  p.ends[0].stack->connected(p.now);
  CHECK(p.ends[0].stack->deadline() <= p.now + settings_of(0).hello_first);
}

TEST_CASE("session: a peer may give any interval of its own") {
  for (const std::uint32_t interval : {0u, ~0u}) {
    pair_of p(true);
    p.ends[0].on_transmit = [](auto) {};
    p.connect();
    hello h;
    h.self = settings_of(0).self;
    h.versions = settings_of(0).versions;
    h.interval = interval;
    h.layers = stream_stack::fingerprint;
    packet said = packet::with_room(4, 100);
    encode_hello(session_packet::hello, h, said);
    const auto size = static_cast<std::uint32_t>(said.size());
    store_le(said.prepend(4), size);
    p.inject(1, said.bytes());
    CHECK(p.ends[1].has(kind::opened));
    CHECK(!p.ends[1].down());
  }
}

}  // namespace session_silence_test
