#include "garrick/net/layer/framing.hpp"

#include <doctest/doctest.h>

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <string>
#include <string_view>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/stack/stack.hpp"

namespace framing_test {

using namespace garrick;
using namespace garrick::net;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct end final : carrier, link_owner {
  std::string sent;
  std::vector<std::string> messages;
  std::vector<link_event> events;
  bool closed = false;

  void transmit(packet p) override { sent += text_of(p.bytes()); }
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 1u << 30; }
  void reopen() override {}
  void close() override { closed = true; }
  bool on_message(const incoming& m) override {
    messages.push_back(text_of(m.bytes));
    return true;
  }
  void on_event(const link_event& e) override { events.push_back(e); }
};

using framed = stack<byte_stream, framing>;
constexpr base::instant now{};

outgoing message(std::string_view text) { return {packet::copy_of(bytes_of(text))}; }

}  // namespace

TEST_CASE("framing: messages come back whole from a stream in pieces of any size") {
  end there;
  framed sender(there, there, framing());
  const std::vector<std::string> all{"", "a", std::string(1000, 'x'), "end"};
  for (const std::string& text : all) REQUIRE(!sender.send(message(text), now));

  for (std::size_t piece = 1; piece <= there.sent.size(); ++piece) {
    end here;
    framed receiver(here, here, framing());
    for (std::size_t at = 0; at < there.sent.size(); at += piece)
      receiver.receive(bytes_of(std::string_view(there.sent).substr(at, piece)), now);
    REQUIRE(here.messages == all);
  }
}

TEST_CASE("framing: a length above the limit closes the connection, and nothing is allocated") {
  end here;
  framed receiver(here, here, framing({.largest = 100}));
  receiver.receive(bytes_of(std::string_view("\x65\0\0\0", 4)), now);
  CHECK(here.closed);
  REQUIRE(here.events.size() == 1);
  CHECK(here.events[0].what == link_event::kind::disconnected);
  CHECK(here.events[0].why == net_errc::too_large);
  receiver.receive(bytes_of(std::string_view("\1\0\0\0a", 5)), now);
  CHECK(here.messages.empty());

  SUBCASE("and a new connection is understood again") {
    receiver.connected(now);
    receiver.receive(bytes_of(std::string_view("\1\0\0\0a", 5)), now);
    CHECK(here.messages == std::vector<std::string>{"a"});
  }
}

TEST_CASE("framing: half a frame is forgotten with its connection") {
  end here;
  framed receiver(here, here, framing());
  receiver.receive(bytes_of(std::string_view("\5\0\0\0ab", 6)), now);
  receiver.disconnected(net_errc::connection_lost, now);
  receiver.connected(now);
  receiver.receive(bytes_of(std::string_view("\1\0\0\0c", 5)), now);
  CHECK(here.messages == std::vector<std::string>{"c"});
}

TEST_CASE("a stack refuses messages that its layers cannot take") {
  end here;
  framed s(here, here, framing({.largest = 10}));
  CHECK(s.send(message("12345678901"), now) == net_errc::too_large);
  CHECK(!s.send(message("1234567890"), now));
  CHECK(s.header_size() == 4);
}

TEST_CASE("framing: a frame of the largest size passes, in one piece and in two") {
  end here;
  framed receiver(here, here, framing({.largest = 100}));
  const std::string frame = std::string("\x64\0\0\0", 4) + std::string(100, 'x');
  receiver.receive(bytes_of(frame), now);
  receiver.receive(bytes_of(std::string_view(frame).substr(0, 50)), now);
  receiver.receive(bytes_of(std::string_view(frame).substr(50)), now);
  CHECK(!here.closed);
  CHECK(here.messages == std::vector<std::string>(2, std::string(100, 'x')));
}

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
TEST_CASE("framing: a length is believed no further than the bytes of its frame that have come") {
  // If a sanitizer has replaced the allocator, these numbers mean nothing.
  const auto mapped = [] { return ::mallinfo2().hblkhd; };
  end here;
  framed receiver(here, here, framing({.largest = 1u << 30}));
  const std::size_t before = mapped();
  receiver.receive(bytes_of(std::string_view("\0\0\0\x40", 4)), now);
  receiver.receive(bytes_of("the first bytes"), now);
  CHECK(mapped() < before + (1u << 20));
  CHECK(!here.closed);
}
#endif

}  // namespace framing_test
