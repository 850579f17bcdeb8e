// The guarantee programs find bugs: each planted bug is found within 200 seeds, and fails again in
// the same way.
#include <doctest/doctest.h>

#include <string>

#include "garrick/net/testkit/exchange.hpp"
#include "garrick/net/testkit/explore_network.hpp"
#include "garrick/net/testkit/internal/finds.hpp"
#include "garrick/net/testkit/internal/planted_links.hpp"
#include "garrick/net/testkit/internal/stack_kinds.hpp"
#include "garrick/net/testkit/internal/standard_kinds.hpp"

namespace planted_layer_bugs_test {

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

/// Returns settings without faults: no stream is lost, so no missing message has an excuse.
exchange_settings quiet_settings() {
  return {.path = {.delay = ms(5), .jitter = ms(2)}, .settles = ms(35'000)};
}
/// Returns settings by which hosts crash, and messages of their earlier incarnations arrive late.
exchange_settings settings_with_crashes() {
  exchange_settings s = rough_settings();
  s.path.reordering = 0.3;
  s.faults = {.crashes = 1, .from = ms(200)};
  return s;
}

/// Checks that the program finds this bug with this text, and finds it again.
void finds(const stack_kind& kind, const std::string& text,
           const exchange_settings& s = rough_settings()) {
  finds_bug(kind.name, [&](simulated_network& net) { exchange(net, kind, s); }, text);
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
  finds(window_with<flaw::takes_any_number>(), "is in no mailbox");
  finds(window_with<flaw::repeats>(), "came twice");
  finds(window_with<flaw::acknowledges_arrival>(), "is in no mailbox");
  finds(window_with<flaw::forgets_timer>(), "was never reported");
  finds(window_with<flaw::reports_one_too_many>(), "is in no mailbox");
  finds(window_with<flaw::small_numbers>(), "came twice");
  finds(window_with<flaw::stale_header>(), "is in no mailbox");
  finds(window_with<flaw::trusts_any_answer>(), "is in no mailbox");
}

TEST_CASE("planted between layers: found") {
  finds(window_below<mischief::drops>(), "missing");
  finds(window_below<mischief::doubles>(), "came twice");
  finds(window_below<mischief::swaps>(), "missing");
  finds(window_below<mischief::alters>(), "was altered");
  finds(window_below<mischief::changes_lane>(), "came in lane");
  finds(window_below<mischief::reports>(), "is in no mailbox");
  finds(window_below<mischief::keeps_lent>(), "something came that was never sent");
  finds(framing_below<mischief::drops>(), "missing");
  finds(framing_below<mischief::doubles>(), "came twice");
  finds(framing_below<mischief::swaps>(), "missing");
}

TEST_CASE("planted in framing: half a frame that outlives its connection is found") {
  finds(framed_kind<forgetful<framing>>("forgetful framing"), "something came that was never sent");
}

TEST_CASE(
    "planted beneath slicing: messages out of order, and messages that never come, are found") {
  finds(plain_stream_kind<planted<mischief::swaps>>("plain_stream with swaps"),
        "came after a later one");
  finds(framing_below<mischief::lags>(), "was lost", quiet_settings());
  finds(window_below<mischief::doubts>(), "was reported as unknown, and the link lives",
        quiet_settings());
}

TEST_CASE("planted in session: datagrams of another session are found") {
  const stack_kind careless = ordered_datagram_kind<careless_detection>("careless");
  finds(careless, "came to a link that talks to another one", settings_with_crashes());
  finds(careless, "came to another link than those before it", settings_with_crashes());
}

TEST_CASE("planted beside the layers: a link's false report to its owner is found") {
  const stack_kind right = datagram_kind();
  finds(with_falsehood<falsehood::reports_twice>(right), "was reported twice");
  finds(with_falsehood<falsehood::reports_nothing>(right), "about nothing that it has sent");
  finds(with_falsehood<falsehood::invents>(right), "something came that was never sent");
  finds(with_falsehood<falsehood::renumbers>(right), " has never sent");
  finds(with_falsehood<falsehood::pads>(right), "came with another size");
  finds(with_falsehood<falsehood::speaks_after_down>(right),
        "a message came after the link went down", settings_with_crashes());
  finds(with_falsehood<falsehood::hears_after_down>(right), "heard something after `down`",
        settings_with_crashes());
}

// Lanes do not travel beneath its slicing, so no bug can change one there.
TEST_CASE("planted in the stack of streams: found") {
  finds(stream_kind<planted<mischief::drops>>("stream that drops"), "is missing");
  finds(stream_kind<planted<mischief::doubles>>("stream that doubles"), "came twice");
  finds(stream_kind<planted<mischief::swaps>>("stream that swaps"), "is missing");
  finds(stream_kind<planted<mischief::alters>>("stream that alters"), "was altered");
  finds(stream_kind<planted<mischief::lags>>("stream that lags"), "is missing");
}

TEST_CASE("planted in the stack of datagrams: found") {
  finds(datagram_kind<planted<mischief::drops>>("datagrams that drop"), "is missing");
  finds(datagram_kind<planted<mischief::doubles>>("datagrams that double"), "came twice");
  finds(datagram_kind<planted<mischief::swaps>>("datagrams that swap"), "is missing");
  finds(datagram_kind<planted<mischief::alters>>("datagrams that alter"), "was altered");
  finds(datagram_kind<planted<mischief::changes_lane>>("datagrams that change lanes"),
        "came in lane");
  finds(datagram_kind<planted<mischief::lags>>("datagrams that lag"), "was never reported");
}

TEST_CASE("without a planted bug the same programs find nothing") {
  const stack_kind kinds[] = {window_with<flaw::none>(),
                              window_below<mischief::none>(),
                              framing_below<mischief::none>(),
                              stream_kind<planted<mischief::none>>("stream"),
                              plain_stream_kind<planted<mischief::none>>("plain_stream"),
                              datagram_kind<planted<mischief::none>>("datagrams"),
                              with_falsehood<falsehood::none>(datagram_kind())};
  for (const stack_kind& k : kinds) {
    CAPTURE(k.name);
    const auto found = find_network_failure(
        seeds() / 2 + 1, [&](simulated_network& net) { exchange(net, k, rough_settings()); });
    CHECK_MESSAGE(!found.has_value(), found->text);
  }
}

}  // namespace planted_layer_bugs_test
