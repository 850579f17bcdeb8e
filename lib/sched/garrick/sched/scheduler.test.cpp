// The pool as its users see it: settings, start and stop, a worker's claims for itself, and the
// runnables that never ran.
#include <garrick/sched/internal/test_jobs.hpp>
#include <garrick/sched/shipped_policies.hpp>

#include <doctest/doctest.h>

#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace scheduler_test {

using namespace garrick;
using namespace garrick::sched;
using namespace garrick::sched::test;

namespace {

std::string rejected(const scheduler_settings& settings) {
  try {
    (void)make_scheduler(settings);
    return "accepted";
  } catch (const std::invalid_argument& error) { return error.what(); }
}

const std::vector<std::string> policies = available_policies();

/// Runs `function` on a worker of `pool` and waits until it has returned.
template <class Function>
void on_worker(scheduler& pool, Function function) {
  latch done;
  job work([&] {
    function();
    done.open();
  });
  pool.schedule(work);
  done.wait();
}

}  // namespace

TEST_CASE("a bad setting is rejected by name") {
  CHECK(rejected({.workers = most_workers + 1}) ==
        "the key 'scheduler.workers' wants a whole number from 0 to 1024 (threads), not '1025'");
  CHECK(rejected({.workers = static_cast<std::uint32_t>(-1)}) ==
        "the key 'scheduler.workers' wants a whole number from 0 to 1024 (threads), not "
        "'unlimited': a count cannot be negative; -1 turns into that");
  CHECK(rejected({.workers = 1, .quantum = 0}).starts_with("the key 'scheduler.quantum' wants "));
  CHECK(rejected({.workers = 1, .idle_spin = longest_idle_spin + base::duration::nanoseconds(1)})
            .starts_with("the key 'scheduler.idle_spin' wants "));
  CHECK(rejected({.workers = 1, .idle_spin = -base::duration::nanoseconds(1)})
            .starts_with("the key 'scheduler.idle_spin' wants "));
  CHECK(rejected({.policy = "fifo"}).starts_with("the key 'scheduler.policy' wants one of "));
  CHECK(rejected({.workers = 1, .quantum = unlimited}) == "accepted");
}

TEST_CASE("zero workers means one for each usable core") {
  CHECK(make_scheduler({})->worker_count() == base::platform::usable_cores());
  CHECK(make_scheduler({})->policy_name() == "work_stealing");
}

TEST_CASE("a worker knows its scheduler, and the watchdog sees its state while the pool runs") {
  for (const std::string& policy : policies) {
    auto pool = make_scheduler({.policy = policy, .workers = 3});
    CHECK(pool->worker_state(0) == nullptr);
    pool->start();
    for (std::uint32_t i = 0; i < 3; ++i) {
      REQUIRE(pool->worker_state(i) != nullptr);
      CHECK(pool->worker_state(i)->turns.load() == 0);
    }
    CHECK(pool->worker_state(3) == nullptr);
    base::thread_state* seen = nullptr;
    base::executor* of = nullptr;
    std::uint32_t index = 99;
    on_worker(*pool, [&] {
      seen = &base::this_thread;
      of = base::this_thread.worker_of;
      index = base::this_thread.worker_index;
    });
    CHECK(of == pool.get());
    REQUIRE(index < 3);
    CHECK(seen == pool->worker_state(index));
    CHECK(base::this_thread.worker_of == nullptr);
    pool->stop();
    CHECK(pool->worker_state(0) == nullptr);
  }
}

TEST_CASE("the hooks for a thread's start and stop run on each worker, once, with its index") {
  struct record {
    std::atomic<std::uint32_t> started{0};
    std::atomic<std::uint32_t> stopped{0};
  } seen;
  const auto note_start = [](void* context, std::uint32_t worker) {
    static_cast<record*>(context)->started.fetch_add(1U << worker);
  };
  const auto note_stop = [](void* context, std::uint32_t worker) {
    static_cast<record*>(context)->stopped.fetch_add(1U << worker);
  };
  auto pool = started(
      {.workers = 4, .on_thread_start = {note_start, &seen}, .on_thread_stop = {note_stop, &seen}});
  CHECK(seen.started.load() == 0xf);
  CHECK(seen.stopped.load() == 0);
  pool->stop();
  CHECK(seen.stopped.load() == 0xf);
}

TEST_CASE("a runnable scheduled before the start runs after it") {
  for (const std::string& policy : policies) {
    auto pool = make_scheduler({.policy = policy, .workers = 2});
    latch done;
    job work([&] { done.open(); });
    pool->schedule(work);
    pool->start();
    done.wait();
    CHECK(done.is_open());
  }
}

TEST_CASE("stop lets the current run end; all others are drained, each once") {
  for (const std::string& policy : policies) {
    auto pool = started({.policy = policy, .workers = 1});
    latch running;
    latch stopping;
    std::vector<int> ran(6, 0);
    std::vector<std::unique_ptr<job<std::function<void()>>>> later;
    for (std::size_t i = 0; i < 6; ++i)
      later.push_back(std::make_unique<job<std::function<void()>>>([&ran, i] { ++ran[i]; }));
    bool finished = false;
    job current([&] {
      for (std::size_t i = 0; i < 3; ++i) pool->schedule(*later[i]);
      running.open();
      stopping.wait();
      finished = true;
    });
    pool->schedule(current);
    running.wait();
    for (std::size_t i = 3; i < 6; ++i) pool->schedule(*later[i]);
    std::thread stopper([&] { pool->stop(); });
    // The stop is under way once the watchdog's pointers are gone.
    while (pool->worker_state(0) != nullptr) std::this_thread::yield();
    stopping.open();
    stopper.join();
    CHECK(finished);
    const auto drained = pool->drain(
        [](void*, base::runnable& r) {
          std::uint32_t budget = 1;
          r.run(budget);
        },
        nullptr);
    // Between the withdrawal of the pointers and the request to stop the worker may have run some.
    CHECK(drained <= 6);
    for (int times : ran) CHECK(times == 1);
    CHECK(pool->drain([](void*, base::runnable&) {}, nullptr) == 0);
    pool->stop();
  }
}

TEST_CASE("drain also hands out runnables that its sink schedules") {
  auto pool = make_scheduler({.workers = 2});
  struct context {
    scheduler* pool;
    base::runnable* second;
    int handed = 0;
  };
  job second([] {});
  job first([] {});
  context c{pool.get(), &second};
  pool->schedule(first);
  const auto drained = pool->drain(
      [](void* context_pointer, base::runnable&) {
        auto& me = *static_cast<context*>(context_pointer);
        if (me.handed++ == 0) me.pool->schedule(*me.second);
      },
      &c);
  CHECK(drained == 2);
}

TEST_CASE(
    "claim takes a runnable that waits in the worker's own next slot or in a queue, once, and only "
    "on a worker") {
  for (const std::string& policy : policies) {
    auto pool = started({.policy = policy, .workers = 1});
    int ran_by_pool = 0;
    job in_queue([&] { ++ran_by_pool; });
    job in_slot([&] { ++ran_by_pool; });
    CHECK_FALSE(pool->claim(in_queue));
    std::vector<bool> claimed;
    on_worker(*pool, [&] {
      pool->schedule(in_queue);
      pool->schedule(in_slot);  // displaces in_queue, if the policy has a slot
      for (base::runnable* r :
           {static_cast<base::runnable*>(&in_queue), static_cast<base::runnable*>(&in_slot)})
        for (int i = 0; i < 2; ++i) claimed.push_back(pool->claim(*r));
    });
    CHECK(claimed == std::vector<bool>{true, false, true, false});
    pool->stop();
    CHECK(pool->drain([](void*, base::runnable&) {}, nullptr) == 0);
    CHECK(ran_by_pool == 0);
  }
}

TEST_CASE("claim_next takes the runnable in the worker's own next slot and nothing else") {
  auto pool = started({.workers = 1});
  job in_queue([] {});
  job in_slot([] {});
  std::vector<bool> claimed;
  CHECK_FALSE(pool->claim_next(&in_slot));
  on_worker(*pool, [&] {
    pool->schedule(in_queue);
    pool->schedule(in_slot);
    for (const base::runnable* r : {static_cast<const base::runnable*>(&in_queue),
                                    static_cast<const base::runnable*>(&in_slot)})
      for (int i = 0; i < 2; ++i) claimed.push_back(pool->claim_next(r));
    if (pool->claim(in_queue)) claimed.push_back(true);
  });
  CHECK(claimed == std::vector<bool>{false, false, true, false, true});
  auto shared = started({.policy = "work_sharing", .workers = 1});
  on_worker(*shared, [&] { claimed.assign(1, shared->claim_next(&in_slot)); });
  CHECK(claimed == std::vector<bool>{false});
}

TEST_CASE(
    "a claimed runnable that is scheduled again runs once, though its old entry still waits") {
  for (const std::string& policy : policies) {
    auto pool = started({.policy = policy, .workers = 1});
    std::atomic<int> ran{0};
    job claimed([&] { ran.fetch_add(1); });
    job displacing([] {});
    on_worker(*pool, [&] {
      pool->schedule(claimed);
      pool->schedule(displacing);
      if (pool->claim(claimed)) pool->schedule(claimed);
    });
    on_worker(*pool, [] {});
    pool->stop();
    pool->drain(
        [](void*, base::runnable& r) {
          std::uint32_t budget = 1;
          r.run(budget);
        },
        nullptr);
    CHECK(ran.load() == 1);
  }
}

TEST_CASE("a worker of one pool is an outsider to another") {
  auto one = started({.workers = 1});
  auto other = started({.workers = 1});
  latch ran;
  base::executor* ran_on = nullptr;
  job work([&] {
    ran_on = base::this_thread.worker_of;
    ran.open();
  });
  bool claimed = true;
  on_worker(*one, [&] {
    other->schedule(work);
    claimed = other->claim(work);
    other->expose();
  });
  ran.wait();
  CHECK_FALSE(claimed);
  CHECK(ran_on == other.get());
}

TEST_CASE("expose lets another worker take the runnable in the slot, without the ticker") {
  auto pool = started({.workers = 2});
  bool unaided = false;
  // The ticker may come first where the operating system stops the worker between its two calls.
  for (int round = 0; round < 50 && !unaided; ++round) {
    const std::uint64_t by_ticker = pool->stats().exposed;
    latch inner;
    job second([&] { inner.open(); });
    on_worker(*pool, [&] {
      pool->schedule(second);
      pool->expose();
      inner.wait();
    });
    unaided = pool->stats().exposed == by_ticker;
  }
  CHECK(unaided);
}

namespace {

/// Returns the time that this machine takes, at the moment, for the steps of an exposure: a thread
/// that sleeps is woken, sleeps for a moment, and wakes another one, while the caller is busy.
std::uint64_t two_wake_ups_ns() {
  latch first;
  latch second;
  std::atomic<int> ready{0};
  std::atomic<std::uint64_t> end{0};
  std::thread helper([&] {
    ++ready;
    first.wait();
    base::platform::sleep_ns(50'000);
    second.open();
  });
  std::thread sleeper([&] {
    ++ready;
    second.wait();
    end = base::platform::monotonic_ns();
  });
  while (ready != 2) std::this_thread::yield();
  const std::uint64_t begin = base::platform::monotonic_ns();
  first.open();
  while (end == 0) base::platform::pause();
  helper.join();
  sleeper.join();
  return end - begin;
}

std::uint64_t median(std::vector<std::uint64_t> all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

}  // namespace

TEST_CASE("the slot of a worker that stays busy is exposed about as soon as threads wake up") {
  auto pool = started({.workers = 2});
  std::vector<std::uint64_t> waits;
  std::vector<std::uint64_t> of_threads;
  for (int round = 0; round < 50; ++round) {
    of_threads.push_back(two_wake_ups_ns());
    latch inner;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    job second([&] {
      end = base::platform::monotonic_ns();
      inner.open();
    });
    on_worker(*pool, [&] {
      begin = base::platform::monotonic_ns();
      pool->schedule(second);
      while (!inner.is_open()) base::platform::pause();
    });
    waits.push_back(end - begin);
  }
  MESSAGE("exposed after p50 " << median(waits) / 1000 << " us; two threads woke up after "
                               << median(of_threads) / 1000 << " us");
  // On a quiet machine both take a fraction of a millisecond.
  CHECK(median(waits) < 5'000'000 + 10 * median(of_threads));
}

TEST_CASE("an idle pool uses no processor time") {
  // The polling policies look for work all the time, which is their purpose.
  for (const char* policy : {"work_stealing", "locality_guided", "work_sharing"}) {
    CAPTURE(policy);
    auto pool = started({.policy = policy, .workers = 4});
    for (int i = 0; i < 50; ++i) on_worker(*pool, [] {});
    // The measured time begins when the ticker, if it was woken, is asleep again: its quiet time is
    // a millisecond. Nothing but the figure depends on this.
    base::platform::sleep_ns(20'000'000);
    const auto used = [] {
      rusage r{};
      getrusage(RUSAGE_SELF, &r);
      return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1'000'000 + r.ru_utime.tv_usec +
             r.ru_stime.tv_usec;
    };
    // On a busy machine the pool may take longer than that to become idle, so a look is repeated.
    bool is_idle = false;
    for (int looks = 0; looks < 10 && !is_idle; ++looks) {
      const auto before = used();
      const auto parks = pool->stats().parks;
      base::platform::sleep_ns(2'000'000'000);
      // 0.05 % of two seconds, in microseconds; ThreadSanitizer has a thread of its own
      is_idle = used() - before <= (GARRICK_TSAN ? 20'000 : 1'000) && pool->stats().parks == parks;
    }
    CHECK(is_idle);
  }
}

TEST_CASE("statistics count runs, steals and parks") {
  auto pool = started({.workers = 2});
  for (int i = 0; i < 100; ++i) on_worker(*pool, [] {});
  CHECK(pool->stats().runs == 100);
  // Idle workers park, sooner or later. If they do not, the time limit of the test ends it.
  while (pool->stats().parks < 2) std::this_thread::yield();
  while (pool->describe().find("parked") == std::string::npos) std::this_thread::yield();
}

}  // namespace scheduler_test
