// The calls to the listener of a pool's waiting workers.
#include <garrick/base/concurrency/waiting_workers.hpp>

#include <doctest/doctest.h>

namespace waiting_workers_test {

using garrick::base::waiting_workers;

namespace {

constexpr auto something = [] { return true; };
constexpr auto nothing = [] { return false; };

void count(void* calls) noexcept { ++*static_cast<int*>(calls); }

}  // namespace

TEST_CASE("waiting workers: the listener hears of work that is queued while all of them wait") {
  int calls = 0;
  waiting_workers<> pool(2);
  pool.listen(&count, &calls);
  pool.begin(something);
  pool.queued();
  CHECK_FALSE(pool.all_wait());
  CHECK(calls == 0);  // one worker is awake
  pool.begin(nothing);
  CHECK(pool.all_wait());
  CHECK(calls == 0);
  pool.queued();
  CHECK(calls == 1);
  pool.end();
  pool.queued();
  CHECK(calls == 1);
  pool.begin(something);
  CHECK(calls == 2);
}

TEST_CASE("waiting workers: those that could not be started are not waited for") {
  int calls = 0;
  waiting_workers<> pool(4);
  pool.listen(&count, &calls);
  pool.limit(1);
  pool.begin(something);
  CHECK(pool.all_wait());
  CHECK(calls == 1);
}

}  // namespace waiting_workers_test
