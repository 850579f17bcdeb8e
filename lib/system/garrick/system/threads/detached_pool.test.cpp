// The pool of threads for detached and blocking actors, without actors.
#include <garrick/system/threads/detached_pool.hpp>

#include <doctest/doctest.h>

#include <thread>

using namespace garrick;

namespace {

/// Serves until the pool is stopped, and only then is its actor over.
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

TEST_CASE("a thread whose actor ends after the pool was stopped is not free for another") {
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
