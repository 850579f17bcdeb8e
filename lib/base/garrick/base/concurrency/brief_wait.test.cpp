// A brief wait ends even if the other thread has a lower priority on the same processor, and so
// cannot run as long as the waiting thread spins.
#include <garrick/base/concurrency/brief_wait.hpp>
#include <garrick/base/concurrency/spin_lock.hpp>
#include <garrick/base/platform/platform.hpp>

#include <doctest/doctest.h>
#include <pthread.h>
#include <sched.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace brief_wait_test {

using namespace garrick::base;

namespace {

/// Atomics of a machine with one processor, on which the other thread runs only while this one
/// sleeps.
struct one_processor : real_atomics {
  static inline std::uint32_t pauses = 0;
  static inline std::uint32_t naps = 0;
  static void pause() noexcept { ++pauses; }
  static bool wait_for(atomic<std::uint32_t>&, std::uint32_t, std::uint64_t) noexcept {
    ++naps;
    return false;
  }
};

/// Binds the calling thread to one processor with this real-time priority, or none for 0.
bool run_on(std::int32_t processor, int priority) {
  const std::int32_t one[] = {processor};
  sched_param p{};
  p.sched_priority = priority;
  return platform::bind_this_thread(one) &&
         pthread_setschedparam(pthread_self(), priority == 0 ? SCHED_OTHER : SCHED_FIFO, &p) == 0;
}

}  // namespace

TEST_CASE("a brief wait spins first, and then sleeps each time") {
  one_processor::pauses = one_processor::naps = 0;
  brief_wait<one_processor> wait;
  for (std::uint32_t i = 0; i < brief_wait<one_processor>::spins; ++i) wait.once();
  CHECK(one_processor::pauses == brief_wait<one_processor>::spins);
  CHECK(one_processor::naps == 0);
  wait.once();
  wait.once();
  CHECK(one_processor::pauses == brief_wait<one_processor>::spins);
  CHECK(one_processor::naps == 2);
}

TEST_CASE("a spin lock is given to a real-time thread although its holder has no priority") {
  const std::int32_t here = platform::usable_processors().front();
  spin_lock lock;
  bool may_be_real_time = false;
  std::uint64_t waited = 0;
  std::uint64_t used = 0;
  std::atomic<bool> held{false};
  std::thread low([&] {
    CHECK(run_on(here, 0));
    lock.lock();
    held.store(true);
    held.notify_all();
    // Half a time slice of work: the other thread comes in between.
    const std::uint64_t end = platform::thread_cpu_ns() + 2'000'000;
    while (platform::thread_cpu_ns() < end) {}
    lock.unlock();
  });
  std::thread high([&] {
    may_be_real_time = run_on(here, 10);
    held.wait(false);
    const std::uint64_t begin = platform::monotonic_ns();
    const std::uint64_t used_before = platform::thread_cpu_ns();
    lock.lock();
    lock.unlock();
    used = platform::thread_cpu_ns() - used_before;
    waited = platform::monotonic_ns() - begin;
  });
  low.join();
  high.join();
  if (!may_be_real_time) return;  // this process may not have real-time threads
  // A thread that only spins would use the processor for nearly a second, the system's period for
  // real-time threads, while it waits. The limit grows with the wait, since other threads may keep
  // the holder from its processor for longer.
  CHECK(used < waited / 2 + 100'000'000);
}

}  // namespace brief_wait_test
