#include "garrick/net/stack/fingerprint.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/stack/internal/session_pair.hpp"
#include "garrick/net/stack/stacks.hpp"

namespace fingerprint_test {

using namespace garrick;
using namespace garrick::net;
using namespace garrick::net::tests;
using base::duration;
using kind = link_event::kind;

namespace {

struct unnamed : layer_defaults {};
struct also_unnamed : layer_defaults {};
struct packing : layer_defaults {
  static constexpr std::string_view wire_name = "packing";
};
struct packing_again : layer_defaults {
  static constexpr const char* wire_name = "packing";
};
struct sealing : layer_defaults {
  static constexpr std::string_view wire_name = "sealing";
};

// The fingerprints by the rule in docs/wire.md, computed by another program.
static_assert(net::stream_stack::fingerprint == 0x9843c90d);
static_assert(plain_stream_stack::fingerprint == 0x55fda4d6);
static_assert(net::datagram_stack::fingerprint == 0x502c5339);
static_assert(ordered_datagram_stack::fingerprint == 0xfa3caa14);
static_assert(plain_datagram_stack::fingerprint == 0x9e66c3bb);

/// A function that makes the stack of an end.
using maker = std::function<std::unique_ptr<any_link>(test_end&, const session_settings&)>;

maker named(const named_stack& of) {
  return [of](test_end& e, const session_settings& s) {
    link_settings all;
    all.session = s;
    return of.make(e, e, all);
  };
}
/// Returns a maker of stacks with these layers over `session`.
template <bool Stream, class... Ls>
maker with() {
  return [](test_end& e, const session_settings& s) -> std::unique_ptr<any_link> {
    if constexpr (Stream)
      return std::make_unique<stack<byte_stream, Ls..., session, framing>>(e, e, Ls()...,
                                                                           session(s), framing());
    else
      return std::make_unique<stack<datagrams, Ls..., session>>(e, e, Ls()..., session(s));
  };
}

/// Two ends, each with a stack of its own.
struct unlike_pair : simulated_pair {
  unlike_pair(bool stream, const maker& zero, const maker& one) : simulated_pair(stream, 1) {
    make(0, zero);
    make(1, one);
  }
  void make(int i, const maker& of, session_settings s) {
    test_end& e = ends[static_cast<std::size_t>(i)];
    e.closed = false;
    e.events.clear();
    e.stack = of(e, s);
  }
  void make(int i, const maker& of) { make(i, of, settings_of(i)); }

  [[nodiscard]] bool both_open() const {
    return ends[0].has(kind::opened) && ends[1].has(kind::opened);
  }
  [[nodiscard]] bool both_refuse() const { return refuses(0) && refuses(1); }
  [[nodiscard]] bool refuses(std::size_t i) const {
    const base::error e = ends[i].down();
    return e == net_errc::incompatible && ends[i].closed &&
           e.detail().find("the two ends use different stacks") != std::string_view::npos;
  }
};

bool open_together(bool stream, const maker& zero, const maker& one) {
  unlike_pair p(stream, zero, one);
  p.connect();
  p.run(10_ms);
  CHECK(p.both_open() != p.both_refuse());
  return p.both_open();
}

/// Returns the bytes of a packet of the handshake, as they arrive over this transport.
std::vector<std::byte> on_the_wire(bool stream, const packet& p) {
  std::vector<std::byte> all(stream ? 4 : 0);
  if (stream) store_le(all.data(), static_cast<std::uint32_t>(p.size()));
  all.insert(all.end(), p.bytes().begin(), p.bytes().end());
  return all;
}
/// Returns the answer of end 1 to the first hello, or to an attempt to resume.
std::vector<std::byte> answer(bool stream, std::uint64_t attempt, std::uint32_t layers) {
  constexpr session_packet kind = session_packet::hello_ack;
  packet p;
  encode_hello(
      kind, attempt != 0 ? resumption_of(1, kind, attempt, layers) : first_of(1, kind, layers), p);
  return on_the_wire(stream, p);
}

}  // namespace

TEST_CASE(
    "fingerprint: two stacks have one if their layers have the same names in the same order") {
  constexpr std::uint32_t one = fingerprint_of<packing, slicing>();
  CHECK(one == fingerprint_of<packing_again, slicing>());
  CHECK(one != fingerprint_of<slicing, packing>());
  CHECK(one != fingerprint_of<sealing, slicing>());
  CHECK(one != fingerprint_of<unnamed, slicing>());
  CHECK(one != fingerprint_of<slicing>());
  CHECK(fingerprint_of<unnamed, slicing>() == fingerprint_of<also_unnamed, slicing>());
  CHECK(fingerprint_of<unnamed, slicing>() != fingerprint_of<slicing>());
  CHECK(fingerprint_of<unnamed, slicing>() != fingerprint_of<unnamed, unnamed, slicing>());
}

TEST_CASE(
    "other layers: two named stacks over one transport open if they are one, and else do not") {
  const stack_catalogue stacks = standard_stacks();
  int opened = 0, refused = 0;
  for (const named_stack& zero : stacks.all()) {
    for (const named_stack& one : stacks.all()) {
      if (zero.transport != one.transport) continue;
      CAPTURE(zero.name);
      CAPTURE(one.name);
      unlike_pair p(zero.transport == carrier_kind::stream, named(zero), named(one));
      p.connect();
      p.run(10_ms);
      if (zero.name == one.name) {
        CHECK(p.both_open());
        ++opened;
        continue;
      }
      ++refused;
      CHECK(p.both_refuse());
      CHECK(p.ends[0].count(kind::opened) + p.ends[1].count(kind::opened) == 0);
      CHECK(p.ends[0].down().detail().find("this end's is '" + std::string(zero.name) + "'") !=
            std::string_view::npos);
      CHECK(p.ends[1].down().detail().find("this end's is '" + std::string(one.name) + "'") !=
            std::string_view::npos);
    }
  }
  CHECK(opened == 5);
  CHECK(refused == 2 + 6);
}

TEST_CASE(
    "other layers: a layer of one's own at one end alone is noticed, with a name or without") {
  for (const auto& [stream, plain, one, other, two, name, another] :
       {std::tuple(true, with<true, slicing>(), with<true, unnamed, slicing>(),
                   with<true, also_unnamed, slicing>(), with<true, unnamed, unnamed, slicing>(),
                   with<true, packing, slicing>(), with<true, sealing, slicing>()),
        std::tuple(false, with<false, slicing>(), with<false, unnamed, slicing>(),
                   with<false, also_unnamed, slicing>(), with<false, unnamed, unnamed, slicing>(),
                   with<false, packing, slicing>(), with<false, sealing, slicing>())}) {
    CAPTURE(stream);
    for (const maker& same : {plain, one, two, name, another})
      CHECK(open_together(stream, same, same));
    CHECK(open_together(stream, one, other));
    CHECK(!open_together(stream, plain, one));
    CHECK(!open_together(stream, one, plain));
    CHECK(!open_together(stream, one, two));
    CHECK(!open_together(stream, one, name));
    CHECK(!open_together(stream, plain, name));
    CHECK(!open_together(stream, name, another));
  }
}

TEST_CASE("other layers: a refusal that is lost is said again to the next hello") {
  unlike_pair p(false, with<false, slicing>(), with<false, unnamed, slicing>());
  p.fate = [](int from, const test_end::bytes&) {
    return from == 0 ? std::vector<duration>{1_ms} : std::vector<duration>{};
  };
  p.connect();
  p.run(10_ms);
  CHECK(p.refuses(1));
  CHECK(!p.ends[0].down());
  p.make(1, with<false, unnamed, slicing>());  // as a listener makes a stack for the next hello
  p.ends[1].stack->connected(p.now);
  p.fate = nullptr;
  p.run(300_ms);
  CHECK(p.both_refuse());
}

TEST_CASE("other layers: an end that has connected refuses an answer with others, too") {
  for (const bool stream : {true, false}) {
    CAPTURE(stream);
    unlike_pair p(stream, stream ? with<true>() : with<false>(),
                  stream ? with<true>() : with<false>());
    std::vector<session_packet> said;
    p.ends[0].on_transmit = [&](const test_end::bytes& b) {
      said.push_back(static_cast<session_packet>(b[stream ? 4 : 0]));
    };
    p.connect();
    p.inject(0, answer(stream, 0, 1));
    CHECK(p.refuses(0));
    CHECK(!p.ends[0].has(kind::opened));
    CHECK(said == std::vector{session_packet::hello, session_packet::refuse});
  }
}

TEST_CASE("other layers: a lost session does not go on with another stack at either end") {
  const maker one = with<true>(), other = with<true, unnamed>();
  SUBCASE("the end that has connected comes back with it") {
    unlike_pair p(true, one, one);
    p.connect();
    p.run(10_ms);
    REQUIRE(p.both_open());
    p.cut();
    p.make(0, other);
    p.connect();
    p.run(10_ms);
    CHECK(!p.ends[0].has(kind::opened));
    CHECK(!p.ends[1].has(kind::resumed));
  }
  SUBCASE("the end that was connected to has it now") {
    unlike_pair p(true, one, one);
    p.connect();
    p.run(10_ms);
    p.cut();
    p.lose(1);
    p.make(1, other);
    p.run(1_s);
    CHECK(p.both_refuse());
  }
  SUBCASE("an answer says so") {
    unlike_pair p(true, one, one);
    p.connect();
    p.run(10_ms);
    p.ends[1].on_transmit = [](const auto&) {};
    p.cut();
    p.lose(1);
    p.run(100_ms);
    p.inject(0, answer(true, 1, tests::stream_stack::fingerprint));
    REQUIRE(p.ends[0].has(kind::resumed));
    p.lose(0);
    p.lose(1);
    p.run(100_ms);
    p.inject(0, answer(true, 2, 1));
    CHECK(p.refuses(0));
  }
}

}  // namespace fingerprint_test
