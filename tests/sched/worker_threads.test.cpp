// A pool's worker threads: their processors, and the case that one cannot be created or bound.
#include <doctest/doctest.h>
#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/base/platform/platform.hpp>
#include <garrick/sched/places/topology.hpp>
#include <garrick/sched/places/worker_places.hpp>
#include <garrick/sched/shipped_policies.hpp>

#include <sys/syscall.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/affinity_text.hpp"
#include "support/few_threads.hpp"
#include "support/forbidden_call.hpp"
#include "support/in_child.hpp"

namespace worker_threads_test {

using namespace garrick;
using namespace garrick::sched;
using garrick::tests::forbid_call;
using garrick::tests::one_group_each;
using garrick::tests::room_for_threads;

namespace {

using processors = std::vector<std::int32_t>;

const std::vector<std::string> policies = available_policies();

std::unique_ptr<scheduler> started(const scheduler_settings& settings) {
  auto pool = make_scheduler(settings);
  pool->start();
  return pool;
}

/// The processors on which each worker of such a pool may run, as the worker itself reads them.
std::vector<processors> masks_of(scheduler_settings settings) {
  std::vector<processors> masks(settings.workers);
  settings.on_thread_start = {[](void* all, std::uint32_t worker) {
                                (*static_cast<std::vector<processors>*>(all))[worker] =
                                    base::platform::usable_processors();
                              },
                              &masks};
  started(settings)->stop();
  return masks;
}

}  // namespace

TEST_CASE("each worker takes the next group of the affinity string, and after the last the first") {
  const processors mine = base::platform::usable_processors();
  const auto workers = static_cast<std::uint32_t>(2 * mine.size() + 1);
  for (const std::string& policy : policies) {
    CAPTURE(policy);
    const auto masks =
        masks_of({.policy = policy, .workers = workers, .affinity = one_group_each(mine)});
    for (std::size_t w = 0; w < workers; ++w) CHECK(masks[w] == processors{mine[w % mine.size()]});
  }
}

namespace {

void check_pinning() {
  const topology machine = topology::of_this_machine();
  const auto workers = machine.size() + 1;
  const worker_places places(machine, workers, neighbourhood::cache);
  const auto expected = [&](const std::string& pin, std::uint32_t worker) {
    const processing_unit& own = places.unit_of(worker);
    processors all;
    for (const processing_unit& u : machine.units())
      if (pin == "system" || (pin == "unit" && u.os_index == own.os_index) ||
          (pin == "cache" && u.cache == own.cache) || (pin == "node" && u.node == own.node))
        all.push_back(u.os_index);
    return all;
  };
  for (const std::string pin : {"unit", "cache", "node", "system", "automatic"})
    for (const std::string policy : {"work_stealing", "locality_guided"}) {
      CAPTURE(pin);
      CAPTURE(policy);
      const std::string meant = pin != "automatic"            ? pin
                                : policy == "locality_guided" ? "node"
                                                              : "system";
      const auto masks = masks_of({.policy = policy, .workers = workers, .pin = pin});
      for (std::uint32_t w = 0; w < workers; ++w) CHECK(masks[w] == expected(meant, w));
    }
}

}  // namespace

TEST_CASE(
    "a pinned worker stays on its unit, or on those that share its cache or its memory node") {
  check_pinning();
  // The same processors as if each had a memory node of its own.
  const processors mine = base::platform::usable_processors();
  std::string numbers;
  for (const std::int32_t p : mine) numbers += (numbers.empty() ? "" : ",") + std::to_string(p);
  const std::string nodes =
      "numa:" + std::to_string(mine.size()) + " l3:1 core:1 pu:1(indexes=" + numbers + ")";
  setenv("HWLOC_SYNTHETIC", nodes.c_str(), 1);
  CHECK(topology::of_this_machine().node_count() == mine.size());
  check_pinning();
  unsetenv("HWLOC_SYNTHETIC");
}

TEST_CASE("a process that may use one processor gets one worker, and no affinity to others") {
  const processors mine = base::platform::usable_processors();
  bool bound = false;
  std::uint32_t workers = 0;
  std::string error;
  std::thread([&] {
    const std::int32_t one[] = {mine.back()};
    bound = base::platform::bind_this_thread(one);
    workers = make_scheduler()->worker_count();
    try {
      static_cast<void>(make_scheduler({.affinity = "<" + std::to_string(mine.back() + 1) + ">"}));
    } catch (const std::exception& e) { error = e.what(); }
  }).join();
  REQUIRE(bound);
  CHECK(workers == 1);
  CHECK(error.starts_with("the key 'scheduler.affinity' wants "));
  CHECK(error.find("is not among those that this process may use") != std::string::npos);
}

TEST_CASE("policies that know places report a machine that is flat or cannot be read") {
  const auto told = [](const scheduler_settings& o) {
    const auto pool = make_scheduler(o);
    CHECK(pool->warnings().size() <= 1);
    return pool->warnings().empty() ? std::string() : pool->warnings()[0];
  };
  CHECK(told({.policy = "locality_guided", .workers = 2, .machine = "numa:1 l3:1 core:2 pu:1"}) ==
        "locality_guided works as work_stealing, since the machine is flat: 1 package, 1 memory "
        "node, 1 shared cache, 2 cores, 2 "
        "units");
  CHECK(told({.policy = "locality_guided", .workers = 2, .machine = "numa:2 l3:1 core:2 pu:1"})
            .empty());
  CHECK(told({.policy = "work_stealing", .workers = 2, .machine = "numa:1 l3:1 core:2 pu:1"})
            .empty());
  setenv("HWLOC_SYNTHETIC", "core:1 pu:1(indexes=60000)", 1);
  const std::string guided = told({.policy = "locality_guided", .workers = 2});
  const std::string pinned = told({.workers = 2, .pin = "node"});
  const std::string plain = told({.workers = 2});
  unsetenv("HWLOC_SYNTHETIC");
  CHECK(guided.find("locality_guided works as work_stealing, since the machine counts as flat: ") ==
        0);
  CHECK(guided.find("hwloc knows none of the processors that this process may use") !=
        std::string::npos);
  CHECK(pinned.find("workers are pinned as on a flat machine") == 0);
  CHECK(plain.empty());
}

namespace {

std::ptrdiff_t threads_of_process() {
  namespace fs = std::filesystem;
  return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
}

class job final : public base::runnable {
 public:
  explicit job(std::function<void()> function) : function_(std::move(function)) {}
  base::run_outcome run(std::uint32_t& budget) noexcept override {
    --budget;
    function_();
    return base::run_outcome::released;
  }

 private:
  std::function<void()> function_;
};

/// Runs `count` jobs, half of them scheduled by a worker, and stops the pool.
void run_jobs(scheduler& pool, std::uint32_t count) {
  std::atomic<std::uint32_t> left{count};
  const auto step = [&] {
    if (--left == 0) left.notify_all();
  };
  std::vector<std::unique_ptr<job>> outside, inside;
  for (std::uint32_t i = 0; i < count / 2; ++i) {
    inside.push_back(std::make_unique<job>(step));
    outside.push_back(std::make_unique<job>([&, i] {
      pool.schedule(*inside[i]);
      step();
    }));
  }
  for (const auto& j : outside) pool.schedule(*j);
  for (std::uint32_t n = left; n != 0; n = left) left.wait(n);
  pool.stop();  // no thread touches the jobs any more
}

}  // namespace

TEST_CASE("a worker that cannot be created ends the start, and no thread stays" *
          doctest::skip(HAS_SANITIZER || IS_EMULATED)) {
  for (const std::string& policy : policies) {
    CAPTURE(policy);
    const std::ptrdiff_t before = threads_of_process();
    const auto pool = make_scheduler({.policy = policy, .workers = 8});
    const room_for_threads few(3);
    std::string why;
    try {
      pool->start();
    } catch (const std::system_error& e) { why = e.what(); }
    CHECK(why.find("scheduler.workers is 8, but worker ") == 0);
    CHECK(why.find(" could not be started: ") != std::string::npos);
    CHECK(threads_of_process() == before);
    CHECK(pool->worker_state(0) == nullptr);
  }
}

TEST_CASE("with best_effort the others do the work of a worker that cannot be created" *
          doctest::skip(HAS_SANITIZER || IS_EMULATED)) {
  for (const std::string& policy : policies) {
    CAPTURE(policy);
    // On this machine, runnables have their home at workers that are missing.
    const auto pool = make_scheduler({.policy = policy,
                                      .workers = 8,
                                      .best_effort = true,
                                      .machine = "pack:2 numa:2 l3:1 core:2 pu:1"});
    {
      const room_for_threads few(3);
      pool->start();
    }
    REQUIRE(!pool->warnings().empty());
    CHECK(pool->warnings().back().find("workers ") == 0);
    CHECK(pool->warnings().back().find(" to 7 could not be started (") != std::string::npos);
    CHECK(pool->worker_state(0) != nullptr);
    CHECK(pool->worker_state(7) == nullptr);
    run_jobs(*pool, 400);
  }
}

TEST_CASE("workers that never started get no work: all of it runs while the others are busy" *
          doctest::skip(HAS_SANITIZER || IS_EMULATED)) {
  for (const std::string& policy : policies) {
    CAPTURE(policy);
    const auto pool = make_scheduler({.policy = policy,
                                      .workers = 8,
                                      .best_effort = true,
                                      .machine = "pack:2 numa:2 l3:1 core:2 pu:1"});
    {
      const room_for_threads few(3);
      pool->start();
    }
    std::uint32_t started = 0;
    while (pool->worker_state(started) != nullptr) ++started;
    REQUIRE(started < 8);
    // Each worker that there is waits in a handler. So an arriving job stays where it was put.
    std::atomic<std::uint32_t> waiting{0};
    std::atomic<bool> finish{false};
    std::vector<std::unique_ptr<job>> all;
    for (std::uint32_t i = 0; i < started; ++i)
      all.push_back(std::make_unique<job>([&] {
        ++waiting;
        waiting.notify_all();
        finish.wait(false);
      }));
    for (const auto& one : all) pool->schedule(*one);
    for (std::uint32_t n = waiting; n != started; n = waiting) waiting.wait(n);
    std::atomic<std::uint32_t> left{100};
    for (std::uint32_t i = 0; i < 100; ++i) {
      all.push_back(std::make_unique<job>([&] {
        if (--left == 0) left.notify_all();
      }));
      pool->schedule(*all.back());
    }
    const std::string queues = pool->describe();
    for (std::uint32_t i = started; i < 8; ++i) {
      const std::string worker = "worker " + std::to_string(i) + ": deque 0, inbox ";
      if (queues.find(worker) != std::string::npos)
        CHECK(queues.find(worker + "empty") != std::string::npos);
    }
    finish = true;
    finish.notify_all();
    for (std::uint32_t n = left; n != 0; n = left) left.wait(n);
    pool->stop();
  }
}

TEST_CASE("without any worker even best_effort gives up" *
          doctest::skip(HAS_SANITIZER || IS_EMULATED)) {
  for (const char* policy : {"work_stealing", "work_sharing"}) {
    const auto pool = make_scheduler({.policy = policy, .workers = 4, .best_effort = true});
    const room_for_threads none(0);
    CHECK_THROWS_AS(pool->start(), std::system_error);
  }
}

TEST_CASE(
    "a worker that cannot be bound ends the start and names the setting; with best_effort it runs "
    "anywhere" *
    doctest::skip(IS_EMULATED)) {
  const processors mine = base::platform::usable_processors();
  bool forbidden = false;
  std::string by_affinity, by_pin;
  std::vector<std::string> warnings;
  std::thread([&] {
    forbidden = forbid_call(SYS_sched_setaffinity, EPERM);
    const auto error_of = [](const scheduler_settings& o) {
      const auto pool = make_scheduler(o);
      try {
        pool->start();
      } catch (const std::system_error& e) { return std::string(e.what()); }
      return std::string();
    };
    by_affinity = error_of({.workers = 3, .affinity = "<" + std::to_string(mine.back()) + ">"});
    by_pin = error_of({.workers = 3, .pin = "unit"});
    const auto pool = started(
        {.workers = 3, .best_effort = true, .affinity = "<" + std::to_string(mine.back()) + ">"});
    warnings = pool->warnings();
    run_jobs(*pool, 100);
  }).join();
  REQUIRE(forbidden);
  const std::string worker_0 = "the system does not let worker 0 run on processor ";
  CHECK(by_affinity.find("scheduler.affinity: " + worker_0 + std::to_string(mine.back())) !=
        std::string::npos);
  CHECK(by_pin.find("scheduler.pin: " + worker_0) != std::string::npos);
  REQUIRE(warnings.size() == 3);
  CHECK(warnings[2].find("the system does not let worker 2 run on processor " +
                         std::to_string(mine.back())) != std::string::npos);
}

}  // namespace worker_threads_test
