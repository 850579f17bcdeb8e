// A connection beside a suspected stream: the time at which it is asked for, the bytes sent by it,
// and the answers that take the session over.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/layer/redelivery.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/stack/internal/session_pair.hpp"

namespace connection_beside_test {

using namespace garrick;
using namespace garrick::net;
using namespace garrick::net::tests;
using base::duration;
using kind = link_event::kind;
using bytes = test_end::bytes;

namespace {

using session_stack = stack<byte_stream, redelivery, session, framing>;

/// A pair with sessions that outlive their streams; end 0 connects.
struct session_pair : simulated_pair {
  explicit session_pair(session_settings zero = settings_of(0)) : simulated_pair(true, 1) {
    build(0, std::move(zero));
    build(1, settings_of(1));
    connect();
    run(10_s);
    REQUIRE(ends[0].has(kind::opened));
  }
  void build(std::size_t i, session_settings s) {
    ends[i].stack = std::make_unique<session_stack>(ends[i], ends[i], redelivery(),
                                                    session(std::move(s)), framing());
  }
  /// Loses the packets of end `i` from now on.
  void mute(std::size_t i) {
    ends[i].on_transmit = [](const bytes&) {};
  }
  void say(const char* text) { CHECK(!ends[0].stack->send(message(text), now)); }
};

bytes framed(session_packet what, const hello& h) {
  packet p = packet::with_room(4, largest_hello);
  encode_hello(what, h, p);
  const auto size = static_cast<std::uint32_t>(p.size());
  store_le(p.prepend(4), size);
  return {p.bytes().begin(), p.bytes().end()};
}

/// Returns the answer by which end 1 resumes the session, after this many attempts of end 0.
hello going_on(std::uint64_t attempts = 1) {
  return resumption_of(1, session_packet::hello_ack, attempts, session_stack::fingerprint);
}

}  // namespace

TEST_CASE("beside: asked for when the peer is suspected, with growing pauses, until it is heard") {
  session_pair p;
  CHECK(p.ends[0].reopened_beside == 0);
  const auto transmit = p.ends[1].on_transmit;
  p.mute(1);
  while (!p.ends[0].has(kind::suspected)) p.run(1_ms);
  CHECK(p.ends[0].reopened_beside == 1);
  p.run(100_ms);
  CHECK(p.ends[0].reopened_beside >= 3);
  p.run(4_s);
  // Pauses of 20 ms, doubled up to 2 s, each shortened by up to a half.
  CHECK(p.ends[0].reopened_beside >= 8);
  CHECK(p.ends[0].reopened_beside <= 13);
  p.ends[1].on_transmit = transmit;
  p.run(1_s);
  CHECK(p.ends[0].count(kind::trusted) == 1);
  const auto asked = p.ends[0].reopened_beside;
  p.run(10_s);
  CHECK(p.ends[0].reopened_beside == asked);
  CHECK(p.ends[0].stack->greeting(p.now).empty());
  // The pauses start again.
  p.mute(1);
  while (p.ends[0].count(kind::suspected) < 2) p.run(1_ms);
  p.run(100_ms);
  CHECK(p.ends[0].reopened_beside >= asked + 3);
  CHECK(p.ends[0].reopened == 0);
}

TEST_CASE(
    "beside: not asked for by the acceptor, over datagrams, and where messages would be lost") {
  const auto silent = [](simulated_pair& p, std::size_t who) {
    p.connect();
    p.run(10_s);
    p.ends[1 - who].on_transmit = [](const bytes&) {};
    p.run(6_s);
    CHECK(p.ends[who].has(kind::suspected));
    CHECK(p.ends[who].reopened_beside == 0);
  };
  pair_of plain(true), packets(false);
  silent(plain, 0);
  silent(packets, 0);
  session_pair p;
  p.mute(0);
  p.run(6_s);
  CHECK(p.ends[1].has(kind::suspected));
  CHECK(p.ends[1].reopened_beside == 0);
}

TEST_CASE("beside: the greeting says that the session goes on, and only while it is wanted") {
  session_pair p;
  CHECK(p.ends[0].stack->greeting(p.now).empty());
  p.mute(1);
  p.run(6_s);
  const packet first = p.ends[0].stack->greeting(p.now);
  const peeked says = peek_stream(first.bytes());
  REQUIRE(says.what == peeked::kind::found);
  CHECK(says.says.resumes);
  CHECK(says.says.self == settings_of(0).self);
  CHECK(says.says.to == settings_of(1).self.incarnation);
  CHECK(says.says.layers == session_stack::fingerprint);
  CHECK(says.says == [] {
    hello h = resumption_of(0, session_packet::hello, 1, session_stack::fingerprint);
    h.program = settings_of(0).program;
    return h;
  }());
  p.ends[0].stack->disconnected(net_errc::connection_lost, p.now);
  CHECK(!p.ends[0].stack->greeting(p.now).empty());
  p.run(60_s);
  REQUIRE(p.ends[0].down());
  CHECK(p.ends[0].stack->greeting(p.now).empty());
  CHECK(p.ends[0].stack->answered(framed(session_packet::hello_ack, going_on()), p.now) ==
        beside::drops);
}

TEST_CASE("beside: only the peer that goes on with this session takes over") {
  session_pair p;
  p.mute(1);
  p.run(6_s);
  const auto answer = [&](const bytes& b) { return p.ends[0].stack->answered(b, p.now); };
  const auto with = [&](auto change, session_packet what = session_packet::hello_ack) {
    hello h = going_on();
    change(h);
    return answer(framed(what, h));
  };
  const bytes right = framed(session_packet::hello_ack, going_on());
  CHECK(answer(right) == beside::drops);  // nothing was said
  REQUIRE(!p.ends[0].stack->greeting(p.now).empty());
  for (std::size_t n = 0; n != right.size(); ++n)
    CHECK(answer({right.begin(), right.begin() + static_cast<std::ptrdiff_t>(n)}) == beside::waits);
  CHECK(answer(right) == beside::takes);
  bytes more = right;
  more.resize(right.size() + 100);
  CHECK(answer(more) == beside::takes);
  CHECK(with([](hello& h) { ++h.self.incarnation; }) == beside::drops);
  CHECK(with([](hello& h) { ++h.self.node.low; }) == beside::drops);
  CHECK(with([](hello& h) { ++h.to; }) == beside::drops);
  CHECK(with([](hello& h) { h.resumes = false; }) == beside::drops);
  CHECK(with([](hello& h) { ++h.layers; }) == beside::drops);
  CHECK(with([](hello& h) { ++h.number; }) == beside::drops);
  CHECK(with([](hello& h) { ++h.proof; }) == beside::drops);
  CHECK(with([](hello& h) { h = going_on(2); }) == beside::drops);
  CHECK(with([](hello&) {}, session_packet::hello) == beside::drops);
  bytes broken = right;
  broken[6] ^= std::byte{1};
  CHECK(answer(broken) == beside::drops);
  CHECK(answer(bytes(4)) == beside::drops);
  bytes large(4);
  store_le(large.data(), static_cast<std::uint32_t>(largest_hello + 1));
  CHECK(answer(large) == beside::drops);
  store_le(large.data(), static_cast<std::uint32_t>(largest_hello));
  CHECK(answer(large) == beside::waits);
  packet refused = packet::with_room(4, 64);
  encode_refusal({refusal::no_session, {}, settings_of(0).self.incarnation}, refused);
  const auto size = static_cast<std::uint32_t>(refused.size());
  store_le(refused.prepend(4), size);
  CHECK(answer({refused.bytes().begin(), refused.bytes().end()}) == beside::drops);
  // None of this has changed anything.
  CHECK(!p.ends[0].has(kind::disconnected));
  CHECK(!p.ends[0].down());
}

TEST_CASE("beside: the session goes on by it, with its messages under way, and is trusted") {
  session_pair p;
  p.mute(0);
  p.say("one");
  p.say("two");
  p.mute(1);
  p.run(6_s);
  REQUIRE(p.ends[0].has(kind::suspected));
  REQUIRE(p.ends[1].messages.empty());
  // By the new connection end 1 gets the greeting, and end 0 its answer.
  std::vector<bytes> said;
  test_end& zero = p.ends[0];
  test_end& one = p.ends[1];
  const packet first = zero.stack->greeting(p.now);
  one.on_transmit = [&](bytes b) { said.push_back(std::move(b)); };
  one.stack->disconnected(net_errc::connection_lost, p.now);
  one.stack->connected(p.now);
  one.stack->receive(first.bytes(), p.now);
  CHECK(one.has(kind::resumed));
  bytes all;
  for (const bytes& b : said) all.insert(all.end(), b.begin(), b.end());
  REQUIRE(zero.stack->answered(all, p.now) == beside::takes);
  one.on_transmit = [&](const bytes& b) { zero.stack->receive(b, p.now); };
  std::vector<bytes> back;
  zero.on_transmit = [&](bytes b) { back.push_back(std::move(b)); };
  zero.stack->disconnected(net_errc::connection_lost, p.now);
  zero.stack->connected(p.now);
  zero.stack->receive(all, p.now);
  CHECK(zero.has(kind::resumed));
  CHECK(zero.count(kind::trusted) == 1);
  for (std::size_t i = 0; i != back.size(); ++i) one.stack->receive(back[i], p.now);
  REQUIRE(one.messages.size() == 2);
  CHECK(one.messages[0].second == "one");
  CHECK(one.messages[1].second == "two");
}

TEST_CASE("beside: asked for when the stream that replaced a lost one is silent, too") {
  session_pair p;
  p.mute(0);
  p.ends[0].stack->disconnected(net_errc::connection_lost, p.now);
  p.ends[0].stack->connected(p.now);
  p.run(1_s);
  CHECK(p.ends[0].reopened_beside == 0);
  p.run(3_s);
  CHECK(p.ends[0].reopened_beside > 1);
  CHECK(p.ends[0].reopened == 0);
  REQUIRE(!p.ends[0].stack->greeting(p.now).empty());  // the second attempt: the stream had one
  CHECK(p.ends[0].stack->answered(framed(session_packet::hello_ack, going_on(1)), p.now) ==
        beside::drops);
  CHECK(p.ends[0].stack->answered(framed(session_packet::hello_ack, going_on(2)), p.now) ==
        beside::takes);
}

}  // namespace connection_beside_test
