#include <doctest/doctest.h>
#include <garrick/net/node/proxy/internal/wanted_requests.hpp>

namespace wanted_requests_test {

namespace {

using garrick::base::duration;
using garrick::base::instant;
using garrick::net::internal::wanted_requests;

instant at(std::int64_t s) { return instant::at(duration::seconds(s)); }

}  // namespace

TEST_CASE("wanted requests: until their limit, or until they are withdrawn") {
  wanted_requests all(10, {});
  CHECK(all.until(1).is_never());
  all.limit(1, at(5));
  CHECK(all.until(1) == at(5));
  CHECK(all.until(2).is_never());
  all.withdraw(1);
  all.withdraw(2);
  CHECK(all.until(1) < at(0));
  CHECK(all.until(2) < instant());
  CHECK(all.until(3).is_never());
}

TEST_CASE("wanted requests: nothing is kept of one that was answered") {
  wanted_requests all(10, {});
  all.forget(1);
  all.limit(1, at(5));
  all.withdraw(2);
  CHECK(all.size() == 2);
  all.forget(1);
  all.forget(1);
  CHECK(all.until(1).is_never());
  all.forget(2);
  CHECK(all.size() == 0);
}

TEST_CASE("wanted requests: without room one counts as wanted, and those that are known stay so") {
  wanted_requests all(2, {});
  all.limit(1, at(1));
  all.limit(2, at(2));
  all.withdraw(3);
  CHECK(all.size() == 2);
  CHECK(all.until(3).is_never());
  all.withdraw(1);
  CHECK(all.until(1) < at(0));
  CHECK(all.until(2) == at(2));
  all.forget(1);
  all.withdraw(3);
  CHECK(all.until(3) < at(0));
}

}  // namespace wanted_requests_test
