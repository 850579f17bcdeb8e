// An end that can take no more from its peer, such as a message above its limit, tells the peer the
// reason.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "garrick/net/error.hpp"
#include "garrick/net/layer/reliability.hpp"
#include "garrick/net/layer/slicing.hpp"
#include "garrick/net/stack/internal/session_pair.hpp"

namespace stack_refusals_test {

using namespace garrick;
using namespace garrick::net;
using namespace garrick::net::tests;

namespace {

using sliced_stream = stack<byte_stream, slicing, session, framing>;
using sliced_datagrams = stack<datagrams, slicing, reliability, session>;

const framing_settings any_frame{};

/// Two ends of which the second one has these limits.
struct limited_pair : simulated_pair {
  limited_pair(bool stream, slicing_settings sliced, framing_settings framed = any_frame)
      : simulated_pair(stream, 1) {
    for (const int i : {0, 1}) {
      test_end& e = ends[static_cast<std::size_t>(i)];
      const slicing_settings s = i == 0 ? slicing_settings{.piece = sliced.piece} : sliced;
      if (stream)
        e.stack = std::make_unique<sliced_stream>(e, e, slicing(s), session(settings_of(i)),
                                                  framing(i == 0 ? any_frame : framed));
      else
        e.stack = std::make_unique<sliced_datagrams>(e, e, slicing(s), reliability(),
                                                     session(settings_of(i)));
    }
    connect();
    run(1_s);
  }
  void send(std::size_t from, std::size_t size) {
    CHECK(!ends[from].stack->send(message(std::string(size, 'm')), now));
    run(1_s);
  }
};

bool tells(const base::error& why, std::string_view text) {
  return why.to_string().find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("refusals: a message above the other end's limit ends the link, and its sender is told") {
  for (const bool stream : {true, false})
    for (const std::uint32_t piece : {500u, 100'000u}) {
      CAPTURE(stream);
      CAPTURE(piece);
      limited_pair p(stream, {.largest = 1000, .piece = piece});
      p.send(0, 1000);
      REQUIRE(p.ends[1].messages.size() == 1);
      CHECK(!p.ends[0].down());
      p.send(0, 1001);
      CHECK(p.ends[1].messages.size() == 1);
      const std::string words = "a message of 1001 bytes, where net.slicing_largest allows 1000";
      CHECK(p.ends[1].down() == net_errc::too_large);
      CHECK(tells(p.ends[1].down(), words));
      CHECK(p.ends[1].closed);
      CHECK(p.ends[0].down() == net_errc::peer_down);
      CHECK_MESSAGE(tells(p.ends[0].down(), "the peer has ended the session: "),
                    p.ends[0].down().to_string());
      CHECK(tells(p.ends[0].down(), words));
      CHECK(p.ends[0].count(link_event::kind::disconnected) == 0);
    }
}

TEST_CASE("refusals: a frame above the other end's limit ends the link, and its sender is told") {
  limited_pair p(true, {.piece = 100'000}, {.largest = 1000});
  p.send(0, 2000);
  CHECK(p.ends[1].down() == net_errc::too_large);
  CHECK(tells(p.ends[1].down(), "where net.framing_largest allows 1000"));
  CHECK(p.ends[0].down() == net_errc::peer_down);
  CHECK_MESSAGE(tells(p.ends[0].down(), "where net.framing_largest allows 1000"),
                p.ends[0].down().to_string());
}

TEST_CASE("refusals: each datagram of a goodbye with words may be the one that arrives") {
  for (const int arrives : {0, 1, 2}) {
    CAPTURE(arrives);
    limited_pair p(false, {.largest = 1000, .piece = 500});
    int goodbyes = 0;
    p.fate = [&](int from, const test_end::bytes& b) -> std::vector<base::duration> {
      const bool leaves = from == 1 && b[0] == static_cast<std::byte>(session_packet::leave);
      if (leaves && goodbyes++ != arrives) return {};
      return {1_ms};
    };
    p.send(0, 1001);
    CHECK(goodbyes == 3);
    CHECK(tells(p.ends[0].down(), "net.slicing_largest"));
  }
}

}  // namespace stack_refusals_test
