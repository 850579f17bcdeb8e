// The pool of threads for detached and blocking actors, without actors.
#include <garrick/system/threads/detached_pool.hpp>

#include <doctest/doctest.h>

#include <string>
#include <thread>

namespace detached_pool_test {

using namespace garrick;

namespace {

/// Runs until the pool is stopped; only then does its actor end.
struct until_stopped final : base::runnable {
  system::detached_pool* pool;
  core::waiting_executor* thread;

  base::run_outcome run(std::uint32_t&) noexcept override {
    while (pool->in_use() != 0) std::this_thread::yield();
    thread->actor_ended();
    return base::run_outcome::released;
  }
};

}  // namespace

TEST_CASE("a thread of an actor that ends after the pool was stopped is not free for another") {
  system::detached_pool pool(2, 1, "test", {}, {});
  until_stopped last;
  last.pool = &pool;
  last.thread = pool.take().value();
  CHECK(pool.in_use() == 1);
  last.thread->schedule(last);
  pool.stop();
  CHECK(pool.in_use() == 0);
  CHECK(pool.take().error() == base::errc::shutting_down);
}

TEST_CASE("at the bound, a free thread of detached actors serves a blocking one") {
  const std::string here = "<" + std::to_string(base::platform::usable_processors().front()) + ">";
  const auto places = [&] {
    return sched::affinity::parse(here, base::platform::usable_processors()).value();
  };
  system::detached_pool pool(1, 1, "test", {.detached = places(), .blocking = places()}, {});
  core::waiting_executor* const thread = pool.take(false).value();
  CHECK(pool.take(true).error() == base::errc::spawn_failed);
  thread->actor_ended();
  CHECK(pool.in_use() == 0);
  const auto again = pool.take(true);
  REQUIRE(again.has_value());
  CHECK(*again == thread);
  (*again)->actor_ended();
}

}  // namespace detached_pool_test
