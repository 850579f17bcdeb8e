#include "garrick/net/wire/frame.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "garrick/base/values/random.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/wire/codec.hpp"
#include "garrick/net/wire/orders.hpp"

namespace frame_test {

using namespace garrick;
using namespace garrick::net;

namespace {

constexpr actor_id receiver{0x0706050403020100, 0x0f0e0d0c0b0a0908};
constexpr actor_id sender{0x1716151413121110, 0x1f1e1d1c1b1a1918};

std::vector<std::byte> raw(std::initializer_list<int> all) {
  std::vector<std::byte> out;
  for (const int x : all) out.push_back(static_cast<std::byte>(x));
  return out;
}
std::vector<std::byte> encoded(const frame& f, std::span<const std::byte> payload = {}) {
  packet p = packet::copy_of(payload, frame_room);
  prepend_header(f, p);
  return {p.bytes().begin(), p.bytes().end()};
}
std::vector<std::byte> ids(int first, std::initializer_list<int> rest) {
  std::vector<std::byte> out = raw({first});
  for (int i = 0; i != 32; ++i) out.push_back(static_cast<std::byte>(i));
  for (const int x : rest) out.push_back(static_cast<std::byte>(x));
  return out;
}
std::uint64_t seeds() {
  const char* text = std::getenv("GARRICK_SEEDS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 200;
}

}  // namespace

TEST_CASE("an actor message: kind, receiver, sender, type, payload, where it lies") {
  const auto payload = raw({0xaa, 0xbb});
  const frame f{.kind = frame_kind::message,
                .receiver = receiver,
                .sender = sender,
                .type = 0x0102030405060708};
  const auto bytes = encoded(f, payload);
  CHECK(bytes == ids(1, {8, 7, 6, 5, 4, 3, 2, 1, 0xaa, 0xbb}));
  const base::result<frame> back = decode_frame(bytes);
  REQUIRE(back.has_value());
  CHECK(back->kind == frame_kind::message);
  CHECK(back->receiver == receiver);
  CHECK(back->sender == sender);
  CHECK(back->type == f.type);
  CHECK(!back->time_left);
  CHECK(!back->trace);
  CHECK(back->payload.data() == bytes.data() + bytes.size() - 2);
  CHECK(back->payload.size() == 2);
}

TEST_CASE("a message without extensions is plain, and nothing else is") {
  const frame f{.kind = frame_kind::message, .receiver = receiver, .sender = sender, .type = 7};
  const auto bytes = encoded(f, raw({0xaa, 0xbb}));
  frame plain;
  REQUIRE(decode_plain_message(bytes, plain));
  CHECK(plain.kind == frame_kind::message);
  CHECK(plain.receiver == receiver);
  CHECK(plain.sender == sender);
  CHECK(plain.type == 7);
  CHECK(plain.payload.data() == bytes.data() + bytes.size() - 2);
  CHECK(plain.payload.size() == 2);
  const auto is_plain = [](std::span<const std::byte> all) {
    frame into;
    const bool is = decode_plain_message(all, into);
    CHECK((is || (!into.receiver && into.type == 0 && into.payload.empty())));
    return is;
  };
  CHECK(is_plain(encoded(f)));
  // The frame to decode into may have been used before. It stays as it was if the bytes are not a
  // plain message.
  const frame other{.receiver = sender, .sender = receiver, .type = 9};
  const auto others = encoded(other, raw({0xcc}));
  REQUIRE(decode_plain_message(others, plain));
  CHECK_FALSE(decode_plain_message(std::span(bytes).first(3), plain));
  CHECK(plain.receiver == sender);
  CHECK(plain.sender == receiver);
  CHECK(plain.type == 9);
  CHECK(plain.payload.data() == others.data() + others.size() - 1);
  CHECK(plain.payload.size() == 1);
  for (std::size_t n = 0; n + 2 < bytes.size(); ++n)
    CHECK_FALSE(is_plain(std::span(bytes).first(n)));
  frame urgent = f;
  urgent.urgent = true;
  CHECK_FALSE(is_plain(encoded(urgent, raw({0xaa}))));
  frame asks = f;
  asks.kind = frame_kind::request;
  CHECK_FALSE(is_plain(encoded(asks, raw({0xaa}))));
}

TEST_CASE("the numbers of a payload's handles lie behind it") {
  const std::vector<std::byte> content{std::byte{7}, std::byte{8}};
  std::vector<std::byte> payload = content;
  for (int i = 0; i < 32; ++i) payload.push_back(static_cast<std::byte>(i));
  for (const int x : {2, 0, 0, 0}) payload.push_back(static_cast<std::byte>(x));
  frame f{.kind = frame_kind::message, .receiver = receiver, .sender = sender, .type = 5};
  f.handles = 2;
  const std::vector<std::byte> bytes = encoded(f, payload);
  const base::result<frame> back = decode_frame(bytes);
  REQUIRE(back.has_value());
  CHECK(std::equal(back->payload.begin(), back->payload.end(), content.begin(), content.end()));
  REQUIRE(back->handles == 2);
  CHECK(number_behind(*back, 0) == actor_id{0x0706050403020100, 0x0f0e0d0c0b0a0908});
  CHECK(number_behind(*back, 1) == actor_id{0x1716151413121110, 0x1f1e1d1c1b1a1918});

  // A frame is refused if the count of its numbers is too high, is zero, or is missing.
  std::vector<std::byte> bad = bytes;
  bad[bad.size() - 4] = std::byte{3};
  CHECK(decode_frame(bad).error() == net_errc::decode_failed);
  bad[bad.size() - 4] = std::byte{0};
  CHECK(decode_frame(bad).error() == net_errc::decode_failed);
  CHECK(decode_frame(ids(0x8c, {2, 9, 0, 1, 0, 0})).error() == net_errc::decode_failed);
  // A frame of a kind without a payload has no numbers, either.
  CHECK(decode_frame(ids(0x86, {2, 9, 0})).error() == net_errc::decode_failed);
}

TEST_CASE("extensions follow the fields; unknown ones are skipped unless they must be understood") {
  frame f{.kind = frame_kind::link, .receiver = receiver, .sender = sender};
  f.time_left = base::duration::nanoseconds(300);
  CHECK(encoded(f) == ids(0x86, {4, 2, 2, 0xac, 2}));
  CHECK(decode_frame(encoded(f))->time_left == f.time_left);

  const auto unknown = decode_frame(ids(0x86, {5, 14, 1, 99, 12, 0}));
  REQUIRE(unknown.has_value());
  CHECK(!unknown->time_left);
  CHECK(decode_frame(ids(0x86, {3, 13, 1, 99})).error() == net_errc::incompatible);
  f.time_left.reset();
  f.urgent = true;
  CHECK(encoded(f) == ids(0x86, {2, 6, 0}));
  CHECK(decode_frame(encoded(f))->urgent);
  CHECK(!unknown->urgent);
  // A known extension may be marked as one that must be understood.
  CHECK(decode_frame(ids(0x86, {3, 3, 1, 99}))->time_left == base::duration::nanoseconds(99));

  for (const auto& bad :
       {ids(0x86, {}), ids(0x86, {1}), ids(0x86, {1, 2}), ids(0x86, {2, 2, 1}),
        ids(0x86, {3, 2, 0, 99}), ids(0x86, {4, 2, 2, 1, 1}), ids(0x86, {6, 2, 1, 5, 2, 1, 5}),
        ids(0x86, {3, 6, 1, 0}), ids(0x86, {4, 6, 0, 6, 0}), ids(0x86, {3, 4, 1, 0}),
        ids(0x8c, {3, 8, 1, 1}), ids(0x86, {0, 0}), ids(0x06, {0}), ids(0x86, {4, 2, 2, 0x80, 0})})
    CHECK(decode_frame(bad).error() == net_errc::decode_failed);
}

TEST_CASE("a deadline in the past is zero, and none is not sent") {
  frame f{.kind = frame_kind::link, .receiver = receiver, .sender = sender};
  f.time_left = base::duration::seconds(-1);
  CHECK(decode_frame(encoded(f))->time_left == base::duration());
  f.time_left = base::duration::infinite();
  CHECK(encoded(f) == ids(6, {}));
  f.urgent = true;
  CHECK(encoded(f) == ids(0x86, {2, 6, 0}));
  const auto huge =
      decode_frame(ids(0x86, {12, 2, 10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}));
  REQUIRE(huge.has_value());
  CHECK(huge->time_left->is_infinite());
}

TEST_CASE("a credit gives bytes back, and no other frame does") {
  frame f{.kind = frame_kind::credit, .receiver = {1, 2}, .number = 3, .bytes = 300};
  const auto bytes = encoded(f);
  CHECK(std::vector(bytes.end() - 5, bytes.end()) ==
        std::vector{std::byte{4}, std::byte{10}, std::byte{2}, std::byte{0xac}, std::byte{2}});
  CHECK(decode_frame(bytes)->bytes == 300);
  f.bytes = 0;
  CHECK(encoded(f).size() == bytes.size() - 5);
  f.kind = frame_kind::cancel;
  f.bytes = 300;
  CHECK_FALSE(decode_frame(encoded(f))->bytes);
  CHECK_FALSE(decode_frame(ids(0x86, {3, 10, 1, 5}))->bytes);
  for (const auto& bad :
       {ids(0x86, {6, 10, 1, 5, 10, 1, 5}), ids(0x86, {4, 10, 2, 5, 5}), ids(0x86, {2, 10, 0})})
    CHECK(decode_frame(bad).error() == net_errc::decode_failed);
}

TEST_CASE("bad frames are refused") {
  CHECK(decode_frame({}).error() == net_errc::decode_failed);
  for (int first = 0; first != 256; ++first) {
    const bool exists = !to_text(static_cast<frame_kind>(first & 0x7f)).empty();
    CHECK(exists == ((first & 0x7f) >= 1 && (first & 0x7f) <= 21));
    if (!exists) CHECK(decode_frame(raw({first})).error() == net_errc::decode_failed);
    if (!exists)
      CHECK(decode_frame(ids(first, {0, 0, 0, 0, 0, 0, 0, 0})).error() == net_errc::decode_failed);
  }
  CHECK(decode_frame(ids(5, {0x80, 0})).error() == net_errc::decode_failed);
  CHECK(decode_frame(ids(5, {7, 0})).error() == net_errc::decode_failed);
  CHECK(decode_frame(ids(5, {7}))->number == 7);
}

TEST_CASE("frames of all kinds, with all that they may have, come back; cut off, they do not") {
  for (std::uint64_t seed = 0; seed != seeds(); ++seed) {
    INFO("seed " << seed);
    base::random_source random(seed);
    for (int kind = 1; kind != 22; ++kind) {
      frame f{.kind = static_cast<frame_kind>(kind),
              .receiver = {random(), random()},
              .sender = {random(), random()},
              .number = random() >> random.below(64),
              .type = random()};
      if (random.below(2) != 0)
        f.time_left = base::duration::nanoseconds(
            static_cast<std::int64_t>(random() >> 1 >> random.below(63)));
      if (random.below(2) != 0) {
        f.trace.emplace();
        for (std::byte& b : f.trace->trace) b = static_cast<std::byte>(random());
        for (std::byte& b : f.trace->span) b = static_cast<std::byte>(random());
        f.trace->flags = static_cast<std::uint8_t>(random());
      }
      f.urgent = random.below(4) == 0;
      const auto header = encoded(f);
      REQUIRE(header.size() <= frame_room);
      const base::result<frame> back = decode_frame(header);
      REQUIRE(back.has_value());
      REQUIRE(back->kind == f.kind);
      REQUIRE(back->time_left == f.time_left);
      REQUIRE(back->trace == f.trace);
      REQUIRE(back->urgent == f.urgent);
      REQUIRE((back->receiver == f.receiver || !back->receiver));
      REQUIRE((back->sender == f.sender || !back->sender));
      REQUIRE((back->number == f.number || back->number == 0));
      REQUIRE((back->type == f.type || back->type == 0));
      REQUIRE(encoded(*back) == header);  // so all fields are the same
      for (std::size_t n = 0; n != header.size(); ++n)
        REQUIRE(!decode_frame(std::span(header).first(n)).has_value());
    }
  }
}

TEST_CASE("orders come back") {
  const auto p = encode(resolve_order{"tea", *schema_of<std::string>()});
  REQUIRE(p.has_value());
  const auto back = decode<resolve_order>(p->bytes());
  REQUIRE(back.has_value());
  CHECK(back->name == "tea");
  CHECK(back->protocol == *schema_of<std::string>());
  CHECK(is_encodable<kill_order>);
  CHECK(is_encodable<spawn_order>);
}

}  // namespace frame_test
