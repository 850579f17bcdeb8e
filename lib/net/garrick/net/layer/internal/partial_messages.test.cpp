#include "garrick/net/layer/internal/partial_messages.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/layer/slicing.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/stack/stack.hpp"

namespace partial_messages_test {

using namespace garrick;
using namespace garrick::net;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

using message = std::pair<lane_number, std::string>;

/// An owner that keeps its messages, over a carrier that carries nothing.
struct end final : carrier, link_owner {
  std::vector<message> messages;
  std::vector<link_event> events;
  bool closed = false;

  void transmit(packet) override {}
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 100; }
  void reopen() override {}
  void close() override { closed = true; }
  bool on_message(const incoming& m) override {
    messages.emplace_back(
        m.lane, std::string(reinterpret_cast<const char*>(m.bytes.data()), m.bytes.size()));
    return true;
  }
  void on_event(const link_event& e) override { events.push_back(e); }
};

struct ordered_datagrams {
  static constexpr properties offers{.messages = true, .ordered = true};
};
struct reliable_datagrams {
  static constexpr properties offers{.messages = true, .ordered = true, .reliable = true};
};

using unordered = stack<datagrams, slicing>;
using ordered = stack<ordered_datagrams, slicing>;
using reliable = stack<reliable_datagrams, slicing>;

constexpr base::instant now{};
constexpr base::instant at_ms(std::int64_t ms) {
  return base::instant::at(base::duration::milliseconds(ms));
}

template <class Stack>
struct endpoint {
  explicit endpoint(slicing_settings s = {}) : link(here, here, slicing(s)) {}
  [[nodiscard]] const slicing_counters& counters() const {
    return link.template get<slicing>().counters();
  }
  end here;
  Stack link;
};

std::string text_of_size(std::size_t size) { return std::string(size, 'x'); }

std::string piece(std::uint32_t id, std::uint32_t total, std::uint32_t offset,
                  std::string_view text, lane_number lane = 1) {
  std::string bytes(14, '\1');
  bytes[1] = static_cast<char>(lane);
  auto* at = reinterpret_cast<std::byte*>(bytes.data());
  store_le(at + 2, id);
  store_le(at + 6, total);
  store_le(at + 10, offset);
  return bytes.append(text);
}

}  // namespace

TEST_CASE("slicing: a message that is not whole in time expires, and a late piece begins nothing") {
  endpoint<unordered> e({.expiry = base::duration::milliseconds(50)});
  e.link.receive(bytes_of(piece(3, 9, 0, "abc")), at_ms(0));
  e.link.receive(bytes_of(piece(4, 9, 0, "xyz")), at_ms(10));
  e.link.receive(bytes_of(piece(3, 9, 6, "ghi")), at_ms(20));
  CHECK(e.link.deadline() == at_ms(60));
  e.link.advance(at_ms(60));
  CHECK(e.counters().expired == 1);
  CHECK(e.link.deadline() == at_ms(70));
  e.link.receive(bytes_of(piece(3, 9, 3, "def")), at_ms(65));
  CHECK(e.here.messages == std::vector{message{1, "abcdefghi"}});
  e.link.receive(bytes_of(piece(4, 9, 3, "xyz")), at_ms(66));
  e.link.advance(at_ms(1000));
  CHECK(e.counters().stale == 1);
  CHECK(e.counters().expired == 1);
  CHECK(e.link.deadline().is_never());
  CHECK(e.here.messages.size() == 1);
}

TEST_CASE("slicing: over a reliable layer nothing expires") {
  endpoint<reliable> e;
  e.link.receive(bytes_of(piece(0, 6, 0, "abc")), now);
  CHECK(e.link.deadline().is_never());
  e.link.receive(bytes_of(piece(0, 6, 3, "def")), at_ms(1'000'000));
  CHECK(e.here.messages == std::vector{message{1, "abcdef"}});
}

TEST_CASE("slicing: a size is believed no further than the bytes that have come") {
  endpoint<unordered> e;
  const std::uint32_t claimed = 64u << 20;
  e.link.receive(bytes_of(piece(1, claimed, 0, text_of_size(10))), now);
  CHECK(e.counters().partial_bytes == 20);
  e.link.receive(bytes_of(piece(2, claimed, claimed - 10, text_of_size(10))), now);
  CHECK(e.counters().partial_bytes == 20 + 10 + piece_overhead);
  e.link.receive(bytes_of(piece(1, claimed, 10, text_of_size(30))), now);
  CHECK(e.counters().partial_bytes == 80 + 10 + piece_overhead);
  e.link.receive(bytes_of(piece(5, 9, 3, "def")), now);
  CHECK(e.counters().partial_bytes == 80 + 10 + piece_overhead + 3 + piece_overhead);
  e.link.receive(bytes_of(piece(5, 9, 0, "abc")), now);
  CHECK(e.counters().partial_bytes == 80 + 10 + piece_overhead + 9);
  e.link.receive(bytes_of(piece(5, 9, 6, "ghi")), now);
  e.link.receive(bytes_of(piece(3, claimed + 1, 0, "x")), now);
  CHECK(e.counters().malformed == 1);
  CHECK(e.counters().partial == 2);
}

TEST_CASE("slicing: where pieces can be lost, the oldest message makes room for a new one") {
  SUBCASE("by number") {
    endpoint<unordered> e({.partial_messages = 2});
    e.link.receive(bytes_of(piece(9, 2, 0, "a", 255)), now);
    for (const std::uint32_t id : {1u, 2u}) e.link.receive(bytes_of(piece(id, 2, 0, "a")), now);
    CHECK(e.counters().partial == 3);
    e.link.receive(bytes_of(piece(3, 2, 0, "a")), now);
    CHECK(e.counters().evicted == 1);
    e.link.receive(bytes_of(piece(1, 2, 1, "b")), now);
    CHECK(e.counters().stale == 1);
    for (const std::uint32_t id : {2u, 3u}) e.link.receive(bytes_of(piece(id, 2, 1, "b")), now);
    e.link.receive(bytes_of(piece(9, 2, 1, "b", 255)), now);
    CHECK(e.here.messages == std::vector{message{1, "ab"}, message{1, "ab"}, message{255, "ab"}});
  }
  SUBCASE("by bytes") {
    endpoint<unordered> e({.largest = 1000, .partial_bytes = 10});
    for (std::uint32_t id = 0; id < 100; ++id) {
      e.link.receive(bytes_of(piece(id, 1000, 0, text_of_size(300))), now);
      REQUIRE(e.counters().partial_bytes <= 2000);
    }
    CHECK(e.counters().partial == 3);
    for (std::uint32_t at = 300; at + 1 < 1000; at += 2)
      e.link.receive(bytes_of(piece(99, 1000, at, "x")), now);
    CHECK(e.counters().partial_bytes <= 2000);
    CHECK(e.here.messages.empty());
  }
}

TEST_CASE("slicing: where order is kept, a missing piece ends its message at once") {
  endpoint<ordered> e;
  const auto feed = [&](const std::string& bytes) { e.link.receive(bytes_of(bytes), now); };
  feed(piece(1, 9, 0, "abc"));
  feed(piece(2, 6, 0, "xyz", 2));
  feed(piece(1, 9, 6, "ghi"));
  CHECK(e.counters().abandoned == 1);
  CHECK(e.counters().partial == 1);
  feed(piece(3, 9, 3, "def"));
  CHECK(e.counters().abandoned == 2);
  feed(piece(4, 9, 0, "abc"));
  feed(piece(5, 2, 0, "a"));
  CHECK(e.counters().abandoned == 3);
  feed(std::string("\0\1whole", 7));
  CHECK(e.counters().abandoned == 4);
  feed(piece(2, 6, 3, "uvw", 2));
  CHECK(e.here.messages == std::vector{message{1, "whole"}, message{2, "xyzuvw"}});
}

TEST_CASE("slicing: a contradicting piece is dropped with its message, or ends a reliable link") {
  const std::string begun = piece(1, 9, 3, "def");
  const std::string first = piece(1, 9, 0, "abc");
  const std::vector<std::vector<std::string>> cases{
      {""},
      {std::string(1, '\0')},
      {"\2\1x"},
      {piece(1, 9, 0, "")},
      {piece(1, 9, 7, "xyz")},
      {piece(1, 9, 0xffffffff, "xyz")},
      {piece(1, 0, 0, "x")},
      {piece(1, 0xffffffff, 0, "x")},
      {first, piece(1, 8, 3, "def")},
      {first, piece(1, 9, 3, "def", 2)},
      {first, piece(1, 9, 2, "cde")},
      {begun, piece(1, 9, 4, "efg")},
      {begun, piece(1, 9, 2, "cde")},
      {begun, piece(1, 9, 0, "abcd")},
      {begun, piece(1, 9, 4, "e")},
      {begun, piece(1, 9, 3, "de")},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    endpoint<unordered> e;
    for (const std::string& bytes : cases[i]) e.link.receive(bytes_of(bytes), now);
    CHECK(e.counters().malformed == 1);
    CHECK(e.counters().partial == 0);
    CHECK(e.counters().partial_bytes == 0);
    CHECK(e.here.events.empty());
    e.link.receive(bytes_of(std::string("\0\1still here", 12)), now);
    CHECK(e.here.messages == std::vector{message{1, "still here"}});

    if (cases[i].front() == begun) continue;
    endpoint<reliable> r;
    for (const std::string& bytes : cases[i]) r.link.receive(bytes_of(bytes), now);
    CHECK(r.here.closed);
    REQUIRE(r.here.events.size() == 1);
    const bool is_large = cases[i].front() == piece(1, 0xffffffff, 0, "x");
    CHECK(r.here.events.back().why == (is_large ? net_errc::too_large : net_errc::decode_failed));
  }
}

TEST_CASE("slicing: over a reliable layer nothing is lost in silence") {
  SUBCASE("a piece that does not come") {
    endpoint<reliable> e;
    e.link.receive(bytes_of(piece(1, 9, 0, "abc")), now);
    e.link.receive(bytes_of(piece(1, 9, 6, "ghi")), now);
    CHECK(e.here.closed);
  }
  SUBCASE("more than there is room for") {
    endpoint<reliable> e({.largest = 1000, .partial_bytes = 1000});
    for (lane_number lane = 1; lane < 4; ++lane)
      e.link.receive(bytes_of(piece(lane, 1000, 0, text_of_size(333), lane)), now);
    CHECK(!e.here.closed);
    e.link.receive(bytes_of(piece(4, 1000, 0, text_of_size(333), 4)), now);
    REQUIRE(e.here.closed);
    CHECK(e.here.events.back().why == net_errc::overload);
  }
  SUBCASE("a whole message above the limit") {
    endpoint<reliable> e({.largest = 3});
    e.link.receive(bytes_of(std::string("\0\1abc", 5)), now);
    CHECK(e.here.messages.size() == 1);
    e.link.receive(bytes_of(std::string("\0\1abcd", 6)), now);
    CHECK(e.here.closed);
  }
}

TEST_CASE("slicing: in order, a lane that goes on has given up its partial message") {
  endpoint<ordered> e;
  e.link.receive(bytes_of(piece(0, 9, 0, "abc")), now);
  e.link.receive(bytes_of(piece(1, 9, 0, "abc", 2)), now);
  CHECK(e.counters().partial == 2);
  e.link.receive(bytes_of(std::string_view("\0\1next", 6)), now);
  CHECK(e.here.messages == std::vector{message{1, "next"}});
  CHECK(e.counters().abandoned == 1);
  CHECK(e.counters().partial == 1);
}

TEST_CASE("slicing: a late piece begins nothing, however long its message is over") {
  endpoint<unordered> e;
  constexpr std::uint32_t messages = 200;
  for (std::uint32_t id = 0; id != messages; ++id) {
    e.link.receive(bytes_of(piece(id, 6, 0, "abc")), now);
    e.link.receive(bytes_of(piece(id, 6, 3, "def")), now);
  }
  CHECK(e.here.messages.size() == messages);
  for (std::uint32_t id = 0; id != messages; ++id)
    e.link.receive(bytes_of(piece(id, 6, 0, "abc")), now);
  CHECK(e.counters().stale == messages);
  CHECK(e.counters().partial == 0);
}

TEST_CASE("slicing: behind the last number of all comes 0, and no message comes twice") {
  endpoint<unordered> e;
  constexpr std::uint32_t last = 0xffffffff;
  for (const std::uint32_t id : {last - 70, last - 1, 1u, last, 0u, 2u}) {
    e.link.receive(bytes_of(piece(id, 6, 0, "abc")), now);
    e.link.receive(bytes_of(piece(id, 6, 3, "def")), now);
  }
  CHECK(e.here.messages.size() == 6);
  for (const std::uint32_t id : {last - 70, last - 1, last, 0u, 1u, 2u})
    e.link.receive(bytes_of(piece(id, 6, 0, "abc")), now);
  CHECK(e.counters().stale == 6);
  // For each of the last 64 messages it is known whether it is over.
  e.link.receive(bytes_of(piece(last - 2, 3, 0, "new")), now);
  e.link.receive(bytes_of(piece(last - 61, 3, 0, "old")), now);
  CHECK(e.here.messages.size() == 7);
  CHECK(e.counters().stale == 7);
}

TEST_CASE("slicing: a message less than half the range ahead is new, one behind is long over") {
  constexpr std::uint32_t half = 0x80000000;
  for (const std::uint32_t newest : {7u, half, 0xffffffffu}) {
    CAPTURE(newest);
    endpoint<unordered> e;
    const auto comes = [&](std::uint32_t id) {
      const std::size_t before = e.here.messages.size();
      e.link.receive(bytes_of(piece(id, 3, 0, "abc")), now);
      return e.here.messages.size() != before;
    };
    CHECK(comes(newest));
    CHECK(!comes(newest - half + 1));
    CHECK(comes(newest + half - 1));
    CHECK(!comes(newest));
  }
}

TEST_CASE("slicing: the overhead of each early piece counts in the limit besides its bytes") {
  endpoint<unordered> e({.largest = 1000, .partial_bytes = 1000});
  const std::uint32_t fit = 2000 / (piece_overhead + 1);
  for (std::uint32_t i = 0; i != fit; ++i)
    e.link.receive(bytes_of(piece(0, 1000, 2 * i + 1, "x")), now);
  CHECK(e.counters().partial_bytes == fit * (piece_overhead + 1));
  e.link.receive(bytes_of(piece(0, 1000, 2 * fit + 1, "x")), now);
  CHECK(e.counters().evicted == 1);
  CHECK(e.counters().partial_bytes == 0);
}

}  // namespace partial_messages_test
