// The requests of a peer: each is open until it is answered or cancelled, and its deadline is kept
// no longer.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/link/internal/peer_requests.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdint>
#include <optional>

#include "net/node/link/asking_cell.hpp"

namespace peer_requests_test {

using namespace garrick;
using namespace garrick::net;
using internal::peer_requests;
using internal::wanted_requests;

const base::instant soon = base::instant::at(base::duration::seconds(1));

struct fixture {
  wanted_requests wanted{8, internal::peer_hash(1)};
  peer_requests of{wanted, internal::peer_hash(1)};

  void open(std::uint64_t number, std::optional<base::instant> until = {}) {
    REQUIRE(of.is_free(number));
    of.open(number, {{1, 1}, {2, 2}, nullptr, 3}, until);
  }
};

TEST_CASE("requests of a peer: a number is in use until its answer") {
  fixture f;
  CHECK_FALSE(f.of.is_free(0));
  CHECK_FALSE(f.of.is_free(core::envelope::id_mask + 1));
  f.open(4);
  f.open(5, soon);
  CHECK(f.of.size() == 2);
  CHECK_FALSE(f.of.is_free(4));
  CHECK_FALSE(f.of.is_free(5));
  CHECK(f.wanted.until(4).is_never());
  CHECK(f.wanted.until(5) == soon);
  REQUIRE(f.of.is_open(f.of.find(5)));
  CHECK(f.of.take(f.of.find(5)).asked == actor_id{2, 2});
  CHECK_FALSE(f.of.is_open(f.of.find(5)));
  CHECK(f.wanted.size() == 0);
  CHECK(f.of.is_free(5));
}

TEST_CASE("requests of a peer: a cancelled one is not wanted, until its answer comes") {
  fixture f;
  f.open(4);
  CHECK_FALSE(f.of.cancel(4));
  CHECK(f.of.size() == 0);
  CHECK(f.wanted.until(4) < base::instant{});
  CHECK_FALSE(f.of.is_free(4));
  CHECK_FALSE(f.of.cancel(4));  // a second time
  f.of.answered_late(4);
  CHECK(f.of.is_free(4));
  CHECK_FALSE(f.of.cancel(9));  // no such request
  CHECK(f.of.is_free(9));
}

TEST_CASE("requests of a peer: one that was handed on is cancelled where it is now") {
  fixture f;
  garrick::testkit::test_system system;
  int freed = 0;
  auto* const elsewhere = new link_test::asking_cell(system.env(), freed);
  f.open(4, soon);
  CHECK(f.of.hand_on(4, *elsewhere));
  CHECK_FALSE(f.of.hand_on(5, *elsewhere));  // answered meanwhile
  elsewhere->drop_strong();
  CHECK(freed == 0);
  {
    const core::any_ref told = f.of.cancel(4);
    REQUIRE(told);
    CHECK(core::handle_access::get(told) == elsewhere);
  }
  CHECK(freed == 1);
  CHECK(f.wanted.size() == 0);  // an answer may never come
}

TEST_CASE("requests of a peer: at the end none is open") {
  fixture f;
  f.open(4);
  f.open(5);
  CHECK(f.of.end().size() == 2);
  CHECK(f.of.size() == 0);
}

}  // namespace peer_requests_test
