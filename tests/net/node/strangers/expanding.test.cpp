// A peer whose messages expand to a thousand times their bytes, beside an honest peer: the time
// that it may cost is bounded, and the honest peer's messages arrive.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/wire/codec.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "net/node/simulated_machines.hpp"
#include "net/node/strangers/stranger.hpp"

namespace expanding_test {

using namespace garrick;
using kind = net::frame_kind;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

/// One byte on the wire if its text is empty, and 1 KB in memory.
struct wide {
  std::array<std::uint64_t, 127> unused{};
  std::uint8_t number = 0;
};
}  // namespace expanding_test

template <>
struct garrick::net::codec<expanding_test::wide> {
  static void encode(byte_writer& out, const expanding_test::wide& w) { out.fixed(w.number); }
  static void decode(byte_reader& in, expanding_test::wide& w) {
    w.number = in.fixed<std::uint8_t>();
  }
};

namespace expanding_test {

struct flood {
  std::vector<wide> all;
};
struct ping {
  std::uint64_t number = 0;
};
struct probe {
  std::uint8_t number = 0;
};
struct forward {
  std::uint64_t number = 0;
};
using desk_type = protocol<void(flood), std::uint64_t(ping), std::uint64_t(probe)>;

constexpr std::size_t elements = 65000;
constexpr std::size_t expands_to = elements * sizeof(wide);

class desk : public actor<desk_type> {
 public:
  desk(int& floods, int& pings) : floods_(floods), pings_(pings) {}
  void on(const flood& f) {
    CHECK(f.all.size() == elements);
    ++floods_;
  }
  std::uint64_t on(ping p) {
    ++pings_;
    return p.number;
  }
  std::uint64_t on(probe) { return 7; }

 private:
  int& floods_;
  int& pings_;
};

net::frame frame_for(kind k, net::actor_id to, const base::message_type* content,
                     std::uint64_t number = 0) {
  return {.kind = k,
          .receiver = to,
          .sender = {9, 9},
          .number = number,
          .type = net::protocol_table_of<desk_type>().by_content(content)->message.type};
}

struct with_flood {
  int floods = 0;
  int pings = 0;
  three_machines m;
  ref<desk_type> at = m.a.system.spawn<desk>(lent(floods), lent(pings));
  tests::stranger s{m, m.a, "a"};
  net::actor_id receiver;
  const flood huge{std::vector<wide>(elements)};

  with_flood() {
    REQUIRE(m.a.node.publish<desk_type>("desk", at).has_value());
    receiver = s.resolve<desk_type>("desk");
    REQUIRE(receiver);
  }
  void floods_with(int times) {
    s.repeat(times, frame_for(kind::message, receiver, &base::message_type_of<flood>), huge);
  }
};

TEST_CASE("expanding: decoded bytes stay within the budget, and an honest peer is served") {
  with_flood at;
  const result<ref<desk_type>> found = at.m.b.node.remote<desk_type>(at.m.a.at, "desk");
  REQUIRE(found.has_value());
  const base::instant begin = at.m.a.system.env().clock->now();
  at.floods_with(60);  // 3.9 MB, in 50 ms
  int answered = 0;
  for (std::uint64_t i = 0; i != 100; ++i) {
    const auto r = at.m.b.system.request(*found, ping{i}).get();
    answered += r.has_value() && *r == i ? 1 : 0;
  }
  CHECK(answered == 100);
  CHECK(at.m.a.system.env().clock->now() - begin < ms(1000));
  CHECK(at.floods >= 1);
  CHECK(at.s.counted("held_lanes") == 1);
  const auto within = [&] {
    const auto passed = static_cast<double>((at.m.a.system.env().clock->now() - begin).count());
    const double mib = 1 << 20;
    const double allowed = 64 * mib + 32 * mib * passed * 1e-9 + 60.0 * (elements + 4) * 32;
    return at.floods * static_cast<double>(expands_to) <=
           allowed + 64 * mib + static_cast<double>(expands_to);
  };
  CHECK(within());
  for (int second = 0; second != 200 && at.floods != 60; ++second) {
    at.m.a.system.run_for(ms(1000));
    REQUIRE(within());
  }
  CHECK(at.floods == 60);  // all come in the end
  CHECK(at.s.counted("held_lanes") == 0);
  CHECK(at.s.counted("not_decoded") == 0);
}

TEST_CASE("expanding: while the budget is overdrawn, signals pass and other lanes wait in turn") {
  with_flood at;
  at.floods_with(4);
  const int before = at.floods;
  REQUIRE(before < 4);
  at.s.say({.kind = kind::monitor, .receiver = {5, 5}, .sender = {9, 9}, .number = 77});
  CHECK(at.s.count(kind::down) == 1);
  CHECK(at.floods == before);
  // The answers of other actors wait, too, in lanes of their own.
  const net::frame of_flood = frame_for(kind::message, at.receiver, &base::message_type_of<flood>);
  net::frame question = frame_for(kind::request, at.receiver, &base::message_type_of<probe>, 5);
  while (net::lane_of(question) <= net::lane_of(of_flood)) ++question.sender.low;
  at.s.say(question, probe{});
  CHECK(at.s.count(kind::response) == 0);
  CHECK(at.s.counted("held_lanes") == 2);
  at.m.a.system.run_for(ms(2500));
  CHECK(at.floods == before + 1);
  CHECK(at.s.count(kind::response) == 0);
  at.m.a.system.run_for(ms(2500));  // the lane of the question has its turn before the fourth
  CHECK(at.s.count(kind::response) == 1);
  at.m.a.system.run_for(ms(5000));
  CHECK(at.floods == 4);
}

TEST_CASE("expanding: the sender's window fills, since held messages are not delivered") {
  with_flood at;
  at.floods_with(200);  // 13 MB of its window of 16
  CHECK(at.floods < 10);
  CHECK(at.s.confirmed() <= static_cast<std::uint64_t>(at.floods) + 1);  // and the question
  at.m.a.system.run_for(ms(10000));
  CHECK(at.floods < 20);
  CHECK(at.s.confirmed() <= static_cast<std::uint64_t>(at.floods) + 1);
}

TEST_CASE("expanding: protocols that a peer describes are paid for, too") {
  with_flood at;
  net::resolve_order order{"desk", {}};
  for (std::uint32_t i = 0; i != 4096; ++i)
    order.protocol.types.push_back(
        {net::schema_kind::aggregate, "t" + std::to_string(i), 0, {(i + 1) % 4096}});
  order.protocol.signatures.push_back({"t0", 0, {}});
  at.s.repeat(200, {.kind = kind::resolve, .number = 1}, order);
  // Each costs 2 MiB: 32 at once, and 16 a second.
  const std::int64_t refused = at.s.count(kind::error);
  CHECK(refused >= 32);
  CHECK(refused <= 66);
  at.m.a.system.run_for(ms(2000));
  CHECK(at.s.count(kind::error) <= refused + 40);
  at.m.a.system.run_for(ms(10000));
  CHECK(at.s.count(kind::error) == 200);
}

}  // namespace expanding_test
