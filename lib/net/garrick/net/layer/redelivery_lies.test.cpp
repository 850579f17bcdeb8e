#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/layer/redelivery.hpp"
#include "garrick/net/stack/internal/session_pair.hpp"

namespace redelivery_lies_test {

using namespace garrick;
using namespace garrick::net;
using namespace garrick::net::tests;
using kind = link_event::kind;

namespace {

using laned_stream = stack<byte_stream, redelivery, lane_byte, session, framing>;
using laned_datagrams = stack<reliable_datagrams, redelivery, lane_byte, session>;

/// An empty layer with the name of `redelivery`, so that the handshake finds equal stacks.
struct pretended : layer_defaults {
  static constexpr std::string_view wire_name = redelivery::wire_name;
};

/// End 1 is a real one, which has sent three messages in lane 1; end 0 makes up its packets.
template <bool IsStream>
struct against_liar : simulated_pair {
  using real = std::conditional_t<IsStream, laned_stream, laned_datagrams>;
  using liar =
      std::conditional_t<IsStream, stack<byte_stream, pretended, lane_byte, session, framing>,
                         stack<reliable_datagrams, pretended, lane_byte, session>>;

  explicit against_liar(redelivery_settings s = {}) : simulated_pair(IsStream, 1) {
    session zero(settings_of(0));
    session one(settings_of(1));
    if constexpr (IsStream) {
      ends[0].stack =
          std::make_unique<liar>(ends[0], ends[0], pretended(), lane_byte(), zero, framing());
      ends[1].stack =
          std::make_unique<real>(ends[1], ends[1], redelivery(s), lane_byte(), one, framing());
    } else {
      ends[0].stack = std::make_unique<liar>(ends[0], ends[0], pretended(), lane_byte(), zero);
      ends[1].stack = std::make_unique<real>(ends[1], ends[1], redelivery(s), lane_byte(), one);
    }
    connect();
    run(10_ms);
    for (std::uint64_t i = 1; i != 4; ++i) REQUIRE(!ends[1].stack->send(message("x", 1, i), now));
    run(10_ms);
  }
  void say(std::string bytes, lane_number lane = layer_lane) {
    REQUIRE(!ends[0].stack->send(message(bytes, lane), now));
    run(10_ms);
  }
  void begin(const std::string& lanes = {}, std::uint32_t takes = 1000) {
    say("\1" + number(1000, 4) + number(1u << 20, 8) + number(takes, 4) + number(1u << 20, 8) +
        lanes);
  }
  static std::string number(std::uint64_t n, int size) {
    std::string text;
    for (; size != 0; --size, n >>= 8) text.push_back(static_cast<char>(n & 0xff));
    return text;
  }
  static std::string counted(lane_number lane, std::uint64_t there) {
    return number(lane, 1) + number(there, 8);
  }
  static std::string counted(lane_number lane, std::uint64_t come, std::uint64_t there) {
    return number(lane, 1) + number(come, 8) + number(there, 8);
  }
  void is_over() {
    CHECK(ends[1].down() == net_errc::decode_failed);
    CHECK(ends[1].closed);
    CHECK(numbers_of(ends[1].events, kind::unknown).size() +
              numbers_of(ends[1].events, kind::delivered).size() ==
          3);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("redelivery: counts that cannot be end the session", IsStream, std::true_type,
                   std::false_type) {
  against_liar<IsStream::value> p;
  const auto lane = [&](auto... counts) { return p.counted(1, std::uint64_t(counts)...); };
  SUBCASE("none of them is wrong") {
    p.begin();
    p.say("\2" + lane(1));
    p.say("\2" + lane(1) + lane(2));
    p.say("\2" + lane(3));
    CHECK(!p.ends[1].down());
    CHECK(numbers_of(p.ends[1].events, kind::delivered) == std::vector<std::uint64_t>{1, 2, 3});
    p.say("\7");
  }
  SUBCASE("more than was sent") {
    p.begin();
    p.say("\2" + lane(4));
  }
  SUBCASE("very much more") {
    p.begin();
    p.say("\2" + lane(~0ull));
  }
  SUBCASE("less than before") {
    p.begin();
    p.say("\2" + lane(2));
    p.say("\2" + lane(1));
  }
  SUBCASE("of a lane that nothing was sent in") {
    p.begin();
    p.say("\2" + p.counted(9, 0));
  }
  SUBCASE("of the layer's own lane") {
    p.begin();
    p.say("\2" + p.counted(layer_lane, 0));
  }
  SUBCASE("half of one") {
    p.begin();
    p.say("\2" + lane(1).substr(0, 8));
  }
  SUBCASE("none at all") {
    p.begin();
    p.say("\2");
  }
  SUBCASE("before the beginning") { p.say("\2" + lane(1)); }
  SUBCASE("two beginnings") {
    p.begin();
    p.begin();
  }
  SUBCASE("half a beginning") { p.say("\1" + p.number(1000, 4)); }
  SUBCASE("a beginning that takes nothing") { p.begin("", 0); }
  SUBCASE("a beginning with more than was sent") { p.begin(lane(4, 0)); }
  SUBCASE("a beginning with more in the mailbox than has come") { p.begin(lane(1, 2)); }
  SUBCASE("a beginning with a lane twice") { p.begin(lane(0, 0) + lane(0, 0)); }
  SUBCASE("a beginning with half a lane") { p.begin(lane(0, 0).substr(1)); }
  SUBCASE("an unknown kind") { p.say("\7"); }
  SUBCASE("no kind") { p.say(""); }
  p.is_over();
}

TEST_CASE("redelivery: a resumed session with fewer counts than before is over") {
  against_liar<true> p;
  p.begin();
  p.say("\2" + p.counted(1, 2));
  p.cut();
  p.lose(1);
  p.run(1_s);
  REQUIRE(p.ends[1].has(kind::resumed));
  SUBCASE("a lane is missing") { p.begin(); }
  SUBCASE("less is in the mailbox") { p.begin(p.counted(1, 3, 1)); }
  SUBCASE("less has come than is in the mailbox") { p.begin(p.counted(1, 1, 1)); }
  SUBCASE("more is in the mailbox than was sent by this stream") {
    p.begin(p.counted(1, 2, 2));
    CHECK(!p.ends[1].down());
    for (std::uint64_t i = 4; i != 6; ++i) REQUIRE(!p.ends[1].stack->send(message("x"), p.now));
    p.run(10_ms);
    p.cut();
    p.lose(1);
    p.run(1_s);
    // All five were sent once, but of the last three only one goes down at once now.
    p.begin(p.counted(1, 2, 2), 1);
    CHECK(!p.ends[1].down());
    p.say("\2" + p.counted(1, 5));
  }
  SUBCASE("less has come than before") {
    p.begin(p.counted(1, 3, 2));
    CHECK(!p.ends[1].down());
    p.cut();
    p.lose(1);
    p.run(1_s);
    p.begin(p.counted(1, 2, 2));
  }
  p.is_over();
}

TEST_CASE(
    "redelivery: a peer that sends more than is taken is given up, before it fills anything") {
  against_liar<false> p({.accepted_messages = 300});
  p.ends[1].on_incoming = [](incoming) { return false; };
  p.begin();
  for (int i = 0; i != 300; ++i) p.say("x", 1);
  CHECK(!p.ends[1].down());
  p.say("x", 1);
  p.is_over();
  CHECK(p.ends[1].messages.size() == 300);
}

TEST_CASE("redelivery: nor does it fill anything with the system's messages") {
  against_liar<false> p;
  p.ends[1].on_incoming = [](incoming) { return false; };
  p.begin();
  for (int i = 0; i != 1024; ++i) p.say("x", system_lane);
  CHECK(!p.ends[1].down());
  p.say("x", system_lane);
  p.is_over();
  CHECK(p.ends[1].messages.size() == 1024);
}

TEST_CASE("redelivery: before its limits are known an end takes as many as may always be sent") {
  against_liar<false> p({.accepted_messages = 1, .accepted_bytes = 1});
  p.ends[1].on_incoming = [](incoming) { return false; };
  for (int i = 0; i != 256; ++i) p.say("xx", 1);
  CHECK(!p.ends[1].down());
  p.say("xx", 1);
  p.is_over();
}

TEST_CASE(
    "redelivery: before the other end's limits are known no more is sent than anybody takes") {
  SUBCASE("messages") {
    against_liar<true> p;  // three messages are sent already
    for (int i = 3; i != 256; ++i) REQUIRE(!p.ends[1].stack->send(message("x", 1), p.now));
    CHECK(!p.ends[1].stack->writable());
  }
  SUBCASE("bytes, and then no more than it takes") {
    against_liar<true> p;
    const std::string bytes(60'000, 'x');
    for (std::size_t sent = 0; p.ends[1].stack->writable(); sent += bytes.size()) {
      REQUIRE(sent < (1u << 20));
      REQUIRE(!p.ends[1].stack->send(message(bytes, 1), p.now));
    }
    p.begin({p.counted(1, 0, 0)});
    CHECK(!p.ends[1].stack->writable());
  }
  SUBCASE("bytes of large messages, more of which are held") {
    against_liar<true> p;
    const std::size_t before = p.ends[0].messages.size();
    for (int i = 0; i != 4; ++i)
      REQUIRE(!p.ends[1].stack->send(message(std::string(1u << 20, 'x'), 1), p.now));
    CHECK(p.ends[1].stack->writable());
    p.run(1_s);
    CHECK(p.ends[0].messages.size() == before + 1);
    p.begin({p.counted(1, 0, 0)});
    p.run(1_s);
    CHECK(p.ends[0].messages.size() == before + 1);
  }
}

}  // namespace redelivery_lies_test
