// Strangers that know the identities of both ends, and neither of their secrets: they change
// nothing.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/layer/session.hpp"
#include "garrick/net/layer/session/secrets.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/stack/internal/session_pair.hpp"

namespace session_secrets_test {

using namespace garrick;
using namespace garrick::net;
using namespace garrick::net::tests;
using kind = link_event::kind;
using what = session_packet;
using bytes = std::vector<std::byte>;

namespace {

constexpr std::uint32_t over_streams = stream_stack::fingerprint;
constexpr std::uint32_t over_datagrams = datagram_stack::fingerprint;

bytes packet_of(what of, const hello& h, bool stream = false) {
  packet p = packet::with_room(4, largest_hello);
  encode_hello(of, h, p);
  const auto size = static_cast<std::uint32_t>(p.size());
  if (stream) store_le(p.prepend(4), size);
  return {p.bytes().begin(), p.bytes().end()};
}

/// Writes down the packets of end `i`, which still arrive.
void keep(pair_of& p, std::size_t i, std::vector<bytes>& all) {
  p.ends[i].on_transmit = [&all, sends = p.ends[i].on_transmit](bytes b) {
    all.push_back(b);
    sends(std::move(b));
  };
}

/// Returns the last hello among the packets.
hello last_hello(const std::vector<bytes>& all) {
  for (auto at = all.rbegin(); at != all.rend(); ++at)
    if (const auto h = decode_hello(*at)) return *h;
  FAIL("no hello was sent");
  return {};
}

/// Returns a hello of another life of end 0.
hello of_another_life() {
  hello h = first_of(0, what::hello, over_datagrams);
  h.self.incarnation = 999;
  h.number = 0xa9a1;
  return h;
}

}  // namespace

TEST_CASE("session: an answer that does not repeat this end's secret is a stranger's") {
  pair_of p(false);
  p.ends[1].on_transmit = [](auto) {};
  p.connect();
  const session_settings s = settings_of(0);
  const std::uint64_t hellos = p.layer(0).counters().hellos_sent;
  for (const what of : {what::hello_ack, what::challenge}) {
    hello h = first_of(1, of, over_datagrams);
    ++h.proof;
    p.inject(0, packet_of(of, h));
  }
  for (const refusal why : {refusal::not_allowed, refusal::given_up, refusal::has_session}) {
    packet no;
    encode_refusal({why, {}, s.self.incarnation, {}, {{8, 9}, 10}, s.secret + 1}, no);
    p.inject(0, no.bytes());
  }
  CHECK(!p.ends[0].has(kind::opened));
  CHECK(!p.ends[0].has(kind::has_session));
  CHECK(!p.ends[0].down());
  CHECK(p.layer(0).counters().strangers == 5);
  CHECK(p.layer(0).counters().hellos_sent == hellos);
  p.inject(0, packet_of(what::hello_ack, first_of(1, what::hello_ack, over_datagrams)));
  CHECK(p.ends[0].has(kind::opened));
}

TEST_CASE("session: a challenge is answered at once by a hello with its cookie, then it is kept") {
  pair_of p(false);
  std::vector<bytes> said;
  p.ends[0].on_transmit = [&](bytes b) { said.push_back(std::move(b)); };
  p.connect();
  CHECK(last_hello(said).proof == 0);
  hello h = first_of(1, what::challenge, over_datagrams);
  h.number = 0xc00c1e;
  p.inject(0, packet_of(what::challenge, h));
  REQUIRE(said.size() == 2);
  CHECK(last_hello(said).proof == 0xc00c1e);
  CHECK(last_hello(said).number == settings_of(0).secret);
  p.run(1_s);
  CHECK(said.size() > 3);
  CHECK(last_hello(said).proof == 0xc00c1e);
}

TEST_CASE("session: one that knows both identities cannot end or join an open session") {
  pair_of p(false);
  p.connect();
  p.run(100_ms);
  REQUIRE(p.ends[1].has(kind::opened));
  const std::uint64_t before = p.layer(1).counters().strangers;
  // The tag that was made of both incarnations.
  std::uint64_t x = settings_of(0).self.incarnation * 0x9e3779b97f4a7c15u;
  x += settings_of(1).self.incarnation;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  for (const auto tag : {static_cast<std::uint32_t>(x ^ x >> 32),
                         session_tag(session_key(0, 0), settings_of(0).self.incarnation)})
    for (const what of : {what::leave, what::data}) {
      bytes all(6);
      all[0] = static_cast<std::byte>(of);
      store_le(all.data() + 1, tag);
      p.inject(1, all);
    }
  p.inject(1, packet_of(what::hello_ack, first_of(0, what::hello, over_datagrams)));
  CHECK(p.layer(1).counters().strangers == before + 5);
  CHECK(p.ends[1].messages.empty());
  CHECK(!p.ends[1].down());
}

TEST_CASE("session: another life at the address ends the session only with the session's cookie") {
  pair_of p(false);
  p.connect();
  p.run(100_ms);
  std::vector<bytes> said;
  p.ends[1].on_transmit = [&](bytes b) { said.push_back(std::move(b)); };
  hello h = of_another_life();
  h.to = settings_of(1).self.incarnation;  // that is no secret
  p.inject(1, packet_of(what::hello, h));
  REQUIRE(said.size() == 1);
  CHECK(static_cast<what>(said[0][0]) == what::challenge);
  CHECK(said[0].size() <= packet_of(what::hello, h).size());
  const hello challenge = last_hello(said);
  CHECK(challenge.proof == h.number);
  h.proof = challenge.number + 1;
  p.inject(1, packet_of(what::hello, h));
  hello of_third = h;
  of_third.self.incarnation = 1000;
  of_third.proof = challenge.number;
  p.inject(1, packet_of(what::hello, of_third));
  hello of_another_session = h;
  ++of_another_session.number;
  of_another_session.proof = challenge.number;
  p.inject(1, packet_of(what::hello, of_another_session));
  CHECK(!p.ends[1].down());
  CHECK(p.layer(1).counters().strangers == 4);
  h.proof = challenge.number;
  p.inject(1, packet_of(what::hello, h));
  CHECK(p.ends[1].down() == net_errc::peer_down);
}

TEST_CASE("session: another hello does not change the peer of a handshake under way") {
  pair_of p(false);
  p.connect();
  p.inject(1, packet_of(what::hello, first_of(0, what::hello, over_datagrams)));
  p.inject(1, packet_of(what::hello, of_another_life()));
  p.run(1_s);
  CHECK(p.ends[0].has(kind::opened));
  CHECK(p.ends[1].has(kind::opened));
  CHECK(p.layer(1).peer()->self == settings_of(0).self);
}

TEST_CASE("session: an end that connects learns its peer by the answer alone") {
  pair_of p(false);
  p.ends[1].on_transmit = [](auto) {};
  p.connect();
  p.inject(0, packet_of(what::hello, of_another_life()));
  CHECK(p.layer(0).peer() == nullptr);
  CHECK(!p.ends[0].has(kind::opened));
  p.inject(0, packet_of(what::hello_ack, first_of(1, what::hello_ack, over_datagrams)));
  CHECK(p.ends[0].has(kind::opened));
  CHECK(p.layer(0).peer()->self == settings_of(1).self);
}

TEST_CASE("session: another session of the same life is challenged, too") {
  pair_of p(false);
  p.connect();
  p.run(100_ms);
  std::vector<bytes> said;
  p.ends[1].on_transmit = [&](bytes b) { said.push_back(std::move(b)); };
  hello h = first_of(0, what::hello, over_datagrams);
  p.inject(1, packet_of(what::hello, h));
  ++h.number;
  p.inject(1, packet_of(what::hello, h));
  REQUIRE(said.size() == 2);
  CHECK(static_cast<what>(said[0][0]) == what::hello_ack);
  CHECK(static_cast<what>(said[1][0]) == what::challenge);
  CHECK(!p.ends[1].down());
}

TEST_CASE("session: a hello on an open stream changes nothing") {
  pair_of p(true);
  p.connect();
  p.run(100_ms);
  hello h = first_of(0, what::hello, over_streams);
  h.self.incarnation = 999;
  for (const std::size_t end : {0u, 1u}) {
    p.inject(static_cast<int>(end), packet_of(what::hello, h, true));
    CHECK(!p.ends[end].down());
    CHECK(p.layer(end).counters().strangers == 1);
  }
}

TEST_CASE("session: a lost session goes on only by a proof, and by each proof once") {
  pair_of p(true);
  p.connect();
  p.run(100_ms);
  p.ends[0].on_reopen = [] {};
  const auto by = [&](const hello& h) {  // a new stream that begins so
    if (p.ends[1].connected) p.lose(1);
    p.ends[1].connected = true;
    p.ends[1].stack->connected(p.now);
    const std::uint64_t before = p.ends[1].count(kind::resumed);
    p.inject(1, packet_of(what::hello, h, true));
    CHECK(!p.ends[1].down());
    return p.ends[1].count(kind::resumed) != before;
  };
  p.lose(0);
  const hello right = resumption_of(0, what::hello, 5, over_streams);
  const auto with = [&](auto change) {
    hello h = right;
    change(h);
    return by(h);
  };
  CHECK(!with([](hello& h) { h.proof = 0; }));
  CHECK(!with([](hello& h) { ++h.number; }));
  CHECK(!with([](hello& h) { ++h.to; }));
  CHECK(!with([](hello& h) { h.self.incarnation = 999; }));
  CHECK(!with([](hello& h) { h = resumption_of(0, what::hello_ack, 5, over_streams); }));
  CHECK(!with([](hello& h) { h = first_of(0, what::hello, over_streams); }));
  CHECK(by(right));
  CHECK(!by(right));
  CHECK(!by(resumption_of(0, what::hello, 4, over_streams)));
  CHECK(by(resumption_of(0, what::hello, 6, over_streams)));
}

TEST_CASE("session: a peer that says that it has no session ends a lost one") {
  pair_of p(true);
  p.connect();
  p.run(100_ms);
  p.ends[0].on_reopen = [] {};
  hello h = first_of(0, what::hello, over_streams);
  ++h.number;
  h.begins_anew = true;
  p.inject(1, packet_of(what::hello, h, true));
  CHECK(!p.ends[1].down());
  p.lose(0);
  p.lose(1);
  p.ends[1].connected = true;
  p.ends[1].stack->connected(p.now);
  hello of_another = h;
  of_another.self.incarnation = 999;
  p.inject(1, packet_of(what::hello, of_another, true));
  CHECK(!p.ends[1].down());
  p.inject(1, packet_of(what::hello, h, true));
  CHECK(p.ends[1].down() == net_errc::peer_down);
}

TEST_CASE("session: an answer to an attempt to resume must prove itself, and be to that attempt") {
  pair_of p(true);
  p.connect();
  p.run(100_ms);
  p.ends[1].on_transmit = [](auto) {};
  p.cut();
  p.run(100_ms);
  REQUIRE(p.ends[0].connected);
  const auto says = [&](const hello& h) {
    p.inject(0, packet_of(what::hello_ack, h, true));
    CHECK(!p.ends[0].down());
    return p.ends[0].has(kind::resumed);
  };
  const hello right = resumption_of(1, what::hello_ack, 1, over_streams);
  hello wrong = right;
  ++wrong.proof;
  CHECK(!says(wrong));
  wrong = right;
  wrong.resumes = false;
  CHECK(!says(wrong));
  CHECK(!says(first_of(1, what::hello_ack, over_streams)));
  CHECK(!says(resumption_of(1, what::hello_ack, 2, over_streams)));
  CHECK(!says(resumption_of(1, what::hello, 1, over_streams)));
  CHECK(says(right));
}

TEST_CASE("session: secrets differ from session to session, unless they are given") {
  const auto secret_of = [](session_settings s) {
    pair_of p(false, std::move(s));
    std::vector<bytes> said;
    keep(p, 0, said);
    p.connect();
    return last_hello(said).number;
  };
  session_settings s = settings_of(0);
  CHECK(secret_of(s) == s.secret);
  s.secret = 0;
  const std::uint64_t of_seed = secret_of(s);
  CHECK(of_seed == secret_of(s));
  ++s.seed;
  CHECK(of_seed != secret_of(s));
  s.seed = 0;
  CHECK(secret_of(s) != secret_of(s));
}

}  // namespace session_secrets_test
