#include "garrick/net/transport/internal/gate.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "garrick/base/values/random.hpp"

namespace gate_test {

using namespace garrick;
using net::accept_limits;
using net::connection_count;
using net::internal::gate;
using net::internal::ticket;
using net::internal::ticket_holder;

namespace {

const base::instant start = base::instant() + base::duration::seconds(1);

base::random_source draws(1);
std::uint64_t seeded() { return draws(); }
std::uint64_t always_first() { return 0; }
std::uint64_t fails() { throw 1; }

/// A connection with a ticket. When it gives way, it ends at once, or keeps its descriptor.
struct guest final : ticket_holder {
  void give_way() noexcept override {
    gave_way = true;
    if (ends_at_once) place.reset();
  }
  std::unique_ptr<ticket> place;
  bool ends_at_once = true;
  bool gave_way = false;
};

std::shared_ptr<guest> enter(const std::shared_ptr<gate>& at, bool ends_at_once = true) {
  auto who = std::make_shared<guest>();
  who->place = ticket::take(at, start);
  if (who->place == nullptr) return nullptr;
  who->ends_at_once = ends_at_once;
  REQUIRE(who->place->hold(who));
  return who;
}

TEST_CASE("doors that count together have one limit, and drop only their own connections") {
  const accept_limits limits{.connections = 3, .together = std::make_shared<connection_count>()};
  const auto one = std::make_shared<gate>(limits, 0, &always_first);
  const auto other = std::make_shared<gate>(limits, 0, &always_first);
  auto first = enter(one);
  auto second = enter(one);
  REQUIRE(second->place->admit());
  auto third = enter(other);
  REQUIRE(third->place->admit());
  CHECK(enter(other) == nullptr);  // all places are taken, and nobody waits at this door
  auto fourth = enter(one);
  REQUIRE(fourth != nullptr);
  CHECK(first->gave_way);
  fourth.reset();
  CHECK(enter(other) != nullptr);
  const auto alone = std::make_shared<gate>(accept_limits{.connections = 3});
  CHECK(enter(alone) != nullptr);
}

TEST_CASE("few connections are allowed few dropped ones that have yet to end") {
  const auto at =
      std::make_shared<gate>(accept_limits{.connections = 4, .pending = 4}, 0, &always_first);
  std::vector<std::shared_ptr<guest>> all;
  for (int i = 0; i != 6; ++i) {
    all.push_back(enter(at, false));
    REQUIRE(all.back() != nullptr);
  }
  CHECK(at->counters().connections == 6);
  CHECK(enter(at) == nullptr);
}

TEST_CASE("a full door drops one that waits, and never an admitted one") {
  const auto at = std::make_shared<gate>(accept_limits{.pending = 2}, 0, &always_first);
  const auto peer = enter(at);
  REQUIRE(peer->place->admit());
  const auto first = enter(at);
  const auto second = enter(at);
  CHECK(at->counters().dropped == 0);
  const auto third = enter(at);
  REQUIRE(third != nullptr);
  CHECK(first->gave_way);
  CHECK(!second->gave_way);
  CHECK(at->counters().dropped == 1);
  CHECK(at->counters().refused == 1);
  CHECK(at->counters().pending == 2);
  CHECK(at->counters().connections == 3);
  for (int i = 0; i != 100; ++i) REQUIRE(enter(at) != nullptr);
  CHECK(!peer->gave_way);
  CHECK(at->counters().pending == 1);  // the guests of the loop have gone
}

TEST_CASE("at the limit of connections one that waits gives way; without one, newcomers leave") {
  const auto at = std::make_shared<gate>(accept_limits{.connections = 2}, 0, &always_first);
  const auto first = enter(at);
  const auto second = enter(at);
  const auto third = enter(at);
  REQUIRE(third != nullptr);
  CHECK(first->gave_way);
  CHECK(at->counters().connections == 2);
  REQUIRE(second->place->admit());
  REQUIRE(third->place->admit());
  CHECK(enter(at) == nullptr);
  CHECK(at->counters().connections == 2);
  second->place.reset();
  CHECK(enter(at) != nullptr);
}

TEST_CASE("dropped ones that have yet to end are as few as may wait, and are not admitted") {
  const auto at = std::make_shared<gate>(accept_limits{.pending = 2}, 0, &always_first);
  std::vector<std::shared_ptr<guest>> all;
  for (int i = 0; i != 4; ++i) all.push_back(enter(at, false));
  CHECK(at->counters().connections == 4);
  CHECK(at->counters().dropped == 2);
  CHECK(enter(at) == nullptr);
  for (const auto& who : all) CHECK(who->place->admit() == !who->gave_way);
  for (const auto& who : all)
    if (who->gave_way) who->place.reset();
  CHECK(at->counters().connections == 2);
  CHECK(at->counters().pending == 0);
}

TEST_CASE("a ticket that changes hands in the middle of its drop tells the next holder") {
  const auto at = std::make_shared<gate>(accept_limits{.pending = 1}, 0, &always_first);
  const auto first = enter(at, false);
  const auto second = enter(at);
  REQUIRE(first->gave_way);
  const auto next = std::make_shared<guest>();
  CHECK(!first->place->hold(next));
  CHECK(first->place->deadline() == start + at->limits.admission);
}

TEST_CASE("a draw that fails drops no connection") {
  const auto at = std::make_shared<gate>(accept_limits{.pending = 1}, 0, &fails);
  const auto first = enter(at);
  CHECK_THROWS_AS(static_cast<void>(ticket::take(at, start)), int);
  CHECK(!first->gave_way);
  CHECK(at->counters().pending == 1);
  CHECK(at->counters().connections == 1);
}

TEST_CASE("a flood that renews its connections lets most newcomers stay for some round trips") {
  draws = base::random_source(7);
  const auto at = std::make_shared<gate>(accept_limits{.pending = 8}, 0, &seeded);
  std::vector<std::shared_ptr<guest>> flood;
  const auto renew = [&] { flood.push_back(enter(at)); };
  for (int i = 0; i != 8; ++i) renew();
  // Each newcomer needs the time in which the flood renews three connections.
  constexpr int newcomers = 1000;
  int let_in = 0;
  for (int i = 0; i != newcomers; ++i) {
    const auto honest = enter(at);
    for (int k = 0; k != 3; ++k) renew();
    let_in += honest->place != nullptr && honest->place->admit();
  }
  CHECK(let_in > 620);  // (7/8)^3 is 0.67
  CHECK(let_in < 720);
}

TEST_CASE("each of those that wait is drawn") {
  const auto at = std::make_shared<gate>(accept_limits{.pending = 4});  // by the system's numbers
  std::set<std::size_t> drawn;
  for (int round = 0; round != 1000 && drawn.size() != 4; ++round) {
    std::vector<std::shared_ptr<guest>> all;
    for (int i = 0; i != 4; ++i) all.push_back(enter(at));
    const auto newcomer = enter(at);
    for (std::size_t i = 0; i != all.size(); ++i)
      if (all[i]->gave_way) drawn.insert(i);
    CHECK(!newcomer->gave_way);
  }
  CHECK(drawn.size() == 4);
}

}  // namespace

}  // namespace gate_test
