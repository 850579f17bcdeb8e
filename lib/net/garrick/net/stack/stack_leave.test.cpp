// Messages that are sent and passed up when the owner ends a link in the middle of a call.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/layer/actor_protocol.hpp"
#include "garrick/net/layer/framing.hpp"
#include "garrick/net/layer/ordering.hpp"
#include "garrick/net/layer/slicing.hpp"
#include "garrick/net/stack/stack.hpp"

namespace stack_leave_test {

using namespace garrick;
using namespace garrick::net;

namespace {

constexpr base::instant now{};

packet packet_of(std::string_view text, std::size_t front = 64) {
  return packet::copy_of(std::as_bytes(std::span(text.data(), text.size())), front);
}

/// Sends "bye" when the stack leaves.
struct polite : layer_defaults {
  static void leave(layer_context& c) { c.down({packet_of("bye"), layer_lane}); }
};

/// Notes everything in one line: sent messages in braces, arrived messages plainly, events by kind.
struct end final : carrier, link_owner {
  std::string log;
  std::function<void()> on_first;  ///< in the first message's call
  bool takes_more = true;
  bool closed = false;
  int messages = 0;

  void transmit(packet p) override {
    log += "{";
    for (const std::byte b : p.bytes())
      if (b >= std::byte{' '}) log += static_cast<char>(b);
    log += "}";
  }
  [[nodiscard]] bool writable() const override { return takes_more; }
  [[nodiscard]] std::size_t largest() const override { return 1u << 20; }
  void reopen() override {}
  void close() override {
    closed = true;
    log += " closed";
  }
  [[nodiscard]] bool is_closed() const override { return closed; }
  bool on_message(const incoming& m) override {
    ++messages;
    log += " ";
    for (const std::byte b : m.bytes) log += static_cast<char>(b);
    if (const auto f = std::exchange(on_first, {})) {
      f();
      log += " |";
    }
    return true;
  }
  void on_event(const link_event& e) override {
    log += e.what == link_event::kind::down ? " down" : " event";
    if (throws) throw 1;
  }
  bool throws = false;  ///< in every event
};

std::vector<std::byte> framed(std::initializer_list<std::string_view> texts) {
  std::vector<std::byte> all;
  for (const std::string_view t : texts) {
    for (const std::size_t b : {t.size(), std::size_t{0}, std::size_t{0}, std::size_t{0}})
      all.push_back(static_cast<std::byte>(b));
    for (const char c : t) all.push_back(static_cast<std::byte>(c));
  }
  return all;
}

}  // namespace

TEST_CASE("leave: messages sent before go out first, and nothing more comes up") {
  end e;
  stack<byte_stream, polite, framing> s(e, e, polite(), framing());
  e.on_first = [&] {
    CHECK(!s.send({packet_of("a")}, now));
    CHECK(!s.send({packet_of("b")}, now));
    s.leave(now);
    CHECK(s.send({packet_of("c")}, now) == net_errc::peer_down);
    CHECK(!s.writable());
    s.leave(now);
  };
  SUBCASE("of those that have come with it") {
    s.receive(framed({"one", "two", "three"}), now);
    CHECK(e.log == " one |{a}{b}{bye} closed down");
  }
  SUBCASE("when it came in pieces") {
    const auto bytes = framed({"one", "two", "three"});
    s.receive(std::span(bytes).first(5), now);
    s.receive(std::span(bytes).subspan(5), now);
    CHECK(e.log == " one |{a}{b}{bye} closed down");
  }
}

TEST_CASE("leave: outside of a call it is done at once") {
  end e;
  stack<byte_stream, polite, framing> s(e, e, polite(), framing());
  s.leave(now);
  CHECK(e.log == "{bye} closed down");
  s.leave(now);
  s.receive(framed({"one"}), now);
  CHECK(e.log == "{bye} closed down");
}

TEST_CASE("leave: messages that were held back do not come up after it") {
  end e;
  stack<datagrams, ordering> s(e, e, ordering());
  const auto datagram = [](char number, char text) {
    return std::vector{std::byte{1}, std::byte(number), std::byte{0}, std::byte(text)};
  };
  s.receive(datagram(2, 'c'), now);
  s.receive(datagram(1, 'b'), now);
  e.on_first = [&] { s.leave(now); };
  s.receive(datagram(0, 'a'), now);
  CHECK(e.log == " a | closed down");
}

TEST_CASE("leave: a stream gets the messages that waited in its turn, though it took no more") {
  end e;
  stack<byte_stream, slicing, polite, framing> s(e, e, slicing({.piece = 64}), polite(), framing());
  e.takes_more = false;
  CHECK(!s.send({packet_of(std::string(100, 'x')), 2}, now));
  CHECK(!s.send({packet_of("y"), 3}, now));
  CHECK(e.log.empty());
  s.leave(now);
  CHECK(std::count(e.log.begin(), e.log.end(), 'x') == 100);
  CHECK(e.log.find("y}") != std::string::npos);
  CHECK(e.log.ends_with("{bye} closed down"));
}

TEST_CASE("leave: an open question is answered all the same, once") {
  constexpr actor_id asker{1, 1}, asked{2, 2};
  end e;
  stack<byte_stream, actor_protocol, framing> s(e, e, actor_protocol(), framing());
  for (const std::uint64_t number : {1u, 2u, 3u})
    CHECK(!s.send(to_outgoing({.kind = frame_kind::request,
                               .receiver = asked,
                               .sender = asker,
                               .number = number,
                               .time_left = base::duration::milliseconds(1)},
                              packet_of("", 128)),
                  now));
  e.log.clear();
  e.on_first = [&] { s.leave(now); };
  // The time-out of the first question makes the owner leave, while the layer looks for others.
  s.advance(now + base::duration::milliseconds(1));
  CHECK(e.messages == 3);
  CHECK(s.get<actor_protocol>().open_questions() == 0);
  CHECK(s.get<actor_protocol>().counters().timeouts +
            s.get<actor_protocol>().counters().unanswered ==
        3);
  CHECK(e.log.ends_with(" closed down"));
}

TEST_CASE("close: messages that have come do not come up after the owner has closed the carrier") {
  end e;
  e.on_first = [&] { e.close(); };
  SUBCASE("frames of one receive") {
    stack<byte_stream, framing> s(e, e, framing());
    SUBCASE("whole") { s.receive(framed({"one", "two", "three"}), now); }
    SUBCASE("in pieces") {
      const auto bytes = framed({"one", "two", "three"});
      s.receive(std::span(bytes).first(6), now);
      s.receive(std::span(bytes).subspan(6), now);
    }
    CHECK(e.log == " one closed |");
  }
  SUBCASE("messages that were held back") {
    stack<datagrams, ordering> s(e, e, ordering());
    for (const unsigned number : {3u, 2u, 1u, 0u})
      s.receive(std::vector{std::byte{1}, std::byte(number), std::byte{0}, std::byte{'x'}}, now);
    CHECK(e.log == " x closed |");
  }
}

TEST_CASE("close: calls that a layer's own end makes to others still happen") {
  struct ends : layer_defaults {
    static void receive(const incoming& m, layer_context& c) {
      if (m.bytes.size() != 1) return static_cast<void>(c.up(m));
      c.close();
      c.notify({link_event::kind::down});
    }
  };
  end e;
  stack<datagrams, ordering, ends> s(e, e, ordering(), ends());
  s.receive(std::vector{std::byte{1}, std::byte{5}, std::byte{0}, std::byte{'x'}}, now);
  s.receive(std::vector{std::byte{1}}, now);
  CHECK(e.log == " closed x down");  // `ordering` passes up its held messages at the end
}

TEST_CASE("stack: an exception of the owner at the end of a call leaves that call") {
  end e;
  stack<byte_stream, framing> link(e, e, framing());
  link.connected(now);
  e.on_first = [&] {
    e.throws = true;
    link.leave(now);
  };
  CHECK_THROWS_AS(link.receive(framed({"a"}), now), int);
  CHECK(e.log == " event a | closed down");
  CHECK(link.send({packet_of("x")}, now) == net_errc::peer_down);
}

TEST_CASE("stack: messages of a call that has thrown go out before later ones") {
  end e;
  stack<byte_stream, framing> link(e, e, framing());
  link.connected(now);
  e.on_first = [&] {
    REQUIRE(!link.send({packet_of("first")}, now));
    throw 1;
  };
  CHECK_THROWS_AS(link.receive(framed({"a"}), now), int);
  CHECK(e.log == " event a");
  REQUIRE(!link.send({packet_of("second")}, now));
  CHECK(e.log == " event a{first}{second}");
}

TEST_CASE("stack: kept messages stay there while the owner reports deliveries within a call") {
  end e;
  stack<byte_stream, framing> link(e, e, framing());
  link.connected(now);
  e.on_first = [&] {
    REQUIRE(!link.send({packet_of("kept")}, now));
    link.delivered(1, now);
  };
  link.receive(framed({"a", "b"}), now);
  CHECK(e.log == " event a | b{kept}");
}

TEST_CASE("stack: a link is left that was to be left in a call that has thrown") {
  end e;
  stack<byte_stream, framing> link(e, e, framing());
  link.connected(now);
  e.on_first = [&] {
    link.leave(now);
    throw 1;
  };
  CHECK_THROWS_AS(link.receive(framed({"a"}), now), int);
  link.leave(now);
  CHECK(e.log == " event a closed down");
}

}  // namespace stack_leave_test
