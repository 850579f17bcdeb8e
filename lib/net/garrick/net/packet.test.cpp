#include "garrick/net/packet.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <string_view>

namespace packet_test {

using garrick::net::packet;

namespace {

packet of(std::string_view text, std::size_t front = 16) {
  return packet::copy_of(std::as_bytes(std::span(text)), front);
}
std::string text_of(const packet& p) {
  return {reinterpret_cast<const char*>(p.bytes().data()), p.size()};
}
void put(packet& p, std::string_view header) {
  std::memcpy(p.prepend(header.size()), header.data(), header.size());
}

}  // namespace

TEST_CASE("packet: headers go in front without a copy, as long as there is one handle") {
  packet p = of("text");
  const std::byte* at = p.bytes().data();
  put(p, "two ");
  put(p, "one ");
  CHECK(text_of(p) == "one two text");
  CHECK(p.bytes().data() == at - 8);
  CHECK(p.room_in_front() == 8);
}

TEST_CASE("packet: of two handles each gets its own header, in whichever order") {
  for (const bool first : {true, false}) {
    packet a = of("text");
    packet b = a.share();
    put(first ? a : b, "A ");
    put(first ? b : a, "B ");
    CHECK(text_of(first ? a : b) == "A text");
    CHECK(text_of(first ? b : a) == "B text");
    CHECK_FALSE(a.is_shared());
    CHECK(b.room_in_front() == 14);
  }
}

TEST_CASE("packet: only the handle made last copies, and not once it is alone") {
  packet a = of("text");
  const std::byte* at = a.bytes().data();
  packet b = a.share();
  put(a, "A ");
  CHECK(a.bytes().data() == at - 2);  // the right stays with the first
  a = packet();
  put(b, "B ");  // no other handle is left
  CHECK(b.bytes().data() == at - 2);
  CHECK(text_of(b) == "B text");
}

TEST_CASE("packet: handles that came from one and have lost it copy, each for itself") {
  packet a = of("text");
  packet b = a.share();
  packet c = b.share();
  a = packet();
  put(b, "B ");
  put(c, "C ");
  CHECK(text_of(b) == "B text");
  CHECK(text_of(c) == "C text");
}

TEST_CASE(
    "packet: a handle that keeps the bytes under way sends them again without a copy, once alone") {
  packet kept = of("text");
  const std::byte* at = kept.bytes().data();
  for (int i = 0; i < 3; ++i) {
    packet sent = kept.share_front();
    put(sent, "header ");
    CHECK(sent.bytes().data() == at - 7);
    CHECK(text_of(sent) == "header text");
    CHECK(text_of(kept) == "text");
  }
  packet under_way = kept.share_front();
  put(under_way, "first ");
  packet again = kept.share_front();  // the first handle still needs its header
  put(again, "again ");
  CHECK(text_of(under_way) == "first text");
  CHECK(text_of(again) == "again text");
  CHECK(text_of(kept) == "text");
}

TEST_CASE(
    "packet: bytes that were taken from the front are not written to while others show them") {
  packet a = of("header text");
  const packet b = a.share();
  a.drop_front(7);
  put(a, "HEADER ");
  CHECK(text_of(a) == "HEADER text");
  CHECK(text_of(b) == "header text");

  packet alone = of("header text");
  const std::byte* at = alone.bytes().data();
  alone.drop_front(7);
  put(alone, "HEADER ");
  CHECK(alone.bytes().data() == at);
}

TEST_CASE("packet: bytes appended beyond the room are a handle's own") {
  packet a = packet::with_room(4, 2);
  a.append(std::as_bytes(std::span("far more than two", 17)));
  put(a, "1234");
  CHECK(text_of(a) == "1234far more than two");
  packet moved = std::move(a);
  packet none;
  none = std::move(moved);
  none.append(std::as_bytes(std::span("!", 1)));
  CHECK(text_of(none) == "1234far more than two!");
  CHECK(none.share().is_shared());
}

}  // namespace packet_test
