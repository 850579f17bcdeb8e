// Messages that the owner sends within a call in which the link goes down: all are reported, each
// question is answered, and nothing piles up without bound.
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "garrick/net/stack/stacks.hpp"

namespace stack_down_test {

using namespace garrick;
using namespace garrick::net;

namespace {

constexpr base::instant now = base::instant::at(base::duration::seconds(1));

/// An end with an owner that acts in the call in which the session opens.
struct end final : carrier, link_owner {
  std::unique_ptr<any_link> link;
  std::vector<packet> out;
  std::function<void(end&)> at_open;
  std::map<std::uint64_t, int> reports;
  std::map<std::uint64_t, int> answers;
  bool is_down = false;
  bool takes_more = true;
  bool throws = false;  ///< at the next event `writable`
  int after_down = 0;

  end(const named_stack& kind, bool connects) {
    link_settings s;
    s.session.self = {{0, connects ? 1u : 2u}, connects ? 11u : 22u};
    s.session.connects = connects;
    s.mailbox.system_messages = 100;
    link = kind.make(*this, *this, s);
  }
  void transmit(packet p) override { out.push_back(std::move(p)); }
  [[nodiscard]] bool writable() const override { return takes_more; }
  [[nodiscard]] std::size_t largest() const override { return 1400; }
  void reopen() override {}
  void close() override {}
  bool on_message(const incoming& m) override {
    after_down += is_down;
    REQUIRE(m.decoded != nullptr);
    if (m.decoded->kind == frame_kind::error) ++answers[m.decoded->number];
    return true;
  }
  void on_event(const link_event& e) override {
    using kind = link_event::kind;
    after_down += is_down;
    if (e.what == kind::delivered || e.what == kind::unknown) ++reports[e.number];
    if (e.what == kind::down) is_down = true;
    if (e.what == kind::writable && std::exchange(throws, false)) throw std::runtime_error("owner");
    if (e.what == kind::opened && at_open) std::exchange(at_open, {})(*this);
  }
  packet payload(std::size_t size = 0) {
    packet p = packet::with_room(frame_room + link->header_size(), size);
    p.append(std::vector<std::byte>(size));
    return p;
  }
  /// Sends a message with this number as its report. Returns true if it was taken.
  bool say(std::uint64_t number, lane_number lane, std::size_t size = 0) {
    outgoing m = to_outgoing({.kind = frame_kind::message, .receiver = {1, 1}}, payload(size));
    m.lane = lane;
    m.report = number;
    return !link->send(std::move(m), now);
  }
  bool ask(std::uint64_t number) {
    return !link->send(
        to_outgoing(
            {.kind = frame_kind::request, .receiver = {1, 1}, .sender = {2, 2}, .number = number},
            payload()),
        now);
  }
};

/// Carries packets between two ends until the first one's session has opened or is down.
void meet(end& a, end& b) {
  a.link->connected(now);
  b.link->connected(now);
  for (int i = 0; i < 20 && !a.is_down; ++i)
    for (const auto& [from, to] : {std::pair(&a, &b), std::pair(&b, &a)})
      for (const packet& p : std::exchange(from->out, {})) to->link->receive(p.bytes(), now);
}

}  // namespace

TEST_CASE(
    "an owner that leaves in the call in which it has sent hears of each message and question") {
  const stack_catalogue stacks = standard_stacks();
  for (const named_stack& kind : stacks.all()) {
    CAPTURE(kind.name);
    end a(kind, true), b(kind, false);
    a.at_open = [](end& e) {
      for (std::uint64_t n = 1; n <= 3; ++n) CHECK(e.say(n, 1));
      for (std::uint64_t n = 1; n <= 3; ++n) CHECK(e.ask(n));
      e.link->leave(now);
    };
    meet(a, b);
    CHECK(a.is_down);
    CHECK(a.after_down == 0);
    if (kind.provides.confirmed)
      CHECK(a.reports == std::map<std::uint64_t, int>{{1, 1}, {2, 1}, {3, 1}});
    CHECK(a.answers == std::map<std::uint64_t, int>{{1, 1}, {2, 1}, {3, 1}});
  }
}

TEST_CASE("when a call's own messages end the link, all are reported, each question is answered") {
  const stack_catalogue stacks = standard_stacks();
  for (const char* name : {"stream", "datagrams"}) {
    CAPTURE(name);
    end a(*stacks.find(name), true), b(*stacks.find(name), false);
    std::uint64_t taken = 0;
    a.at_open = [&taken](end& e) {
      while (taken < 500 && e.say(taken + 1, system_lane)) ++taken;  // the layer's limit is 100
      CHECK(e.say(1000, 1));
      CHECK(e.ask(7));
    };
    meet(a, b);
    CHECK(taken == 500);
    CHECK(a.is_down);
    CHECK(a.after_down == 0);
    CHECK(a.reports.size() == taken + 1);
    for (const auto& [number, times] : a.reports) CHECK(times == 1);
    CHECK(a.answers == std::map<std::uint64_t, int>{{7, 1}});
  }
}

TEST_CASE("messages sent within one call have limits in number and bytes, in each kind of lane") {
  const stack_catalogue stacks = standard_stacks();
  for (const lane_number lane : {system_lane, lane_number{1}})
    for (const std::size_t size : {0u, 100'000u}) {
      CAPTURE(lane);
      CAPTURE(size);
      end a(*stacks.find("plain_stream"), true), b(*stacks.find("plain_stream"), false);
      int taken = 0;
      a.at_open = [&](end& e) {
        while (taken < 5000 && e.say(0, lane, size)) ++taken;
      };
      meet(a, b);
      CHECK(taken == (size == 0 ? 1024 : 11));
      CHECK(!a.is_down);
    }
}

TEST_CASE("a peer that sends no frames and takes nothing is not answered without end") {
  const stack_catalogue stacks = standard_stacks();
  for (const named_stack& kind : stacks.all()) {
    CAPTURE(kind.name);
    end a(kind, true), b(kind, false);
    meet(a, b);
    b.takes_more = false;
    for (int i = 0; i < 20'000; ++i) {
      static_cast<void>(a.link->send({a.payload(1), 1}, now));
      for (const packet& p : std::exchange(a.out, {})) b.link->receive(p.bytes(), now);
    }
    std::size_t kept = b.out.size();
    b.takes_more = true;
    for (int i = 0; i < 100; ++i) {  // the kept messages come now, as far as they are confirmed
      b.link->carrier_writable(now);
      kept += b.out.size();
      for (const packet& p : std::exchange(b.out, {})) a.link->receive(p.bytes(), now);
      for (const packet& p : std::exchange(a.out, {})) b.link->receive(p.bytes(), now);
    }
    CHECK(kept < 5000);
  }
}

TEST_CASE("an exception of the owner where its kept messages are sent leaves the call") {
  const stack_catalogue stacks = standard_stacks();
  end a(*stacks.find("plain_stream"), true), b(*stacks.find("plain_stream"), false);
  a.at_open = [](end& e) {
    while (e.say(0, 1)) {}
    e.throws = true;
  };
  bool was_thrown = false;
  try {
    meet(a, b);
  } catch (const std::runtime_error&) { was_thrown = true; }
  CHECK(was_thrown);
  CHECK(a.say(0, 1));  // the stack goes on
}

}  // namespace stack_down_test
