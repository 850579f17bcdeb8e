// The guarantee programs over every stack: each guarantee holds under all faults of the network.
#include <doctest/doctest.h>

#include "garrick/net/testkit/exchange.hpp"
#include "garrick/net/testkit/explore_network.hpp"
#include "garrick/net/testkit/internal/stack_kinds.hpp"

namespace guarantees_test {

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

stack_kind framed() { return framed_kind<framing>("framed"); }
stack_kind reliable() { return window_kind<basic_window<flaw::none>>("window"); }
stack_kind bare() {
  stack_kind k = window_kind<planted<mischief::none>>("bare datagrams");
  k.promises = intact;
  return k;
}

/// The share of sent messages that have arrived, over all seeds. One seed alone may lose all, so
/// the share is judged only if there were several.
struct share {
  std::size_t seeds = 0, sent = 0, received = 0;
  void add(const exchange_result& r) {
    ++seeds;
    sent += r.sent;
    received += r.received;
  }
  void check() const {
    if (seeds < 10) return;
    CHECK(received < sent);
    CHECK(received > sent / 3);
  }
};

}  // namespace

TEST_CASE("over a network without faults everything arrives, over every stack") {
  for (const stack_kind& k : {framed(), reliable(), bare()})
    explore_network(seeds() / 4 + 1, [&](simulated_network& net) {
      const exchange_result r = exchange(net, k, {.settles = ms(2000), .may_go_down = false});
      net.require(r.sent == 120 && r.received == 120, k.name + ": not everything arrived");
    });
}

TEST_CASE("bare datagrams are lost and doubled, and never altered") {
  share all;
  explore_network(seeds(), [&](simulated_network& net) {
    const exchange_result r = exchange(
        net, bare(), {.path = rough, .faults = {.cuts = 1, .pauses = 1}, .settles = ms(2000)});
    all.add(r);
  });
  all.check();
}

TEST_CASE("framing: each connection's messages come in order, once, without a gap") {
  share all;
  explore_network(seeds(), [&](simulated_network& net) {
    const exchange_result r = exchange(net, framed(),
                                       {.path = rough,
                                        .faults = {.cuts = 1,
                                                   .one_way_cuts = 1,
                                                   .resets = 3,
                                                   .half_opens = 1,
                                                   .pauses = 1,
                                                   .crashes = 1,
                                                   .jumps = 1,
                                                   .rates = 1,
                                                   .storms = 1},
                                        .settles = ms(40'000)});
    all.add(r);
  });
  all.check();
}

TEST_CASE("a reliable layer over datagrams delivers and reports everything, once and in order") {
  explore_network(seeds(), [&](simulated_network& net) {
    const exchange_result r = exchange(
        net, reliable(),
        {.path = rough,
         .faults = {.cuts = 1, .one_way_cuts = 1, .pauses = 1, .jumps = 1, .rates = 1, .storms = 1},
         .may_go_down = false});
    net.require(r.received == r.sent && r.sent > 60, "not everything arrived");
  });
}

}  // namespace guarantees_test
