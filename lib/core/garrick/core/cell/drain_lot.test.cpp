// Who waits for whose mailbox: a wait that would close a circle is seen, any other is allowed.
#include <garrick/core/cell/drain_lot.hpp>

#include <doctest/doctest.h>

using garrick::core::drain_lot;

namespace {
constexpr std::uint64_t a = 1, b = 2, c = 3, d = 4, none = 0;
}

TEST_CASE(
    "drain lot: a receiver whose own send waits for somebody else is waited for: back-pressure "
    "goes up a pipeline") {
  drain_lot lot;
  const drain_lot::waiting_scope middle(lot, c, b, none);
  const drain_lot::waiting_scope source(lot, b, a, none);
  CHECK_FALSE(middle.closes_circle());
  CHECK_FALSE(source.closes_circle());
}

TEST_CASE("drain lot: the wait that would close a circle is seen, whatever its length") {
  drain_lot lot;
  const drain_lot::waiting_scope first(lot, b, a, none);
  {
    const drain_lot::waiting_scope back(lot, a, b, none);
    CHECK(back.closes_circle());
  }
  const drain_lot::waiting_scope second(lot, c, b, none);
  const drain_lot::waiting_scope third(lot, d, c, none);
  CHECK_FALSE(third.closes_circle());
  const drain_lot::waiting_scope fourth(lot, a, d, none);
  CHECK(fourth.closes_circle());
}

TEST_CASE("drain lot: the sender that runs another in place stands still with it") {
  drain_lot lot;
  const drain_lot::waiting_scope other(lot, a, c, none);  // c waits for a, ...
  // ... whose send runs b in place, which sends to c
  const drain_lot::waiting_scope nested(lot, c, b, a);
  CHECK(nested.closes_circle());
}

TEST_CASE(
    "drain lot: a wait that has ended is forgotten, and a thread without an actor closes no "
    "circle") {
  drain_lot lot;
  { const drain_lot::waiting_scope over(lot, a, b, none); }
  const drain_lot::waiting_scope later(lot, b, a, none);
  CHECK_FALSE(later.closes_circle());
  const drain_lot::waiting_scope outside(lot, a, none, none);
  CHECK_FALSE(outside.closes_circle());
}
