// The budget for decoding a peer's messages, in a time that the tests choose.
#include <garrick/net/node/internal/decoding_budget.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include "garrick/base/values/random.hpp"

namespace decoding_budget_test {

using namespace garrick;
using budget = net::internal::decoding_budget;

constexpr base::duration ms(std::int64_t n) { return base::duration::milliseconds(n); }
constexpr base::instant start = base::instant::at(ms(5000));
constexpr std::size_t mib = std::size_t{1} << 20;

TEST_CASE("decoding budget: it begins with 64 MiB, and a message may overdraw it") {
  budget b(start);
  b.pay(64 * mib);
  CHECK_FALSE(b.is_overdrawn());
  b.pay(1);
  CHECK(b.is_overdrawn());
  CHECK(b.left() == -1);
  budget c(start);
  c.pay(100 * mib);
  CHECK(c.left() == -36 * std::int64_t{mib});
}

TEST_CASE("decoding budget: each byte that is received adds 32, up to 64 MiB") {
  budget b(start);
  b.received(1000);
  CHECK(b.left() == budget::most);
  b.pay(65 * mib);
  b.received(mib / 32);
  CHECK(b.left() == 0);
  CHECK_FALSE(b.is_overdrawn());
  b.received(std::size_t{1} << 32);
  CHECK(b.left() == budget::most);
}

TEST_CASE("decoding budget: a second adds 32 MiB, up to 64") {
  budget b(start);
  b.pay(96 * mib);
  CHECK(b.fill(start + ms(500)));
  CHECK(b.left() == -16 * std::int64_t{mib});
  CHECK(b.fill(start + ms(500)));  // the same time adds nothing
  CHECK(b.fill(start + ms(400)));  // nor does an earlier one
  CHECK(b.left() == -16 * std::int64_t{mib});
  CHECK_FALSE(b.fill(start + ms(1000)));
  CHECK(b.left() == 0);
  CHECK_FALSE(b.fill(start + ms(1'000'000'000)));
  CHECK(b.left() == budget::most);
  budget never(base::instant::at({}));
  never.pay(1000 * mib);
  CHECK_FALSE(never.fill(base::instant::at(
      base::duration::nanoseconds(std::numeric_limits<std::int64_t>::max() - 1))));
  CHECK(never.left() == budget::most);
}

TEST_CASE("decoding budget: at its deadline it is not overdrawn, and just before it is") {
  for (std::uint64_t seed = 0; seed != 1000; ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    budget b(start);
    b.pay(64 * mib + 1 + random.below(random.below(2) == 0 ? 100 : ~std::uint32_t{0}));
    const base::instant at = start + base::duration::nanoseconds(random.below(1000));
    if (!b.fill(at)) continue;
    const base::instant due = b.deadline();
    budget early = b;
    CHECK(early.fill(due - base::duration::microseconds(1)));
    CHECK_FALSE(b.fill(due));
  }
  // Many looks lose less than a byte each, and no look is in vain.
  budget b(start);
  b.pay(65 * mib);
  int looks = 0;
  for (base::instant now = start; b.fill(now); now = b.deadline()) REQUIRE(++looks < 5);
}

TEST_CASE("decoding budget: the payments stay within bytes, time and the last message") {
  for (std::uint64_t seed = 0; seed != 200; ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    budget b(start);
    base::instant now = start;
    std::int64_t paid = 0, bytes = 0, last = 0;
    for (int i = 0; i != 1000; ++i) {
      now = now + base::duration::microseconds(random.below(5000));
      const std::uint32_t payload = random.below(70000);
      b.received(payload);
      bytes += payload;
      if (b.is_overdrawn() && b.fill(now)) continue;
      last = random.below(64u << 20);
      b.pay(static_cast<std::size_t>(last));
      paid += last;
      const std::int64_t by_time =
          (now - start).count() / 1000 * budget::per_second / 1'000'000 + budget::per_second / 1000;
      REQUIRE(paid <= 2 * budget::most + bytes * budget::per_byte + by_time + last);
    }
  }
}

}  // namespace decoding_budget_test
