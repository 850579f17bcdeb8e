// The guarantee programs over the library's own stacks: each guarantee holds under all faults of
// the network.
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <tuple>

#include "garrick/net/testkit/exchange.hpp"
#include "garrick/net/testkit/explore_network.hpp"
#include "garrick/net/testkit/internal/planted.hpp"
#include "garrick/net/testkit/internal/standard_kinds.hpp"

namespace standard_guarantees_test {

using garrick::base::duration;
using namespace garrick::net;
using namespace garrick::net::testkit;
using namespace garrick::net::testkit::internal;

namespace {

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

constexpr path_settings rough{.delay = ms(5),
                              .jitter = ms(5),
                              .loss = 0.1,
                              .duplication = 0.05,
                              .reordering = 0.1,
                              .late_by = ms(20)};
constexpr path_settings still{.delay = ms(5)};

/// Returns faults so short that no peer is given up.
fault_plan short_faults() {
  return {.cuts = 2,
          .one_way_cuts = 1,
          .resets = 2,
          .half_opens = 1,
          .pauses = 1,
          .jumps = 1,
          .rates = 1,
          .storms = 1,
          // when the sessions are open: before, a lost stream ends its link
          .from = ms(500)};
}
fault_plan faults_with_crashes() {
  fault_plan f = short_faults();
  f.crashes = 2;
  return f;
}

}  // namespace

TEST_CASE("standard stacks: without faults everything arrives") {
  for (const stack_kind& k : {stream_kind(), plain_stream_kind(), datagram_kind(),
                              ordered_datagram_kind(), plain_datagram_kind()})
    explore_network(seeds() / 10 + 1, [&](simulated_network& net) {
      const exchange_result r =
          exchange(net, k, {.path = still, .settles = ms(5000), .may_go_down = false});
      net.require(r.sent == 120 && r.received == 120, k.name + ": not everything arrived");
    });
}

TEST_CASE("standard stacks: to_mailbox delivers everything through short faults") {
  for (const stack_kind& k : {stream_kind(), datagram_kind()})
    explore_network(seeds(), [&](simulated_network& net) {
      const exchange_result r = exchange(
          net, k,
          {.path = rough, .faults = short_faults(), .settles = ms(40'000), .may_go_down = false});
      net.require(r.received == r.sent && r.sent > 30,
                  k.name + ": of " + std::to_string(r.sent) + " messages " +
                      std::to_string(r.received) + " arrived, " + std::to_string(r.unknown) +
                      " are unknown");
    });
}

namespace {

/// Returns settings by which streams carry nothing any more, while new streams do.
exchange_settings with_stalls(path_settings path) {
  return {.messages = 150,
          .between = ms(200),
          .path = path,
          .faults = {.resets = 1,
                     .half_opens = 1,
                     .stalls = 4,
                     .from = ms(3'000),  // when the sessions are open at both ends
                     .until = ms(30'000),
                     .between = ms(6'000)},
          .settles = ms(40'000)};
}

}  // namespace

TEST_CASE("standard stacks: a stream that carries nothing any more is replaced, and nothing lost") {
  for (const path_settings& path : {still, rough})
    explore_network(seeds() / 4 + 1, [&](simulated_network& net) {
      exchange_settings s = with_stalls(path);
      s.may_go_down = false;
      const exchange_result r = exchange(net, stream_kind(), s);
      net.require(
          r.received == r.sent && r.sent > 200,
          "of " + std::to_string(r.sent) + " messages " + std::to_string(r.received) + " arrived");
    });
}

TEST_CASE("standard stacks: stopped processes and cut ways end no session within `down_after`") {
  // Each silence is long enough for connections beside the suspected one. A resumed process acts in
  // one instant: on a way without jitter its effects arrive in one instant, too.
  const fault_plan silences{.cuts = 1,
                            .resets = 1,
                            .half_opens = 1,
                            .pauses = 3,
                            .from = ms(3'000),  // when the sessions are open at both ends
                            .until = ms(20'000),
                            .between = ms(3'000),
                            .longest = ms(3'000)};
  for (const path_settings& path : {still, rough})
    explore_network(seeds() / 8 + 1, [&](simulated_network& net) {
      const exchange_result r = exchange(net, stream_kind(),
                                         {.messages = 60,
                                          .between = ms(300),
                                          .path = path,
                                          .faults = silences,
                                          .settles = ms(20'000),
                                          .may_go_down = false});
      net.require(
          r.received == r.sent && r.sent > 80,
          "of " + std::to_string(r.sent) + " messages " + std::to_string(r.received) + " arrived");
    });
}

TEST_CASE("standard stacks: without redelivery a stream that carries nothing ends its session") {
  std::size_t downs = 0;
  explore_network(seeds() / 4 + 1, [&](simulated_network& net) {
    downs += exchange(net, plain_stream_kind(), with_stalls(still)).downs;
  });
  CHECK(downs > seeds() / 4);
}

TEST_CASE("standard stacks: to_mailbox delivers everything while the path becomes narrower") {
  for (const stack_kind& k : {datagram_kind()})
    explore_network(seeds(), [&](simulated_network& net) {
      const exchange_result r = exchange(
          net, k,
          {.messages = 200,
           .path = rough,
           .faults = {.narrowings = 1, .from = ms(500), .until = ms(1500), .between = ms(300)},
           .settles = ms(60'000),
           .may_go_down = false});
      net.require(r.received == r.sent && r.sent > 100,
                  k.name + ": of " + std::to_string(r.sent) + " messages " +
                      std::to_string(r.received) + " arrived");
    });
}

TEST_CASE("standard stacks: to_mailbox reports the outcome of each message, through crashes, too") {
  std::size_t unknown = 0, downs = 0;
  for (const stack_kind& k : {stream_kind(), datagram_kind()})
    explore_network(seeds(), [&](simulated_network& net) {
      const exchange_result r =
          exchange(net, k, {.path = rough, .faults = faults_with_crashes(), .settles = ms(60'000)});
      unknown += r.unknown;
      downs += r.downs;
    });
  CHECK(unknown > 0);
  CHECK(downs > 0);
}

TEST_CASE("standard stacks: a second session of the same two lives gets nothing of the first") {
  std::size_t downs = 0, received = 0;
  for (const stack_kind& k : {stream_kind(), datagram_kind(), plain_stream_kind(),
                              ordered_datagram_kind(), plain_datagram_kind()})
    explore_network(seeds() / 4 + 1, [&](simulated_network& net) {
      // Some datagrams arrive when their session has ended and the next one has begun.
      path_settings late = rough;
      late.late_by = ms(25'000);
      const exchange_result r = exchange(net, k,
                                         {.messages = 100,
                                          .between = ms(700),
                                          .path = late,
                                          .faults = {.cuts = 1,
                                                     .one_way_cuts = 1,
                                                     .from = ms(500),
                                                     .until = ms(70'000),
                                                     .between = ms(10'000),
                                                     .longest = ms(30'000)},
                                          .settles = ms(120'000),
                                          .same_life = true});
      downs += r.downs;
      received += r.received;
    });
  CHECK(downs > seeds());
  CHECK(received > seeds() * 100);
}

TEST_CASE("standard stacks: at most once, and in order where that is promised") {
  std::size_t sent = 0, received = 0;
  for (const stack_kind& k : {plain_stream_kind(), ordered_datagram_kind(), plain_datagram_kind()})
    explore_network(seeds(), [&](simulated_network& net) {
      const exchange_result r =
          exchange(net, k, {.path = rough, .faults = faults_with_crashes(), .settles = ms(40'000)});
      sent += r.sent;
      received += r.received;
    });
  CHECK(received < sent);
  CHECK(received > sent / 2);
}

TEST_CASE("standard stacks: messages of an earlier life come late, and to no session") {
  path_settings late = rough;
  late.reordering = 0.3;
  late.late_by = ms(400);
  for (const stack_kind& k : {stream_kind(), plain_stream_kind(), datagram_kind(),
                              ordered_datagram_kind(), plain_datagram_kind()})
    explore_network(seeds() / 4 + 1, [&](simulated_network& net) {
      std::ignore = exchange(
          net, k, {.path = late, .faults = {.crashes = 1, .from = ms(200)}, .settles = ms(40'000)});
    });
}

}  // namespace standard_guarantees_test
