#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "garrick/base/values/random.hpp"
#include "garrick/net/wire/byte_reader.hpp"
#include "garrick/net/wire/byte_writer.hpp"

namespace bytes_test {

using namespace garrick;
using namespace garrick::net;

namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> all) {
  std::vector<std::byte> out;
  for (const int x : all) out.push_back(static_cast<std::byte>(x));
  return out;
}
std::vector<std::byte> written(byte_writer&& out) {
  const base::result<packet> p = std::move(out).finish();
  REQUIRE(p.has_value());
  return {p->bytes().begin(), p->bytes().end()};
}
std::uint64_t seeds() {
  const char* text = std::getenv("GARRICK_SEEDS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 200;
}

}  // namespace

TEST_CASE("a varint has seven bits a byte, the lowest first, and is read back") {
  const auto is = [](std::uint64_t x, std::initializer_list<int> expected) {
    byte_writer out;
    out.varint(x);
    const auto got = written(std::move(out));
    CHECK(got == bytes_of(expected));
    CHECK(varint_size(x) == got.size());
    byte_reader in(got);
    CHECK(in.varint() == x);
    CHECK((!in.failed() && in.remaining() == 0));
  };
  is(0, {0});
  is(127, {127});
  is(128, {0x80, 1});
  is(300, {0xac, 2});
  is(16383, {0xff, 0x7f});
  is(16384, {0x80, 0x80, 1});
  is(std::numeric_limits<std::uint64_t>::max(),
     {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1});
  is(std::uint64_t{1} << 63, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1});
}

TEST_CASE("varints of every width are written and read as one by one, before any other bytes") {
  for (int width = 1; width <= 64; ++width)
    for (const std::uint64_t x :
         {~std::uint64_t{0} >> (64 - width), std::uint64_t{1} << (width - 1),
          0x5555'5555'5555'5555u >> (64 - width), 0xdead'beef'0bad'cafeu >> (64 - width)}) {
      CAPTURE(x);
      std::vector<std::byte> expected(longest_varint);
      expected.resize(static_cast<std::size_t>(store_varint(expected.data(), x) - expected.data()));
      for (const std::size_t room : {longest_varint, expected.size()}) {
        byte_writer out({.expected = room});
        out.varint(x);
        CHECK(written(std::move(out)) == expected);
      }
      for (const int behind : {0, 1, 0x7f, 0x80, 0xff})
        for (std::size_t more = 0; more != 11; ++more) {
          std::vector<std::byte> all = expected;
          all.insert(all.end(), more, std::byte(behind));
          byte_reader in(all);
          CHECK(in.varint() == x);
          CHECK((!in.failed() && in.remaining() == more));
        }
    }
}

TEST_CASE("a varint that is longer than it needs to be fails, before any other bytes") {
  for (std::size_t size = 2; size <= longest_varint; ++size)
    for (const int behind : {0, 0x7f, 0xff}) {
      std::vector<std::byte> all(size, std::byte{0x80});
      all.back() = std::byte{0};
      all.insert(all.end(), 10, std::byte(behind));
      byte_reader in(all);
      CHECK(in.varint() == 0);
      CHECK(in.failure() == net_errc::decode_failed);
    }
}

TEST_CASE("a varint that is too long, too large or cut off fails") {
  for (const auto& bad :
       {bytes_of({0x80, 0}), bytes_of({0xff, 0x80, 0}), bytes_of({0x80}), bytes_of({}),
        bytes_of({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2}),
        bytes_of({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x81, 0}),
        bytes_of({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0})}) {
    byte_reader in(bad);
    CHECK(in.varint() == 0);
    CHECK(in.failed());
    CHECK(in.failure() == net_errc::decode_failed);
  }
}

TEST_CASE("zigzag keeps small numbers small and loses none") {
  CHECK(zigzag(0) == 0);
  CHECK(zigzag(-1) == 1);
  CHECK(zigzag(1) == 2);
  CHECK(zigzag(std::numeric_limits<std::int64_t>::min()) == ~std::uint64_t{0});
  for (const std::int64_t x :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{77},
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()})
    CHECK(from_zigzag(zigzag(x)) == x);
}

TEST_CASE("after the first failure a reader reads nothing, and tells the first") {
  const auto all = bytes_of({1, 2, 3, 4});
  byte_reader in(all);
  CHECK(in.fixed<std::uint8_t>() == 1);
  CHECK(in.fixed<std::uint32_t>() == 0);
  CHECK(in.failed());
  CHECK(in.remaining() == 0);
  CHECK(in.fixed<std::uint8_t>() == 0);
  CHECK(in.varint() == 0);
  CHECK(in.text().empty());
  CHECK(in.rest().empty());
  CHECK(!in.flag());
  in.fail("another reason");
  in.blame("shop::order", 3);
  in.blame("shop::basket", 1);
  CHECK(in.failure().detail() == "shop::order, field 3, byte 1: the bytes end too early");
}

TEST_CASE("a count is believed no further than the bytes that are left") {
  const auto all = bytes_of({3, 0, 0, 0, 0, 0, 0});
  byte_reader enough(all);
  CHECK(enough.count(2) == 3);
  byte_reader few(all);
  CHECK(few.count(3) == 0);
  CHECK(few.failure().detail() == "byte 1: a count beyond the bytes that are left (3)");
  // A count of four-byte elements whose size in bytes is zero in 64 bits.
  const auto huge = bytes_of({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40, 0, 0, 0, 0});
  byte_reader wraps(huge);
  CHECK(wraps.count(4) == 0);
  CHECK(wraps.failed());
}

TEST_CASE("memory is allowed up to the limit, also where the product overflows") {
  byte_reader in({}, {.memory = 100});
  CHECK(in.allow(10, 9));
  CHECK(!in.allow(2, 6));
  CHECK(in.failed());
  byte_reader huge({}, {.memory = 100});
  CHECK(!huge.allow(std::numeric_limits<std::size_t>::max() / 2 + 1, 2));
}

TEST_CASE("a part ends where it says, and its unread bytes are skipped") {
  const auto all = bytes_of({3, 9, 8, 7, 5});
  byte_reader in(all);
  const auto part = in.open_part();
  CHECK(in.remaining() == 3);
  CHECK(in.fixed<std::uint8_t>() == 9);
  in.close_part(part);
  CHECK(in.fixed<std::uint8_t>() == 5);
  in.expect_end();
  CHECK(!in.failed());

  byte_reader within(all);
  const auto opened = within.open_part();
  CHECK(within.fixed<std::uint32_t>() == 0);  // reaches beyond the part
  within.close_part(opened);
  CHECK(within.failed());

  const auto longer = bytes_of({4, 1, 2, 3});
  byte_reader beyond(longer);
  static_cast<void>(beyond.open_part());
  CHECK(beyond.failed());
}

TEST_CASE("parts lie in each other no deeper than allowed, written and read") {
  const auto nested = [](std::uint32_t depth, std::uint32_t allowed) {
    byte_writer out({.depth = allowed});
    std::vector<byte_writer::part> parts;
    for (std::uint32_t i = 0; i != depth; ++i) parts.push_back(out.open_part(0));
    for (; !parts.empty(); parts.pop_back()) out.close_part(parts.back());
    return std::move(out).finish();
  };
  CHECK(nested(3, 3).has_value());
  CHECK(nested(4, 3).error() == net_errc::not_encodable);
  const base::result<packet> four = nested(4, 4);
  REQUIRE(four.has_value());
  for (const std::uint32_t allowed : {3u, 4u}) {
    byte_reader in(four->bytes(), {.depth = allowed});
    for (int i = 0; i != 4; ++i) static_cast<void>(in.open_part());
    CHECK(in.failed() == (allowed == 3));
  }
  // Any number of parts may lie beside each other.
  byte_writer out({.depth = 1});
  for (int i = 0; i != 5; ++i) out.close_part(out.open_part(0));
  const std::vector<std::byte> beside = written(std::move(out));
  CHECK(beside == bytes_of({0, 0, 0, 0, 0}));
  byte_reader in(beside, {.depth = 1});
  for (int i = 0; i != 5; ++i) in.close_part(in.open_part());
  in.expect_end();
  CHECK(!in.failed());
}

TEST_CASE("a part's length is right after any guess") {
  for (const std::size_t length : {0u, 1u, 127u, 128u, 16383u, 16384u, 70000u}) {
    for (const std::size_t guess : {0u, 127u, 128u, 20000u, 3000000u}) {
      byte_writer out({.expected = 8});
      out.fixed(std::uint8_t{42});
      const auto part = out.open_part(guess);
      for (std::size_t i = 0; i != length; ++i) out.fixed(static_cast<std::uint8_t>(i));
      out.close_part(part);
      out.fixed(std::uint8_t{43});
      const auto got = written(std::move(out));
      byte_reader in(got);
      CHECK(in.fixed<std::uint8_t>() == 42);
      REQUIRE(in.count(1) == length);
      bool same = true;
      for (std::size_t i = 0; i != length; ++i)
        same = in.fixed<std::uint8_t>() == static_cast<std::uint8_t>(i) && same;
      CHECK(same);
      CHECK(in.fixed<std::uint8_t>() == 43);
      CHECK(in.remaining() == 0);
      REQUIRE(!in.failed());
    }
  }
}

TEST_CASE("a length that takes more room than was left for it finds some at the very end, too") {
  for (const std::size_t expected : {128u, 129u, 130u, 131u}) {
    byte_writer out({.expected = expected});
    const auto part = out.open_part(0);
    for (int i = 0; i != 128; ++i) out.fixed(std::uint8_t{7});
    out.close_part(part);
    out.fixed(std::uint8_t{43});
    const auto got = written(std::move(out));
    REQUIRE(got.size() == 131);
    CHECK(got.back() == std::byte{43});
  }
}

TEST_CASE("a writer leaves the room in front that it was told to, and stops at its limit") {
  byte_writer out({.front = 20, .expected = 4, .largest = 1000});
  for (int i = 0; i != 100; ++i) out.fixed(std::uint32_t{7});
  base::result<packet> p = std::move(out).finish();
  REQUIRE(p.has_value());
  CHECK(p->size() == 400);
  CHECK(p->room_in_front() == 20);

  for (const std::size_t expected : {4u, 99u, 1000u}) {
    byte_writer limited({.expected = expected, .largest = 99});
    for (int i = 0; i != 24; ++i) limited.fixed(std::uint32_t{7});
    limited.varint(1u << 20);
    CHECK(limited.size() == 99);
    limited.varint(1);
    CHECK(limited.failure() == net_errc::too_large);
  }
  byte_writer limited({.expected = 4, .largest = 99});
  limited.bytes(std::vector<std::byte>(200));
  CHECK(limited.failure() == net_errc::too_large);
  CHECK(limited.size() == 0);
  CHECK(std::move(limited).finish().error() == net_errc::too_large);
}

TEST_CASE("a reader reads all that a writer writes, in any order") {
  for (std::uint64_t seed = 0; seed != seeds(); ++seed) {
    INFO("seed " << seed);
    base::random_source random(seed);
    byte_writer out({.expected = random.below(64)});
    std::vector<std::pair<int, std::uint64_t>> script(random.below(200));
    for (auto& [what, value] : script) {
      what = static_cast<int>(random.below(4));
      value = random() >> random.below(64);
      if (what == 0) out.varint(value);
      if (what == 1) out.fixed(value);
      if (what == 2) out.fixed(static_cast<std::uint16_t>(value));
      if (what == 3) out.text(std::string(value % 300, 'x'));
    }
    const auto got = written(std::move(out));
    byte_reader in(got);
    for (const auto& [what, value] : script) {
      if (what == 0) REQUIRE(in.varint() == value);
      if (what == 1) REQUIRE(in.fixed<std::uint64_t>() == value);
      if (what == 2) REQUIRE(in.fixed<std::uint16_t>() == static_cast<std::uint16_t>(value));
      if (what == 3) REQUIRE(in.text() == std::string(value % 300, 'x'));
    }
    in.expect_end();
    REQUIRE(!in.failed());
  }
}

}  // namespace bytes_test
