// Timers on the real clock: never early, in order, and each fires or is cancelled exactly once.
#include "garrick/base/time/timer_service.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace timer_service_test {

using garrick::base::duration;
using garrick::base::instant;
using garrick::base::timer_id;
using garrick::base::timer_service;
using garrick::base::timer_task;

namespace {

/// Records the fired timers, and lets the test wait for them.
class recorder {
 public:
  explicit recorder(const garrick::base::clock& clock) : clock_(clock) {}

  [[nodiscard]] timer_task task(std::uint64_t argument) {
    return {.fire = [](void* self, std::uint64_t a) { static_cast<recorder*>(self)->fired(a); },
            .context = this,
            .argument = argument,
            .drop = [](void* self, std::uint64_t) { ++static_cast<recorder*>(self)->dropped; }};
  }
  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return order.size() >= count; });
  }

  // The test reads these only while nothing can fire.
  std::vector<std::uint64_t> order;
  std::vector<instant> times;
  std::atomic<int> dropped{0};

 private:
  void fired(std::uint64_t argument) {
    const instant now = clock_.now();
    const std::lock_guard lock(mutex_);
    order.push_back(argument);
    times.push_back(now);
    changed_.notify_all();  // under the lock: a waiting thread may destroy this as soon as it is
                            // free
  }

  const garrick::base::clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

using list = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("real timers that are due together fire in the order of their deadlines") {
  recorder record(garrick::base::real_clock());
  timer_service service;
  struct arming {
    timer_service& service;
    recorder& record;
  } both{service, record};
  // armed by a timer: no other can fire before this one has returned
  const auto arm_three = [](void* context, std::uint64_t) {
    auto& [s, r] = *static_cast<arming*>(context);
    const instant now = s.now();
    s.arm(now - duration::microseconds(1), r.task(3));
    s.arm(now - duration::milliseconds(2), r.task(1));
    s.arm(now - duration::microseconds(1), r.task(4));
    s.arm(now - duration::milliseconds(1), r.task(2));
  };
  service.arm(service.now(), {.fire = arm_three, .context = &both});
  record.wait_for(4);
  CHECK(record.order == list{1, 2, 3, 4});
}

TEST_CASE("real timers never fire early") {
  recorder record(garrick::base::real_clock());
  timer_service service;
  const instant start = service.now();
  const duration delay[] = {duration::milliseconds(3), duration::milliseconds(1),
                            duration::microseconds(100), duration()};
  for (std::uint64_t i = 0; i < 4; ++i) service.arm(start + delay[i], record.task(i));
  record.wait_for(4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(record.times[i] >= start + delay[record.order[i]]);
  CHECK(service.pending() == 0);
}

TEST_CASE("an earlier timer wakes the sleeping thread, and a cancelled one stays silent") {
  recorder record(garrick::base::real_clock());
  timer_service service;
  const timer_id far = service.arm(service.now() + duration::seconds(3600), record.task(1));
  // at first the thread may not sleep yet; after a wait for a timer it sleeps, or nearly does
  constexpr std::size_t rounds = 50;
  for (std::size_t i = 1; i <= rounds; ++i) {
    service.arm(service.now() + duration::microseconds(100), record.task(2));
    record.wait_for(i);
  }
  CHECK(record.order == list(rounds, 2));
  CHECK(service.cancel(far));
  CHECK_FALSE(service.cancel(far));
  CHECK(record.dropped == 0);
}

TEST_CASE("the end of the service drops the timers that are still armed") {
  recorder record(garrick::base::real_clock());
  {
    timer_service service;
    for (unsigned i = 0; i < 10; ++i)
      service.arm(service.now() + duration::seconds(100 + i), record.task(i));
  }
  CHECK(record.dropped == 10);
  CHECK(record.order.empty());
}

TEST_CASE("a service that was stopped tells the time, and drops armed timers") {
  timer_service service;
  int dropped = 0;
  const garrick::base::timer_task task{
      .fire = [](void*, std::uint64_t) {},
      .context = &dropped,
      .drop = [](void* n, std::uint64_t) { ++*static_cast<int*>(n); }};
  CHECK(service.arm(service.now() + duration::seconds(3600), task));
  service.stop();
  CHECK(dropped == 1);
  CHECK_FALSE(service.arm(service.now(), task));
  CHECK(dropped == 2);
  CHECK_FALSE(service.arm(garrick::base::instant::never(), task));  // stays the caller's
  CHECK(dropped == 2);
  CHECK(service.now() > garrick::base::instant());
}

TEST_CASE("a service without timers does not wake") {
  recorder record(garrick::base::real_clock());
  timer_service service;
  service.arm(service.now(), record.task(1));
  record.wait_for(1);
  const std::uint64_t before = service.wake_ups();
  const timer_id far = service.arm(service.now() + duration::seconds(3600), record.task(2));
  CHECK(service.cancel(far));
  CHECK(service.wake_ups() <= before + 1);  // at most for the new, earlier deadline
}

TEST_CASE("threads arm and cancel at once: each timer fires or is cancelled, exactly once") {
  recorder record(garrick::base::real_clock());
  timer_service service;
  constexpr unsigned threads = 4;
  constexpr unsigned each = 500;
  std::vector<unsigned> ends(threads * each);  // the number of each timer's ends
  std::atomic<std::size_t> cancelled{0};
  std::vector<std::thread> crowd;
  for (unsigned t = 0; t < threads; ++t)
    crowd.emplace_back([&, t] {
      for (unsigned i = 0; i < each; ++i) {
        const unsigned number = t * each + i;
        const timer_id id = service.arm(service.now() + duration::microseconds((i * 37 + t) % 900),
                                        record.task(number));
        if (i % 2 == 0 && service.cancel(id)) {
          ++ends[number];
          ++cancelled;
        }
      }
    });
  for (auto& thread : crowd) thread.join();
  record.wait_for(threads * each - cancelled);
  CHECK(service.pending() == 0);
  for (const std::uint64_t number : record.order) ++ends[number];
  CHECK(ends == std::vector<unsigned>(threads * each, 1));
}

TEST_CASE("while a crowd of timers falls due, others are armed and cancelled, and none is lost") {
  constexpr unsigned threads = 3;
  constexpr unsigned each = 20'000;
  timer_service service;
  std::atomic<unsigned> fired{0};
  const timer_task count{
      .fire = [](void* to, std::uint64_t) { ++*static_cast<std::atomic<unsigned>*>(to); },
      .context = &fired};
  const instant when = service.now() + duration::milliseconds(20);
  std::vector<std::thread> crowd;
  for (unsigned t = 0; t < threads; ++t)
    crowd.emplace_back([&, t] {
      std::vector<timer_id> ids;
      for (unsigned i = 0; i < each; ++i)
        ids.push_back(service.arm(when + duration::nanoseconds(i % 7 * 1000 + t), count));
      while (service.now() < when) std::this_thread::yield();
      for (const timer_id id : ids)
        if (service.cancel(id)) service.arm(service.now(), count);
    });
  for (auto& thread : crowd) thread.join();
  while (fired < threads * each) std::this_thread::yield();
  CHECK(service.pending() == 0);
  CHECK(fired == threads * each);
}

TEST_CASE("with any timers due, the thread moves and takes out few at once under its lock") {
  constexpr std::uint64_t crowd = 1600;
  constexpr std::uint64_t most_moved = 64;
  constexpr std::uint64_t most_taken = 16;
  timer_service service;
  recorder record(service);
  // The timers share a slot, which the thread must open before it takes out the first timer.
  const instant when = service.now() + duration::milliseconds(30);
  for (std::uint64_t i = 0; i < crowd; ++i) service.arm(when, record.task(i));
  const bool before_it_was_due = service.now() < when;
  record.wait_for(crowd);
  const std::uint64_t to_open_it = before_it_was_due ? crowd / most_moved - 1 : 0;
  CHECK(service.steps() >= to_open_it + crowd / most_taken);
}

}  // namespace timer_service_test
