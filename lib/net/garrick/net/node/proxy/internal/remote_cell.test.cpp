#include "garrick/net/node/proxy/internal/remote_cell.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "garrick/system/actor_system.hpp"

namespace remote_cell_test {

using namespace garrick;
using namespace garrick::net;

namespace {

constexpr std::uint32_t most = 4;
constexpr std::size_t bytes_a_credit = large_message;
/// A message counts as large from this weight on.
constexpr std::uint32_t large = 3;

/// The credit of a link that only this test takes or confirms.
struct link_credit {
  system::actor_system actors;
  internal::answering_cell* const cell;
  const core::no_wait_scope nobody_waits;

  link_credit()
      : cell(new internal::answering_cell(
            actors.env(), connection(), {},
            {.most_under_way = most, .most_bytes_waiting = 2 * most * bytes_a_credit})) {}
  link_credit(const link_credit&) = delete;
  link_credit& operator=(const link_credit&) = delete;
  ~link_credit() { cell->drop_strong(); }

  void use_up() const {
    while (cell->credit() > 0) REQUIRE(cell->take_credit());
  }
  /// Returns the number of small messages that need not wait behind large ones, and takes their
  /// credit.
  [[nodiscard]] std::uint32_t that_pass() const {
    std::uint32_t n = 0;
    while (cell->pass_large_ones()) ++n;
    return n;
  }
};

}  // namespace

TEST_CASE("a link's credit: small messages pass as far as large ones have used it up") {
  const link_credit of;
  CHECK(of.cell->weight_of(bytes_a_credit - 1) == 1);
  CHECK(of.cell->weight_of(2 * bytes_a_credit) == large);
  CHECK_FALSE(of.cell->is_large(large - 1));
  CHECK(of.cell->is_large(large));
  REQUIRE(of.cell->take_credit());
  CHECK(of.that_pass() == 0);  // there is credit
  of.cell->weigh(large);
  CHECK(of.cell->credit() == most - large);
  of.use_up();
  CHECK(of.that_pass() == large);
}

TEST_CASE("a link's credit: credit that small messages have used up lets none pass") {
  const link_credit of;
  REQUIRE(of.cell->take_credit());
  of.cell->weigh(large - 1);
  of.use_up();
  CHECK(of.that_pass() == 0);
  of.cell->give_back(large - 1);
  CHECK(of.cell->credit() == large - 1);
  REQUIRE(of.cell->take_credit());
  of.cell->weigh(large);  // nothing of this was given back
  CHECK(of.cell->credit() == -1);
  CHECK(of.that_pass() == large - 1);
}

TEST_CASE("a link's credit: a large message is counted by its last weight, until it is over") {
  // the weights that the message had, one after the other
  for (const auto& weights : {std::vector{1U, 3U}, {1U, 3U, 5U}, {1U, 2U, 4U}})
    for (const bool sent : {false, true}) {
      const link_credit of;
      const std::uint32_t last = weights.back();
      CAPTURE(last);
      REQUIRE(of.cell->take_credit());
      for (std::size_t i = 1; i != weights.size(); ++i) of.cell->weigh(weights[i], weights[i - 1]);
      of.use_up();
      CHECK(of.that_pass() == std::min(last, most));
      if (sent)
        of.cell->confirm(last, last);
      else
        of.cell->give_back(last);
      of.use_up();
      CHECK(of.that_pass() == 0);
    }
}

}  // namespace remote_cell_test
