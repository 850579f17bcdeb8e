// The programs find bugs: each of these was planted, is found within 200 seeds, and fails again in
// the same way.
#include <doctest/doctest.h>

#include <string>

#include "garrick/net/testkit/exchange.hpp"
#include "garrick/net/testkit/explore_network.hpp"
#include "garrick/net/testkit/internal/stack_kinds.hpp"

using garrick::base::duration;
using namespace garrick::net;
using namespace garrick::net::testkit;
using namespace garrick::net::testkit::internal;

namespace {

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

exchange_settings rough_settings() {
  return {.path = {.delay = ms(5),
                   .jitter = ms(5),
                   .loss = 0.1,
                   .duplication = 0.05,
                   .reordering = 0.1,
                   .late_by = ms(400)},
          .faults = {.cuts = 1, .resets = 2, .pauses = 1, .storms = 1},
          .settles = ms(35'000)};
}

/// The programs find this in that way, and again.
void finds(const stack_kind& kind, const std::string& text) {
  CAPTURE(kind.name);
  const auto found = find_network_failure(
      200, [&](simulated_network& net) { exchange(net, kind, rough_settings()); });
  REQUIRE_MESSAGE(found.has_value(), kind.name << " was not found");
  CHECK(found->replays);
  CHECK_MESSAGE(found->text.find(text) != std::string::npos, found->text);
  CHECK(found->text.find("the last events of the network") != std::string::npos);
}

template <flaw F>
stack_kind window_with() {
  return window_kind<basic_window<F>>("a window's flaw " + std::to_string(static_cast<int>(F)));
}
template <mischief M>
stack_kind window_below() {
  return window_kind<planted<M>, basic_window<flaw::none>>("mischief above a window " +
                                                           std::to_string(static_cast<int>(M)));
}
template <mischief M>
stack_kind framing_below() {
  return framed_kind<planted<M>, framing>("mischief above framing " +
                                          std::to_string(static_cast<int>(M)));
}

}  // namespace

TEST_CASE("planted in a reliable layer: found") {
  finds(window_with<flaw::takes_any_number>(), "");
  finds(window_with<flaw::repeats>(), "came twice");
  finds(window_with<flaw::acknowledges_arrival>(), "is in nobody's mailbox");
  finds(window_with<flaw::forgets_timer>(), "was never reported");
  finds(window_with<flaw::reports_one_too_many>(), "is in nobody's mailbox");
  finds(window_with<flaw::small_numbers>(), "came twice");
  finds(window_with<flaw::stale_header>(), "");
  finds(window_with<flaw::trusts_any_answer>(), "is in nobody's mailbox");
}

TEST_CASE("planted between layers: found") {
  finds(window_below<mischief::drops>(), "missing");
  finds(window_below<mischief::doubles>(), "came twice");
  finds(window_below<mischief::swaps>(), "missing");
  finds(window_below<mischief::alters>(), "was altered");
  finds(window_below<mischief::changes_lane>(), "came in lane");
  finds(window_below<mischief::reports>(), "is in nobody's mailbox");
  finds(window_below<mischief::keeps_lent>(), "");
  finds(framing_below<mischief::drops>(), "missing");
  finds(framing_below<mischief::doubles>(), "came twice");
  finds(framing_below<mischief::swaps>(), "missing");
}

TEST_CASE("planted in framing: half a frame that outlives its connection is found") {
  finds(framed_kind<forgetful<framing>>("forgetful framing"), "");
}

TEST_CASE("without a planted bug the same programs find nothing") {
  for (const stack_kind& k : {window_with<flaw::none>(), window_below<mischief::none>(),
                              framing_below<mischief::none>()}) {
    CAPTURE(k.name);
    const auto found = find_network_failure(
        seeds() / 2 + 1, [&](simulated_network& net) { exchange(net, k, rough_settings()); });
    CHECK_MESSAGE(!found.has_value(), found->text);
  }
}
