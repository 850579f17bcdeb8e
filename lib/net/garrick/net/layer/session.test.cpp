#include "garrick/net/layer/session.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/stack/internal/session_pair.hpp"

namespace session_test {

using namespace garrick;
using namespace garrick::net;
using namespace garrick::net::tests;
using base::duration;
using kind = link_event::kind;

namespace {

constexpr duration ms = duration::milliseconds(1);

using over_a_stream = std::true_type;
using over_datagrams = std::false_type;

std::string detail(const base::error& e) { return std::string(e.detail()); }
bool contains(const base::error& e, std::string_view text) {
  return detail(e).find(text) != std::string::npos;
}

/// Returns the hello of the end with these settings, over a stream or over datagrams.
hello hello_of(const session_settings& s, bool stream) {
  hello h;
  h.layers = stream ? stream_stack::fingerprint : datagram_stack::fingerprint;
  h.versions = s.versions;
  h.self = s.self;
  h.interval = 500;
  return h;
}
std::vector<std::byte> packet_of(session_packet kind, const hello& h) {
  packet p;
  encode_hello(kind, h, p);
  return {p.bytes().begin(), p.bytes().end()};
}
std::vector<std::byte> framed(std::span<const std::byte> bytes) {
  std::vector<std::byte> all(4);
  all[0] = static_cast<std::byte>(bytes.size());
  all.insert(all.end(), bytes.begin(), bytes.end());
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("session: both ends open, know each other, and messages pass both ways", T,
                   over_a_stream, over_datagrams) {
  const bool stream = T::value;
  session_settings zero = settings_of(0);
  zero.versions = {1, 5};
  zero.capabilities.add(3);
  zero.capabilities.add(200);
  session_settings one = settings_of(1);
  one.versions = {2, 4};
  pair_of p(stream, zero, one);
  CHECK(p.ends[0].stack->send(message("early"), p.now) == net_errc::overload);
  p.connect();
  p.run(100_ms);
  for (std::size_t i : {0u, 1u}) {
    CHECK(p.ends[i].count(kind::opened) == 1);
    CHECK(p.ends[i].stack->writable());
    CHECK(p.layer(i).version() == 4);
  }
  REQUIRE(p.layer(0).peer() != nullptr);
  CHECK(p.layer(0).peer()->self == one.self);
  CHECK(p.layer(0).peer()->program == "one 2.0");
  CHECK(p.layer(1).peer()->capabilities == zero.capabilities);
  CHECK(p.layer(1).peer()->capabilities.has(200));
  CHECK(!p.layer(1).peer()->capabilities.has(4));

  p.say(0, "to one");
  p.say(1, "to zero");
  p.run(100_ms);
  CHECK(p.ends[1].messages.at(0).second == "to one");
  CHECK(p.ends[0].messages.at(0).second == "to zero");
  CHECK(p.layer(0).counters().round_trip == 2_ms);
}

TEST_CASE_TEMPLATE("session: both may say hello at once", T, over_a_stream, over_datagrams) {
  const bool stream = T::value;
  session_settings one = settings_of(1);
  one.connects = true;
  pair_of p(stream, settings_of(0), one);
  p.connect();
  p.run(5_s);
  for (std::size_t i : {0u, 1u}) {
    CHECK(p.ends[i].count(kind::opened) == 1);
    CHECK(!p.ends[i].down());
  }
  p.say(0, "a");
  p.say(1, "b");
  p.run(100_ms);
  CHECK(p.ends[0].messages.size() == 1);
  CHECK(p.ends[1].messages.size() == 1);
}

TEST_CASE_TEMPLATE("session: no common version is told to both ends, with both ranges", T,
                   over_a_stream, over_datagrams) {
  const bool stream = T::value;
  session_settings zero = settings_of(0);
  zero.versions = {1, 2};
  session_settings one = settings_of(1);
  one.versions = {3, 9};
  pair_of p(stream, zero, one);
  p.connect();
  p.run(1_s);
  for (test_end& e : p.ends) {
    CHECK(e.down() == net_errc::incompatible);
    CHECK(contains(e.down(), "1 to 2"));
    CHECK(contains(e.down(), "3 to 9"));
    CHECK(e.closed);
    CHECK(!e.has(kind::opened));
  }
}

TEST_CASE_TEMPLATE("session: no end answers, so the peer is unreachable when the limit has come", T,
                   over_a_stream, over_datagrams) {
  const bool stream = T::value;
  pair_of p(stream);
  p.ends[1].on_transmit = [](auto) {};
  p.connect();
  p.run(10_s - 1_ms);
  CHECK(!p.ends[0].down());
  p.run(1_ms);
  CHECK(p.ends[0].down() == net_errc::unreachable);
  if (!stream) {
    // Pauses of 100 ms, doubled up to 2 s, with jitter: neither one hello nor a flood.
    CHECK(p.layer(0).counters().hellos_sent >= 6);
    CHECK(p.layer(0).counters().hellos_sent <= 16);
  }
}

TEST_CASE_TEMPLATE("session: an acceptor that gets no hello gives up, too", T, over_a_stream,
                   over_datagrams) {
  const bool stream = T::value;
  session_settings zero = settings_of(0);
  zero.connects = false;
  pair_of p(stream, zero);
  p.connect();
  p.run(11_s);
  CHECK(p.ends[0].down() == net_errc::unreachable);
  CHECK(p.ends[1].down() == net_errc::unreachable);
}

TEST_CASE("session: a peer that does not speak this protocol is told apart") {
  SUBCASE("a frame of something else") {
    pair_of p(true);
    p.connect();
    p.inject(1, framed(bytes_of("SSH-2.0")));
    CHECK(p.ends[1].down() == net_errc::not_garrick);
    CHECK(contains(p.ends[1].down(), "SSH-2.0"));
  }
  SUBCASE("zeros, of which four are the length of an empty frame") {
    pair_of p(true);
    p.connect();
    p.inject(1, bytes_of(std::string(5000, '\0')));
    CHECK(p.ends[1].down() == net_errc::not_garrick);
    CHECK(contains(p.ends[1].down(), "the first packet is empty"));
    CHECK(p.ends[1].closed);
  }
  SUBCASE("HTTP, with first letters that are no length") {
    pair_of p(true);
    p.connect();
    p.inject(1, bytes_of("GET / HTTP/1.1\r\n\r\n"));
    CHECK(p.ends[1].down() == net_errc::not_garrick);
    CHECK(contains(p.ends[1].down(), "GET "));
    CHECK(p.ends[1].closed);
  }
  SUBCASE("datagrams, which may come from anybody, so the handshake goes on") {
    pair_of p(false);
    p.ends[1].on_transmit = [](auto) {};
    p.connect();
    p.inject(0, bytes_of("HTTP/1.1 400 Bad Request"));
    CHECK(!p.ends[0].down());
    p.run(11_s);
    CHECK(p.ends[0].down() == net_errc::not_garrick);
    CHECK(contains(p.ends[0].down(), "HTTP"));
    CHECK(p.layer(0).counters().strangers == 1);
  }
  SUBCASE("a hello that is not whole") {
    pair_of p(true);
    p.connect();
    const auto whole = packet_of(session_packet::hello, hello_of(settings_of(0), true));
    p.inject(1, framed(std::span(whole).first(whole.size() - 1)));
    CHECK(p.ends[1].down() == net_errc::decode_failed);
  }
}

TEST_CASE("session: lost, repeated and reordered hellos of datagrams are harmless") {
  for (std::uint64_t seed = 0; seed != seeds(); ++seed) {
    CAPTURE(seed);
    pair_of p(false, settings_of(0), settings_of(1), seed);
    p.fate = [&](int, const test_end::bytes&) {
      std::vector<duration> times;
      for (int copies = 0; copies != 3; ++copies)
        if (p.random.below(2) == 0) times.push_back(ms * (1 + p.random.below(3000)));
      return times;
    };
    p.connect();
    // This fails only if the hellos of twelve handshakes are all lost.
    p.run(9_s);
    p.fate = nullptr;
    p.run(5_s);
    for (std::size_t i : {0u, 1u}) {
      REQUIRE(p.ends[i].count(kind::opened) == 1);
      REQUIRE(!p.ends[i].down());
    }
    p.say(0, "x");
    p.run(10_ms);
    REQUIRE(p.ends[1].messages.size() == 1);
  }
}

TEST_CASE_TEMPLATE("session: an end that leaves is known to have left", T, over_a_stream,
                   over_datagrams) {
  const bool stream = T::value;
  pair_of p(stream);
  p.connect();
  p.run(1_s);
  if (!stream) {  // one of the three goodbyes is enough
    int n = 0;
    p.fate = [n](int, const auto&) mutable {
      return ++n < 3 ? std::vector<duration>{} : std::vector<duration>{1_ms};
    };
  }
  p.ends[0].stack->leave(p.now);
  CHECK(p.ends[0].count(kind::down) == 1);
  CHECK(p.ends[0].closed);
  p.run(10_ms);
  CHECK(p.ends[1].down() == net_errc::peer_down);
  CHECK(contains(p.ends[1].down(), "has left"));
}

TEST_CASE("session: a lost stream is opened again by the end that has connected, and resumed") {
  pair_of p(true);
  p.connect();
  p.run(1_s);
  for (std::uint64_t i = 1; i != 20; ++i) {
    p.cut();
    CHECK(!p.ends[0].stack->writable());
    p.run(1_s);
    for (std::size_t end : {0u, 1u}) {
      CHECK(p.ends[end].count(kind::opened) == 1);
      CHECK(p.ends[end].count(kind::resumed) == i);
      CHECK(p.ends[end].stack->writable());
    }
    CHECK(p.layer(0).counters().resumptions == i);
  }
  CHECK(p.ends[0].reopened == 19);
  CHECK(p.ends[1].reopened == 0);
}

TEST_CASE("session: attempts to open a stream become rarer, up to the end") {
  pair_of p(true);
  p.connect();
  p.run(1_s);
  std::uint64_t attempts = 0;
  p.ends[0].on_reopen = [&] { ++attempts; };
  p.lose(0);
  p.lose(1);
  for (int i = 0; i != 200 && !p.ends[0].down(); ++i) {
    p.run(100_ms);
    if (attempts > p.ends[0].count(kind::disconnected) - 1)
      p.ends[0].stack->disconnected(net_errc::unreachable, p.now);
  }
  // Pauses of 20 ms, doubled up to 2 s, while the session is kept for 15 s.
  CHECK(attempts >= 10);
  CHECK(attempts <= 25);
  CHECK(p.ends[0].down() == net_errc::peer_down);
  CHECK(p.ends[1].down() == net_errc::peer_down);
}

TEST_CASE("session: a session is kept for the resume window, whenever the stream is lost") {
  session_settings zero = settings_of(0);
  zero.down_after = zero.resume_window = duration::seconds(5);
  pair_of p(true, zero);
  p.connect();
  p.run(1_s);
  // The peer has long been silent when the loss is noticed.
  p.ends[1].on_transmit = [](auto) {};
  p.run(4_s);
  p.ends[0].on_reopen = [] {};
  p.lose(0);
  p.run(5_s - 1_ms);
  CHECK(!p.ends[0].down());
  p.run(1_ms);
  CHECK(p.ends[0].down() == net_errc::peer_down);
}

TEST_CASE("session: an answer that is lost with its stream costs nothing") {
  // End 1 is open, and end 0 is not: end 0 begins once more, and end 1 goes on with its session.
  pair_of p(true);
  p.connect();
  p.run(1_ms);
  REQUIRE(p.ends[1].has(kind::opened));
  REQUIRE(!p.ends[0].has(kind::opened));
  p.lose(0);
  p.lose(1);
  p.run(1_s);
  CHECK(p.ends[0].count(kind::opened) == 1);
  CHECK(p.ends[0].count(kind::resumed) == 0);
  CHECK(p.ends[1].count(kind::opened) == 1);
  CHECK(p.ends[1].count(kind::resumed) == 1);
}

TEST_CASE("session: a peer that comes back as another ends the session") {
  session_settings again = settings_of(0);
  again.self.incarnation = 999;
  again.secret = 0xa9a1;
  SUBCASE("by datagrams, when it has proved that it is there") {
    pair_of p(false);
    p.connect();
    p.run(1_s);
    build(p, 0, false, again);
    p.ends[0].events.clear();
    p.connect();
    p.run(10_ms);
    CHECK(p.ends[1].down() == net_errc::peer_down);
    CHECK(contains(p.ends[1].down(), "restarted"));
    CHECK(!p.ends[0].has(kind::opened));
    // The hellos of end 0 open the session with a new stack.
    build(p, 1, false, settings_of(1));
    p.ends[1].closed = false;
    p.ends[1].events.clear();
    p.ends[1].stack->connected(p.now);
    p.run(1_s);
    CHECK(p.ends[0].count(kind::opened) == 1);
    CHECK(p.ends[1].count(kind::opened) == 1);
  }
  SUBCASE("and not by packets that an earlier life has left in the network") {
    pair_of p(false);
    p.connect();
    p.run(1_s);
    p.inject(1, packet_of(session_packet::hello, hello_of(again, false)));
    p.run(10_s);
    CHECK(!p.ends[1].down());
    CHECK(!p.ends[0].down());
    CHECK(p.layer(1).counters().strangers == 1);
  }
}

TEST_CASE("session: a session that the other end has lost is not gone on with") {
  SUBCASE("it has forgotten it") {
    pair_of p(true);
    p.connect();
    p.run(1_s);
    p.cut();
    p.lose(1);
    build(p, 1, true, settings_of(1));
    p.ends[1].events.clear();
    p.run(1_s);
    CHECK(p.ends[0].down() == net_errc::peer_down);
    CHECK(contains(p.ends[0].down(), "does not have the session"));
    CHECK(!p.ends[1].has(kind::opened));
  }
  SUBCASE("it begins anew as the same") {
    pair_of p(true);
    p.connect();
    p.run(1_s);
    p.cut();
    session_settings again = settings_of(0);
    again.secret = 0xa9a1;
    build(p, 0, true, again);
    p.ends[0].events.clear();
    p.connect();
    p.run(1_s);
    CHECK(!p.ends[0].down());  // it has asked for no session that was there before
    CHECK(!p.ends[0].has(kind::opened));
    CHECK(!p.ends[1].down());  // only the one that knows the session could end it
    CHECK(!p.ends[1].has(kind::resumed));
  }
}

TEST_CASE("session: datagrams of an earlier session are dropped and counted") {
  std::vector<test_end::bytes> old;
  {
    session_settings before = settings_of(0);
    before.self.incarnation = 5;
    pair_of p(false, before);
    p.fate = [&](int from, const test_end::bytes& b) {
      if (from == 0) old.push_back(b);
      return std::vector<duration>{1_ms};
    };
    p.connect();
    p.run(10_ms);
    p.say(0, "of the past");
    p.ends[0].stack->leave(p.now);
  }
  pair_of p(false);
  p.connect();
  p.run(10_ms);
  for (const test_end::bytes& b : old) p.inject(1, b);
  p.run(1_s);
  CHECK(p.ends[1].messages.empty());
  CHECK(!p.ends[1].down());
  CHECK(p.layer(1).counters().strangers == old.size());
}

TEST_CASE("session: one cannot open a session, or end one, without seeing its packets") {
  pair_of p(false);
  p.ends[0].on_transmit = [](auto) {};
  p.connect();
  p.inject(1, packet_of(session_packet::hello, hello_of(settings_of(0), false)));
  CHECK(!p.ends[1].has(kind::opened));
  for (std::uint32_t tag = 0; tag != 1000; ++tag) {
    std::vector<std::byte> data(6);
    data[0] = std::byte{1};
    store_le(data.data() + 1, tag * 4'000'000u);
    p.inject(1, data);
  }
  CHECK(!p.ends[1].has(kind::opened));
  CHECK(p.layer(1).counters().strangers == 1000);
}

TEST_CASE("session: a stranger's hello does not end a handshake that this end has begun") {
  session_settings other = settings_of(1);
  other.versions = {9, 9};
  hello of_other_layers = hello_of(settings_of(1), false);
  ++of_other_layers.layers;
  for (const hello& h :
       {hello_of(other, false), hello_of(settings_of(0), false), of_other_layers}) {
    CAPTURE(h.layers);
    CAPTURE(h.self.incarnation);
    pair_of p(false);
    p.ends[0].on_transmit = [](auto) {};
    p.connect();
    p.inject(0, packet_of(session_packet::hello, h));
    CHECK(!p.ends[0].has(kind::down));
    CHECK(p.layer(0).counters().strangers == 1);
  }
}

TEST_CASE("session: bytes of a later version behind a heartbeat's number are skipped") {
  pair_of p(true);
  p.connect();
  p.run(100_ms);
  const auto before = p.layer(1).counters();
  for (const session_packet k : {session_packet::heartbeat, session_packet::heartbeat_ack}) {
    std::vector<std::byte> later(9, std::byte{7});  // the kind, a number, and further bytes
    later[0] = static_cast<std::byte>(k);
    p.inject(1, framed(later));
  }
  CHECK(p.layer(1).counters().heartbeats_received == before.heartbeats_received + 1);
  CHECK(p.layer(1).counters().strangers == before.strangers);
  p.say(0, "still here");
  p.run(100_ms);
  CHECK(p.ends[1].messages.size() == 1);
}

TEST_CASE("session: an end that connects to itself is told so") {
  pair_of p(true, settings_of(0), [] {
    session_settings s = settings_of(0);
    s.connects = false;
    return s;
  }());
  p.connect();
  p.run(1_s);
  for (test_end& e : p.ends) {
    CHECK(e.down() == net_errc::refused);
    CHECK(contains(e.down(), "this end itself"));
  }
}

TEST_CASE("session: a policy's refusal reaches the end that has connected") {
  pair_of p(true);
  p.ends[0].stack->connected(p.now);
  packet said;
  SUBCASE("not allowed") {
    encode_refusal({refusal::not_allowed, {}, settings_of(0).self.incarnation}, said);
    p.inject(0, framed(said.bytes()));
    CHECK(p.ends[0].down() == net_errc::refused);
  }
  SUBCASE("in quarantine") {
    encode_refusal({refusal::given_up, {}, settings_of(0).self.incarnation}, said);
    p.inject(0, framed(said.bytes()));
    CHECK(p.ends[0].down() == net_errc::peer_down);
  }
}

TEST_CASE("session: settings that make no sense are named") {
  const auto refused = [](auto change) {
    session_settings s = settings_of(0);
    change(s);
    return std::string(session::check(s).detail());
  };
  CHECK(refused([](auto&) {}).empty());
  CHECK(refused([](auto& s) {
          s.down_after = s.resume_window - ms;
        }).starts_with("net.failure_detection_down_after:"));
  CHECK(
      refused([](auto& s) { s.self.incarnation = 0; }).starts_with("net.failure_detection_self:"));
  CHECK(
      refused([](auto& s) { s.versions = {2, 1}; }).starts_with("net.failure_detection_versions:"));
  CHECK(refused([](auto& s) { s.interval = {}; }).starts_with("net.failure_detection_interval:"));
  CHECK(refused([](auto& s) {
          s.suspicion.history = 0;
        }).starts_with("net.failure_detection_suspicion:"));
  CHECK(!refused([](auto& s) { s.probing.timeout = {}; }).empty());
}

TEST_CASE_TEMPLATE("session: an answer to another end opens nothing", T, over_a_stream,
                   over_datagrams) {
  const bool stream = T::value;
  pair_of p(stream);
  p.ends[1].on_transmit = [](auto) {};
  p.connect();
  hello h = hello_of(settings_of(1), stream);
  h.to = settings_of(0).self.incarnation + 1;
  const auto answer = packet_of(session_packet::hello_ack, h);
  p.inject(0, stream ? framed(answer) : answer);
  CHECK(!p.ends[0].has(kind::opened));
  CHECK(p.layer(0).counters().strangers == 1);
  if (stream) CHECK(p.ends[0].down() == net_errc::decode_failed);
}

TEST_CASE("session: packets to another end are not believed") {
  pair_of p(false);
  p.ends[1].on_transmit = [](auto) {};
  p.connect();
  const std::uint64_t other = settings_of(0).self.incarnation + 1;
  const std::uint64_t hellos = p.layer(0).counters().hellos_sent;
  packet refused;
  encode_refusal({refusal::not_allowed, {}, other, {}, {}, settings_of(0).secret}, refused);
  p.inject(0, refused.bytes());
  CHECK(!p.ends[0].down());
  hello h = first_of(1, session_packet::challenge, datagram_stack::fingerprint);
  h.to = other;
  p.inject(0, packet_of(session_packet::challenge, h));
  CHECK(p.layer(0).counters().hellos_sent == hellos);
  CHECK(p.layer(0).counters().strangers == 2);
  h.to = settings_of(0).self.incarnation;
  p.inject(0, packet_of(session_packet::challenge, h));
  CHECK(p.layer(0).counters().hellos_sent == hellos + 1);
}

TEST_CASE("session: a message that comes by a new stream before its hello is a stranger's") {
  pair_of p(true);
  p.connect();
  p.run(1_s);
  const auto said =
      framed(std::vector{static_cast<std::byte>(session_packet::data), std::byte{'x'}});
  p.inject(1, said);
  p.inject(1, said);
  REQUIRE(p.ends[1].messages.size() == 2);
  p.ends[1].stack->disconnected(net_errc::connection_lost, p.now);
  p.ends[1].stack->connected(p.now);  // at the time of the last sign of life
  p.inject(1, said);
  CHECK(p.ends[1].messages.size() == 2);
  CHECK(p.layer(1).counters().strangers == 1);
}

TEST_CASE("session: a peer that has sent a message at once cannot begin the session again") {
  pair_of p(true);
  const auto hi = framed(packet_of(session_packet::hello,
                                   first_of(0, session_packet::hello, stream_stack::fingerprint)));
  p.ends[1].connected = true;
  p.ends[1].stack->connected(p.now);
  p.inject(1, hi);
  REQUIRE(p.ends[1].has(kind::opened));
  p.inject(1, framed(std::vector{static_cast<std::byte>(session_packet::data), std::byte{'x'}}));
  REQUIRE(p.ends[1].messages.size() == 1);
  p.ends[1].stack->disconnected(net_errc::connection_lost, p.now);
  p.ends[1].stack->connected(p.now);
  p.inject(1, hi);
  CHECK(!p.ends[1].has(kind::resumed));
  CHECK(!p.ends[1].down());
}

TEST_CASE("session: a frame without a kind is a stranger's, also with more bytes behind it") {
  pair_of p(true);
  p.connect();
  p.run(1_s);
  // Behind the empty frame comes the length of the next one, whose first byte is that of `data`.
  const std::byte data = static_cast<std::byte>(session_packet::data);
  std::vector<std::byte> all = framed(std::vector{data});
  all.resize(all.size() + 4);
  for (const std::byte b : framed(std::vector{data})) all.push_back(b);
  p.inject(1, all);
  CHECK(p.ends[1].messages.size() == 2);
  CHECK(p.layer(1).counters().strangers == 1);
}

}  // namespace session_test
