#include "garrick/net/layer/session/handshake.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/layer/session/secrets.hpp"
#include "garrick/net/little_endian.hpp"

namespace handshake_test {

using namespace garrick;
using namespace garrick::net;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

hello full_hello() {
  hello h;
  h.versions = {2, 7};
  h.self = {{0x0102030405060708, 0x090a0b0c0d0e0f10}, 0x1112131415161718};
  h.to = 0x2122232425262728;
  h.resumes = true;
  h.interval = 250;
  h.layers = 0x31323334;
  h.capabilities.add(0);
  h.capabilities.add(9);
  h.program = "program 1.0";
  h.number = 0x4142434445464748;
  h.proof = 0x5152535455565758;
  return h;
}

}  // namespace

TEST_CASE("handshake: a hello lies on the wire as docs/wire.md says") {
  packet p;
  encode_hello(session_packet::hello_ack, full_hello(), p);
  constexpr std::string_view expected(
      "\x03"
      "GRCK"
      "\x02\x00\x07\x00"
      "\x10\x0f\x0e\x0d\x0c\x0b\x0a\x09\x08\x07\x06\x05\x04\x03\x02\x01"
      "\x18\x17\x16\x15\x14\x13\x12\x11"
      "\x28\x27\x26\x25\x24\x23\x22\x21"
      "\x01"
      "\xfa\x00\x00\x00"
      "\x34\x33\x32\x31"
      "\x02\x01\x02"
      "\x0bprogram 1.0"
      "\x48\x47\x46\x45\x44\x43\x42\x41"
      "\x58\x57\x56\x55\x54\x53\x52\x51",
      81);
  REQUIRE(p.size() == expected.size());
  CHECK(std::equal(p.bytes().begin(), p.bytes().end(), bytes_of(expected).begin()));
  CHECK(decode_hello(p.bytes()) == full_hello());
}

TEST_CASE("handshake: the hashes of a session are fixed for ever") {
  const siphash_key key = session_key(2, 1);
  CHECK(key == siphash_key{1, 2});
  CHECK(key == session_key(1, 2));
  CHECK(session_tag(key, 3) == 0xf0521c35u);
  CHECK(resume_proof(key, session_packet::hello, full_hello()) == 0xfb00210df8b95bbc);
  CHECK(resume_proof(key, session_packet::hello_ack, full_hello()) == 0x1a1d4568ead48fc5);
}

TEST_CASE("handshake: fields that come later are skipped, and less than a hello is none") {
  packet p;
  encode_hello(session_packet::hello, full_hello(), p);
  for (std::size_t n = 0; n != p.size(); ++n) CHECK(!decode_hello(p.bytes().first(n)));
  p.append(bytes_of("a field of version 8"));
  CHECK(decode_hello(p.bytes()) == full_hello());
  p.append(std::vector<std::byte>(largest_hello));
  CHECK(!decode_hello(p.bytes()));
}

TEST_CASE("handshake: nonsense is no hello") {
  const auto decodes = [](auto change) {
    hello h = full_hello();
    change(h);
    packet p;
    encode_hello(session_packet::hello, h, p);
    return decode_hello(p.bytes()).has_value();
  };
  CHECK(decodes([](auto&) {}));
  CHECK(!decodes([](auto& h) { h.self.incarnation = 0; }));
  CHECK(!decodes([](auto& h) { h.versions = {3, 2}; }));
  CHECK(!decodes([](auto& h) { h.number = 0; }));
}

TEST_CASE("handshake: a program's name is cut, and shows no control characters") {
  hello h = full_hello();
  h.program = std::string(200, 'x');
  packet p;
  encode_hello(session_packet::hello, h, p);
  CHECK(decode_hello(p.bytes())->program == std::string(longest_program, 'x'));
  h.program = "a\x1b[31m";
  packet q;
  encode_hello(session_packet::hello, h, q);
  CHECK(decode_hello(q.bytes())->program == "a.[31m");
}

TEST_CASE("handshake: both ends choose the highest common version") {
  CHECK(version_range{1, 3}.common({2, 9}) == 3);
  CHECK(version_range{2, 9}.common({1, 3}) == 3);
  CHECK(version_range{2, 2}.common({2, 2}) == 2);
  CHECK(!version_range{1, 2}.common({3, 4}));
  CHECK(!version_range{3, 4}.common({1, 2}));
}

TEST_CASE("handshake: a refusal comes back") {
  packet p;
  encode_refusal({refusal::given_up, {3, 4}, 77, {}, {}, 0x0102030405060708}, p);
  const auto r = decode_refusal(p.bytes());
  REQUIRE(r.has_value());
  CHECK(r->why == refusal::given_up);
  CHECK(r->versions == version_range{3, 4});
  CHECK(r->to == 77);
  CHECK(r->proof == 0x0102030405060708);
  for (std::size_t n = 0; n != p.size(); ++n) CHECK(!decode_refusal(p.bytes().first(n)));
}

TEST_CASE("handshake: a refusal may name the refusing peer, behind its words, or without any") {
  const peer_identity self{{5, 6}, 7};
  for (const std::string words : {"", "no"}) {
    packet p;
    encode_refusal({refusal::has_session, {1, 2}, 77, words, self}, p);
    CHECK(p.size() <= 68);  // no larger than a hello
    const auto r = decode_refusal(p.bytes());
    REQUIRE(r);
    CHECK(r->why == refusal::has_session);
    CHECK(r->words == words);
    CHECK(r->self == self);
    const auto half = decode_refusal(p.bytes().first(p.size() - 1));
    REQUIRE(half);
    CHECK(half->self == peer_identity{});
  }
  hello h = full_hello();
  h.begins_anew = true;
  packet p;
  encode_hello(session_packet::hello, h, p);
  CHECK(decode_hello(p.bytes()) == h);
}

TEST_CASE("handshake: a refusal's words are cut, show no control characters, and may be missing") {
  packet without, p;
  encode_refusal({refusal::not_allowed, {}, 5}, without);
  encode_refusal({refusal::not_allowed, {}, 5, "no\n" + std::string(longest_words, 'x')}, p);
  const auto r = decode_refusal(p.bytes());
  REQUIRE(r.has_value());
  CHECK(r->words == "no." + std::string(longest_words - 3, 'x'));
  // An older reader, which skips the words, sees the same as before. Words that are cut off count
  // as none.
  for (std::size_t n = without.size(); n != p.size(); ++n) {
    const auto half = decode_refusal(p.bytes().first(n));
    REQUIRE(half.has_value());
    CHECK(half->to == 5);
    CHECK(half->words.empty());
  }
}

TEST_CASE("peek: a peer that connects is known from its first bytes, in pieces of any size") {
  packet p = packet::with_room(4, 100);
  encode_hello(session_packet::hello, full_hello(), p);
  CHECK(peek_datagram(p.bytes()).says == full_hello());
  const auto size = static_cast<std::uint32_t>(p.size());
  store_le(p.prepend(4), size);
  for (std::size_t n = 0; n != p.size(); ++n)
    CHECK(peek_stream(p.bytes().first(n)).what == peeked::kind::incomplete);
  p.append(bytes_of("more"));
  const peeked found = peek_stream(p.bytes());
  CHECK(found.what == peeked::kind::found);
  CHECK(found.says.self == full_hello().self);
}

TEST_CASE("peek: strangers are known at once, by their protocol") {
  const auto stream = [](std::string_view text) { return peek_stream(bytes_of(text)); };
  CHECK(stream("GET").what == peeked::kind::incomplete);
  CHECK(stream("GET / HTTP/1.1").why == net_errc::not_garrick);
  CHECK(stream("GET / HTTP/1.1").why.detail().find("HTTP") != std::string_view::npos);
  CHECK(stream("\x16\x03\x01\x02").why.detail().find("TLS") != std::string_view::npos);
  CHECK(stream(std::string_view("\x20\0\0\0\2GRX", 8)).what == peeked::kind::foreign);
  CHECK(stream(std::string_view("\x20\0\0\0\2GRC", 8)).what == peeked::kind::incomplete);
  CHECK(stream(std::string_view("\0\0\0\0", 4)).what == peeked::kind::foreign);
  CHECK(peek_datagram({}).what == peeked::kind::foreign);
  CHECK(peek_datagram(bytes_of("\1abcdef")).what == peeked::kind::foreign);
  packet answer;
  encode_hello(session_packet::hello_ack, full_hello(), answer);
  CHECK(peek_datagram(answer.bytes()).what == peeked::kind::foreign);
}

TEST_CASE("handshake: a goodbye tells its reason, and an unknown one is an orderly goodbye") {
  const auto text = [](std::string_view body) { return parting_text(bytes_of(body)); };
  CHECK(text("") == "the peer has left");
  CHECK(text("\3and words") == "the peer has left");
  CHECK(text("\1") == "the peer has heard nothing of this end, and has given it up");
  packet p;
  encode_parting("too much\n of it", p);
  CHECK(p.bytes()[0] == std::byte{2});  // as docs/wire.md says
  CHECK(parting_text(p.bytes()) == "the peer has ended the session: too much. of it");
  packet longer;
  encode_parting(std::string(200, 'w'), longer);
  CHECK(longer.size() == 1 + longest_words);
  CHECK(text("\2" + std::string(200, 'w')) ==
        "the peer has ended the session: " + std::string(longest_words, 'w'));
}

TEST_CASE("handshake: unknown capabilities are ignored, however many there are") {
  const std::vector<std::byte> all(255, std::byte{0xff});
  CHECK(capability_set::from(all) == capability_set::from(std::span(all).first(32)));
  CHECK(capability_set::from(all).has(255));
  CHECK(!capability_set::from(all).has(256));
}

TEST_CASE("peek: a hello of the largest size is one, and a byte more is none") {
  packet p = packet::with_room(4, largest_hello + 1);
  encode_hello(session_packet::hello, full_hello(), p);
  p.append(std::vector<std::byte>(largest_hello - p.size()));
  const auto peeked_behind = [&](std::uint32_t size) {
    std::vector<std::byte> framed(4);
    store_le(framed.data(), size);
    framed.insert(framed.end(), p.bytes().begin(), p.bytes().end());
    return peek_stream(framed).what;
  };
  CHECK(peeked_behind(largest_hello) == peeked::kind::found);
  p.append(std::vector<std::byte>(1));
  CHECK(peeked_behind(largest_hello + 1) == peeked::kind::foreign);
}

}  // namespace handshake_test
