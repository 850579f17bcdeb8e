// Handshakes of `session` that are refused because of an earlier session, that have no socket at
// first, or that begin with a slow attempt to connect.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/layer/session.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/stack/internal/session_pair.hpp"

namespace session_handshake_test {

using namespace garrick;
using namespace garrick::net;
using namespace garrick::net::tests;
using base::duration;
using kind = link_event::kind;

namespace {

/// Returns the bytes of the packet, as end 0 gets them.
std::vector<std::byte> received(const packet& p, bool stream) {
  std::vector<std::byte> all(stream ? 4 : 0);
  if (stream) store_le(all.data(), static_cast<std::uint32_t>(p.size()));
  all.insert(all.end(), p.bytes().begin(), p.bytes().end());
  return all;
}

/// Returns the bytes of a refusal because the peer has a session with end 0.
std::vector<std::byte> refused_for_session(const peer_identity& by, bool stream) {
  packet said;
  const session_settings s = settings_of(0);
  encode_refusal({refusal::has_session, {}, s.self.incarnation, {}, by, s.secret}, said);
  return received(said, stream);
}

}  // namespace

TEST_CASE("session: a refusal for a session is told, and the next hello begins anew") {
  for (const bool stream : {true, false}) {
    CAPTURE(stream);
    pair_of p(stream);
    std::vector<hello> said;
    p.ends[0].on_transmit = [&](std::vector<std::byte> b) {
      const auto body = std::span(b).subspan(stream ? 4 : 0);
      if (const auto h = decode_hello(body)) said.push_back(*h);
    };
    const auto connects = [&] {
      p.ends[0].connected = true;
      p.ends[0].stack->connected(p.now);
    };
    connects();
    REQUIRE(said.size() == 1);
    CHECK_FALSE(said[0].begins_anew);
    CHECK(p.layer(0).peer() == nullptr);
    const peer_identity by{{8, 9}, 10};
    p.inject(0, refused_for_session({}, stream));  // it does not name the peer
    CHECK_FALSE(p.ends[0].has(kind::has_session));
    p.inject(0, refused_for_session(by, stream));
    CHECK(p.ends[0].count(kind::has_session) == 1);
    REQUIRE(p.layer(0).peer() != nullptr);
    CHECK(p.layer(0).peer()->self == by);
    if (stream) p.lose(0);
    p.ends[0].on_reopen = connects;
    p.run(duration::milliseconds(300));
    REQUIRE(said.size() >= 2);
    CHECK(said.back().begins_anew);
    CHECK_FALSE(said.back().resumes);
    CHECK(!p.ends[0].down());
    // No answer comes any more: the error names the peer with the session.
    p.run(settings_of(0).handshake_limit);
    const std::string why(p.ends[0].down().detail());
    CHECK_MESSAGE(why.find("has an earlier session with this end") != std::string::npos, why);
  }
}

TEST_CASE("session: an end that begins outlives the news that an earlier session is over") {
  for (const bool stream : {true, false}) {
    CAPTURE(stream);
    pair_of p(stream);
    const auto transmits =
        std::exchange(p.ends[0].on_transmit, [](const std::vector<std::byte>&) {});
    const auto connects = [&] {
      p.ends[0].connected = true;
      p.ends[0].stack->connected(p.now);
    };
    connects();
    packet said;
    const session_settings s = settings_of(0);
    encode_refusal({refusal::no_session, {}, s.self.incarnation, {}, {}, s.secret}, said);
    p.inject(0, received(said, stream));
    CHECK(!p.ends[0].down());
    if (stream) p.lose(0);
    p.ends[0].on_transmit = transmits;
    p.ends[0].on_reopen = [&] { p.connect(); };
    if (!stream) p.connect();
    p.run(duration::seconds(1));
    CHECK(p.ends[0].count(kind::opened) == 1);
    CHECK(p.ends[1].count(kind::opened) == 1);
  }
}

TEST_CASE("session: an end that is open takes no refusal for a session") {
  for (const bool stream : {true, false}) {
    CAPTURE(stream);
    pair_of p(stream);
    p.connect();
    p.run(duration::milliseconds(100));
    REQUIRE(p.ends[0].count(kind::opened) == 1);
    p.inject(0, refused_for_session({{8, 9}, 10}, stream));
    CHECK_FALSE(p.ends[0].has(kind::has_session));
    CHECK(p.layer(0).peer()->self == settings_of(1).self);
    CHECK(!p.ends[0].down());
  }
}

TEST_CASE("session: an end that connects by datagrams opens again until it has a socket") {
  pair_of p(false);
  p.ends[0].on_reopen = [&] {
    if (p.ends[0].reopened < 4) return p.ends[0].stack->disconnected(net_errc::unreachable, p.now);
    p.connect();
  };
  p.ends[0].stack->disconnected(net_errc::unreachable, p.now);
  p.run(duration::seconds(5));
  CHECK(p.ends[0].reopened == 4);
  CHECK(p.ends[0].count(kind::opened) == 1);
  CHECK(p.ends[1].count(kind::opened) == 1);
}

TEST_CASE("session: the limit of a handshake counts from the first attempt to connect") {
  for (const bool stream : {true, false}) {
    CAPTURE(stream);
    pair_of p(stream);
    p.ends[0].on_reopen = [] {};
    const duration limit = settings_of(0).handshake_limit;
    p.run(limit / 4 * 3);  // the time of a slow look-up or a silent address
    p.ends[0].stack->disconnected(net_errc::unreachable, p.now);
    p.run(limit / 4 - duration::milliseconds(10));
    CHECK(!p.ends[0].down());
    p.run(duration::milliseconds(20));
    CHECK(p.ends[0].down() == net_errc::unreachable);
    CHECK(!p.ends[1].down());  // the end that accepts has not begun
  }
}

TEST_CASE("session: before a hello no larger frame than a hello is taken from a stream") {
  const auto of = [](std::size_t size) {
    std::vector<std::byte> length(4);
    store_le(length.data(), static_cast<std::uint32_t>(size));
    return length;
  };
  for (const int end : {0, 1}) {
    CAPTURE(end);
    const auto at = static_cast<std::size_t>(end);
    pair_of p(true);
    p.connect();
    p.inject(end, of(largest_hello));
    CHECK_FALSE(p.ends[at].closed);
    pair_of q(true);
    q.connect();
    q.inject(end, of(largest_hello + 1));
    CHECK(q.ends[at].closed);
    CHECK(q.ends[at].down() == net_errc::not_garrick);
    CHECK_MESSAGE(q.ends[at].down().to_string().find("a frame of 513 bytes, where the handshake "
                                                     "takes at most 512") != std::string::npos,
                  q.ends[at].down().to_string());
  }
}

TEST_CASE("session: after a hello large frames are taken, until the next stream") {
  for (const std::size_t end : {0u, 1u}) {
    CAPTURE(end);
    pair_of p(true);
    p.connect();
    p.run(100_ms);
    p.say(1 - end, std::string(100'000, 'x'));
    p.run(100_ms);
    REQUIRE(p.ends[end].messages.size() == 1);
    p.connect();  // another stream for the session
    std::vector<std::byte> length(4);
    store_le(length.data(), std::uint32_t{largest_hello + 1});
    p.inject(static_cast<int>(end), length);
    CHECK(p.ends[end].closed);
    CHECK(p.ends[end].down() == net_errc::too_large);
  }
}

TEST_CASE("session: the headers of layers between it and framing have room before a hello") {
  test_end e;
  stack<byte_stream, session, lane_byte, framing> s(e, e, session(settings_of(1)), lane_byte(),
                                                    framing());
  s.connected({});
  std::vector<std::byte> length(4);
  store_le(length.data(), std::uint32_t{largest_hello + 1});
  s.receive(length, {});
  CHECK_FALSE(e.closed);
  s.disconnected(net_errc::connection_lost, {});
  stack<byte_stream, session, lane_byte, framing> other(e, e, session(settings_of(1)), lane_byte(),
                                                        framing());
  other.connected({});
  store_le(length.data(), std::uint32_t{largest_hello + 2});
  other.receive(length, {});
  CHECK(e.closed);
}

}  // namespace session_handshake_test
