// The pool of threads for detached and blocking actors, without actors.
#include <garrick/system/threads/detached_pool.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <thread>

using namespace garrick;

// The sanitizers have an allocator of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_OWN_ALLOCATOR 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_OWN_ALLOCATOR 0
#endif
#endif
#ifndef HAS_OWN_ALLOCATOR
#define HAS_OWN_ALLOCATOR 1
#endif

namespace {

/// This thread's n-th allocation from now on fails; 0: none does.
thread_local int failing_allocation = 0;
/// And so do all that follow.
thread_local bool fails_for_good = false;

}  // namespace

#if HAS_OWN_ALLOCATOR
void* operator new(std::size_t bytes) {
  if (failing_allocation > 0 && --failing_allocation == 0) {
    if (fails_for_good) failing_allocation = 1;
    throw std::bad_alloc();
  }
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

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

TEST_CASE("at the bound, a free thread of detached actors serves a blocking one") {
  const std::string here = "<" + std::to_string(base::platform::usable_processors().front()) + ">";
  const auto places = [&] {
    return sched::affinity::parse(here, base::platform::usable_processors()).value();
  };
  system::detached_pool pool(1, 1, "test", {.detached = places(), .blocking = places()}, {});
  core::waiting_executor* const thread = pool.take(false).value();
  CHECK(pool.take(true).error() == base::errc::spawn_failed);
  thread->actor_ended();
  while (pool.in_use() != 0) std::this_thread::yield();
  const auto again = pool.take(true);
  REQUIRE(again.has_value());
  CHECK(*again == thread);
  (*again)->actor_ended();
}

TEST_CASE("a thread for which there is no memory is an error, whichever allocation fails" *
          doctest::skip(!HAS_OWN_ALLOCATOR)) {
  for (const bool for_good : {false, true}) {
    bool has_thread = false;
    for (int n = 1; !has_thread; ++n) {
      system::detached_pool pool(4, 1, "test", {}, {});
      fails_for_good = for_good;
      failing_allocation = n;
      const auto taken = pool.take();
      fails_for_good = false;
      failing_allocation = 0;
      has_thread = taken.has_value();
      CHECK((n > 1 || !has_thread));
      if (!has_thread) {
        CHECK(taken.error() == base::errc::spawn_failed);
        CHECK(pool.in_use() == 0);
      }
      if (has_thread) (*taken)->actor_ended();
    }
  }
}
