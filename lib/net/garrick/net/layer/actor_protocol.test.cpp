#include "garrick/net/layer/actor_protocol.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "garrick/base/values/random.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/stack/stack.hpp"
#include "garrick/net/wire/codec.hpp"

namespace actor_protocol_test {

using namespace garrick;
using namespace garrick::net;

namespace {

constexpr actor_id alice{1, 11}, bob{2, 22};
constexpr base::instant start{};
constexpr auto ms = base::duration::milliseconds;

/// Ends a link at an empty message.
struct ends_itself : layer_defaults {
  static void receive(const incoming& m, layer_context& c) {
    if (m.bytes.empty())
      c.notify({link_event::kind::down, 0, net_errc::peer_down});
    else
      static_cast<void>(c.up(m));
  }
};

/// A frame that has come, with its payload as text; an error comes with its words.
struct came {
  frame_kind kind;
  std::uint64_t number;
  std::string text;
  friend bool operator==(const came&, const came&) = default;
};

template <class... Below>
struct end_over final : carrier, link_owner {
  stack<datagrams, actor_protocol, Below...> link;
  std::vector<packet> wire;
  std::vector<came> frames;
  std::vector<lane_number> lanes;
  std::vector<link_event::kind> events;
  std::function<void()> reads{};  // called once, before the next message is looked at

  explicit end_over(actor_protocol_settings s = {})
      : link(*this, *this, actor_protocol(s), Below()...) {}
  void transmit(packet p) override { wire.push_back(std::move(p)); }
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 1u << 20; }
  void reopen() override {}
  void close() override {}
  bool on_message(const incoming& m) override {
    if (const auto now = std::exchange(reads, {})) now();
    const frame* f = m.decoded;
    REQUIRE(f != nullptr);
    const base::result<frame> again = decode_frame(m.bytes);
    REQUIRE(again.has_value());
    CHECK(again->number == f->number);
    CHECK(again->payload.data() == f->payload.data());
    lanes.push_back(m.lane);
    if (f->kind == frame_kind::error || f->kind == frame_kind::decode_error)
      frames.push_back({f->kind, f->number, error_of(*f).to_string()});
    else
      frames.push_back({f->kind, f->number,
                        f->payload.empty() ? "" : decode<std::string>(f->payload).value_or("?")});
    return true;
  }
  void on_event(const link_event& e) override { events.push_back(e.what); }

  base::error send(const frame& f, const std::string& text, base::instant now = start) {
    base::result<packet> payload = encode(text, {.front = frame_room});
    return link.send(to_outgoing(f, std::move(*payload)), now);
  }
  base::error ask(std::uint64_t number, base::instant now = start,
                  base::duration limit = base::duration::infinite()) {
    frame f{.kind = frame_kind::request, .receiver = bob, .sender = alice, .number = number};
    if (!limit.is_infinite()) f.time_left = limit;
    return send(f, "how much?", now);
  }
  void answer(std::uint64_t number, actor_id from = bob, actor_id to = alice) {
    REQUIRE(!send({.kind = frame_kind::response, .receiver = to, .sender = from, .number = number},
                  "seven"));
  }
  void carry_to(end_over& other, base::instant now = start) {
    for (packet& p : std::exchange(wire, {})) other.link.receive(p.bytes(), now);
  }
};
using end = end_over<>;

}  // namespace

TEST_CASE("actor_protocol: a request has one answer, and a second one is dropped") {
  end here, there;
  REQUIRE(!here.ask(5));
  here.carry_to(there);
  CHECK(there.frames == std::vector<came>{{frame_kind::request, 5, "how much?"}});
  there.answer(5);
  there.answer(5);
  there.carry_to(here);
  CHECK(here.frames == std::vector<came>{{frame_kind::response, 5, "seven"}});
  CHECK(here.link.get<actor_protocol>().counters().unasked == 1);
  CHECK(here.link.get<actor_protocol>().open_questions() == 0);
}

TEST_CASE("actor_protocol: a message that comes while another one is read is another one") {
  end from;
  for (const char* const text : {"first", "second", "third"})
    REQUIRE(!from.send({.receiver = bob, .sender = alice, .type = 7}, text));
  const std::vector<packet> all = std::exchange(from.wire, {});
  end to;
  const auto with_another = [&](std::size_t which) {
    to.reads = [&to, &all, which] { to.link.receive(all[which].bytes(), start); };
    to.link.receive(all[0].bytes(), start);
  };
  with_another(1);
  CHECK(to.frames ==
        std::vector<came>{{frame_kind::message, 0, "second"}, {frame_kind::message, 0, "first"}});
  // The layer goes on after a message that was not read to its end.
  to.reads = [] { throw std::runtime_error("it is read no further"); };
  CHECK_THROWS(to.link.receive(all[0].bytes(), start));
  to.frames.clear();
  with_another(2);
  CHECK(to.frames ==
        std::vector<came>{{frame_kind::message, 0, "third"}, {frame_kind::message, 0, "first"}});
}

TEST_CASE("actor_protocol: only the actor that was asked answers, and only to its asker") {
  end here, there;
  REQUIRE(!here.ask(5));
  there.answer(5, alice, alice);
  there.answer(5, bob, bob);
  there.answer(6);
  REQUIRE(!there.send({.kind = frame_kind::resolved, .sender = bob, .number = 5}, ""));
  there.carry_to(here);
  CHECK(here.frames.empty());
  CHECK(here.link.get<actor_protocol>().counters().unasked == 4);
  there.answer(5);
  there.carry_to(here);
  CHECK(here.frames.size() == 1);
}

TEST_CASE("actor_protocol: a question ends with timeout when its time is over, and is cancelled") {
  end here, there;
  REQUIRE(!here.ask(1, start, ms(20)));
  REQUIRE(!here.ask(2, start, ms(10)));
  REQUIRE(!here.ask(3));
  CHECK(here.link.deadline() == start + ms(10));
  here.link.advance(start + ms(10));
  REQUIRE(here.frames.size() == 1);
  CHECK(here.frames[0] == came{frame_kind::error, 2, base::error(base::errc::timeout).to_string()});
  CHECK(here.link.deadline() == start + ms(20));

  here.carry_to(there);
  REQUIRE(there.frames.size() == 4);
  CHECK(there.frames[3] == came{frame_kind::cancel, 2, ""});
  CHECK(there.lanes[3] == there.lanes[1]);  // or the cancel might overtake its request
  there.answer(2);                          // too late
  there.answer(1);
  there.carry_to(here);
  CHECK(here.frames.size() == 2);
  CHECK(here.link.deadline().is_never());
}

TEST_CASE("actor_protocol: the end of the link answers every open question") {
  end_over<ends_itself> here;
  REQUIRE(!here.ask(1, start, ms(20)));
  REQUIRE(!here.ask(2));
  SUBCASE("if this end leaves") { here.link.leave(start); }
  SUBCASE("if the other one is gone") { here.link.receive({}, start); }
  REQUIRE(here.frames.size() == 2);
  for (const came& f : here.frames) {
    CHECK(f.kind == frame_kind::error);
    CHECK(f.text.find(base::error(net_errc::perhaps_delivered).message()) != std::string::npos);
  }
  CHECK(here.frames[0].number + here.frames[1].number == 3);
  CHECK(here.events == std::vector{link_event::kind::down});
  CHECK(here.link.get<actor_protocol>().counters().unanswered == 2);
}

TEST_CASE("actor_protocol: with too many open questions the link takes no more until one ends") {
  end here({.most_questions = 2}), there;
  REQUIRE(!here.ask(1));
  REQUIRE(!here.ask(2, start, ms(1)));
  CHECK(here.ask(3) == net_errc::overload);
  SUBCASE("by an answer") {
    there.answer(1);
    there.carry_to(here);
  }
  SUBCASE("by its time") { here.link.advance(start + ms(1)); }
  CHECK(here.events == std::vector{link_event::kind::writable});
  CHECK(!here.ask(3));
}

TEST_CASE("actor_protocol: bytes that are no frame are dropped and told, but not for ever") {
  end here, there;
  const std::byte nonsense[] = {std::byte{0x7f}, std::byte{1}};
  here.link.receive(nonsense, start);
  here.link.receive({}, start);
  CHECK(here.frames.empty());
  CHECK(here.link.get<actor_protocol>().counters().malformed == 2);
  here.carry_to(there);
  REQUIRE(there.frames.size() == 2);
  const std::string words = base::error(net_errc::decode_failed).message();
  for (const came& f : there.frames) {
    CHECK(f.kind == frame_kind::decode_error);
    CHECK(f.number == 0);
    CHECK_MESSAGE(f.text.find(words) != std::string::npos, f.text);
  }
  there.wire.clear();
  const std::byte broken_error[] = {std::byte(frame_kind::decode_error)};
  there.link.receive(broken_error, start);
  CHECK(there.wire.empty());
}

TEST_CASE("actor_protocol: a pair of actors has one lane, and lives have the system's") {
  const frame there{.kind = frame_kind::message, .receiver = bob, .sender = alice};
  frame other = there;
  other.kind = frame_kind::request;
  CHECK(lane_of(there) == lane_of(other));
  using enum frame_kind;
  for (const frame_kind k : {link, unlink, monitor, demonitor, down, exit, kill}) {
    other.kind = k;
    CHECK(lane_of(other) == system_lane);
  }
  std::vector<int> used(256);
  for (std::uint64_t i = 0; i < 10000; ++i) {
    std::uint64_t seed = i;
    ++used[lane_of({.kind = frame_kind::message, .sender = {base::splitmix64(seed), 0}})];
  }
  CHECK(used[system_lane] == 0);
  CHECK(used[layer_lane] == 0);
  CHECK(*std::max_element(used.begin(), used.end()) < 100);
}

TEST_CASE("actor_protocol: a refusal goes back, and names the refused frame") {
  frame asked{.kind = frame_kind::request, .receiver = bob, .sender = alice, .number = 7};
  SUBCASE("a question") {}
  SUBCASE("a message") {
    asked = {.kind = frame_kind::message, .receiver = bob, .sender = alice, .type = 7};
  }
  const outgoing made = refusal_of(asked, base::errc::timeout, 0);
  const base::result<frame> f = decode_frame(made.bytes.bytes());
  REQUIRE(f.has_value());
  CHECK(f->receiver == alice);
  CHECK(f->sender == bob);
  CHECK(f->number == asked.number);
  CHECK(f->type == asked.type);
  CHECK(error_of(*f) == base::errc::timeout);
}

TEST_CASE("actor_protocol: an error with something behind it is not understood") {
  base::result<packet> p = encode(base::error(base::errc::timeout));
  REQUIRE(p.has_value());
  frame f{.kind = frame_kind::error, .payload = p->bytes()};
  CHECK(error_of(f) == base::errc::timeout);
  p->append(1)[0] = std::byte{0};
  f.payload = p->bytes();
  CHECK(error_of(f) == net_errc::decode_failed);
}

}  // namespace actor_protocol_test
