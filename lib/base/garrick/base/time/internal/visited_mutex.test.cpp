// Visitors of a mutex get it between two turns of its host.
#include "garrick/base/time/internal/visited_mutex.hpp"

#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace visited_mutex_test {

using garrick::base::visited_mutex;

TEST_CASE("the host lets in all visitors that wait before it goes on") {
  constexpr unsigned visitors = 3;
  for (int round = 0; round < 50; ++round) {
    visited_mutex mutex;
    unsigned served = 0;  // under the mutex
    std::vector<std::thread> threads;
    std::unique_lock turn(mutex.host());
    for (unsigned i = 0; i < visitors; ++i)
      threads.emplace_back([&] {
        const std::lock_guard visit(mutex);
        ++served;
      });
    while (mutex.waiting() != visitors) std::this_thread::yield();
    turn.unlock();
    mutex.let_visitors_in(std::numeric_limits<unsigned>::max());
    CHECK(mutex.waiting() == 0);
    turn.lock();
    CHECK(served == visitors);
    turn.unlock();
    for (std::thread& t : threads) t.join();
  }
}

TEST_CASE("the host does not wait for ever for a visitor that gets no core") {
  visited_mutex mutex;
  std::unique_lock turn(mutex.host());
  std::thread visitor([&] { const std::lock_guard visit(mutex); });
  while (mutex.waiting() != 1) std::this_thread::yield();
  mutex.let_visitors_in(10);  // the visitor cannot have it yet
  CHECK(mutex.waiting() == 1);
  turn.unlock();
  visitor.join();
  CHECK(mutex.waiting() == 0);
}

TEST_CASE("a visitor that finds the mutex free is not counted") {
  visited_mutex mutex;
  const std::lock_guard visit(mutex);
  CHECK(mutex.waiting() == 0);
}

}  // namespace visited_mutex_test
