// The fallbacks for Linux' system calls on other POSIX systems (docs/portability.md): this program
// is linked with platform.cpp as it is compiled there, so actors, timers and waiting threads run on
// the fallbacks.
#include <garrick/base/platform/platform.hpp>
#include <garrick/garrick.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace other_system_test {

namespace {

using namespace garrick;
using namespace std::chrono_literals;
namespace platform = base::platform;

/// Passes a number on until it is zero, and then answers the asker.
using ring = protocol<std::uint64_t(std::uint64_t)>;

class ring_actor : public actor<ring> {
 public:
  explicit ring_actor(ref<ring> next) : next_(std::move(next)) {}
  result<std::uint64_t> on(std::uint64_t left) {
    if (left == 0) return left;
    return delegate(next_, left - 1);
  }

 private:
  ref<ring> next_;
};

/// Promises an answer and breaks the promise.
class forgetful : public actor<protocol<result<int>(int)>> {
 public:
  result<int> on(int) { return kept_ = make_promise<int>(); }

 private:
  response_promise<int> kept_;
};

struct how_many {};
class counting : public actor<protocol<void(std::uint64_t), std::uint64_t(how_many)>> {
 public:
  void on(std::uint64_t) { ++count_; }
  std::uint64_t on(how_many) const { return count_; }

 private:
  std::uint64_t count_ = 0;
};

settings with_workers(std::uint32_t workers) {
  settings o;
  o.scheduler.workers = workers;
  return o;
}

}  // namespace

TEST_CASE("other system: nothing of Linux is there, and each question has an answer") {
  CHECK_FALSE(platform::enable_process_barrier());
  platform::process_barrier();
  CHECK(platform::usable_processors().empty());
  CHECK(platform::usable_cores() >= 1);
  CHECK(platform::thread_place::of_this_thread().processor() == platform::thread_place::unknown);
  CHECK(platform::default_stack_bytes() >= 64 * 1024);
}

TEST_CASE("other system: a wait ends when its word changes, and at its time when it does not") {
  std::atomic<std::uint32_t> word{0};
  const auto begin = platform::monotonic_ns();
  CHECK_FALSE(platform::futex_wait_for(word, 0, 2'000'000));
  CHECK(platform::monotonic_ns() - begin >= 2'000'000);
  std::thread waker([&] {
    word.store(1);
    platform::futex_wake_all(word);
  });
  while (word.load() == 0) platform::futex_wait(word, 0);
  CHECK(platform::futex_wait_for(word, 0, 60'000'000'000));
  waker.join();
}

TEST_CASE("other system: workers that sleep are woken, again and again") {
  actor_system system(with_workers(2));
  ref<ring> first;
  for (int i = 0; i < 20; ++i) first = system.spawn<ring_actor>(std::exchange(first, {}));
  for (int i = 0; i < 200; ++i)
    REQUIRE(system.request(first, std::uint64_t{19}).get().value() == 0);
}

TEST_CASE("other system: timers ring") {
  actor_system system(with_workers(2));
  const auto late = system.spawn<forgetful>();
  const auto answer = system.request(late, 1, 2ms).get();
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error() == errc::timeout);
}

TEST_CASE("other system: threads that flood an actor lose nothing and wait for it") {
  constexpr std::uint64_t each = 20'000;
  actor_system system(with_workers(2));
  const auto to = system.spawn<counting>();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (std::uint64_t k = 0; k < each; ++k) send(to, k);
    });
  for (std::thread& t : threads) t.join();
  CHECK(system.request(to, how_many{}).get().value() == 3 * each);
}

}  // namespace other_system_test
