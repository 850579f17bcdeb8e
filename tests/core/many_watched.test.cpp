// Actors that watch or supervise very many: each monitor, link and child costs the same however
// many there are.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <stdexcept>
#include <string>
#include <vector>

namespace many_watched_test {

namespace {

using namespace garrick;

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class F>
double best_of_three(F f) {
  double best = f();
  for (int i = 0; i < 2; ++i) best = std::min(best, f());
  return best;
}

struct ask {};
class idle_actor : public actor<protocol<int(ask)>> {
 public:
  int on(ask) { return 1; }
};

struct watch_it {
  int times;
};
struct forget_it {};
class watcher_actor : public actor<protocol<int(watch_it), int(forget_it)>> {
  ref<protocol<int(ask)>> target_;
  std::vector<monitor_id> monitors_;

 public:
  explicit watcher_actor(ref<protocol<int(ask)>> target) : target_(std::move(target)) {}
  int on(watch_it w) {
    for (int i = 0; i < w.times; ++i) monitors_.push_back(monitor(target_));
    return w.times;
  }
  int on(forget_it) {
    for (const monitor_id m : monitors_) demonitor(m);
    return static_cast<int>(monitors_.size());
  }
};

/// One actor monitors another n times and takes all back, oldest first.
double monitor_one(int n) {
  actor_system system;
  const auto target = system.spawn<idle_actor>();
  const auto w = system.spawn<watcher_actor>(target);
  const double before = processor_seconds();
  REQUIRE(system.request(w, watch_it{n}).get().value() == n);
  REQUIRE(system.request(target, ask{}).get().value() == 1);  // the signals are handled before it
  REQUIRE(system.request(w, forget_it{}).get().value() == n);
  REQUIRE(system.request(target, ask{}).get().value() == 1);
  return processor_seconds() - before;
}

struct begin_all {
  int actors;
};
class many_watcher : public actor<protocol<void(begin_all), void(down)>> {
  std::vector<ref<protocol<int(ask)>>> targets_;
  std::atomic<int>* ended_;

 public:
  explicit many_watcher(std::atomic<int>* ended) : ended_(ended) {}
  void on(begin_all b) {
    for (int i = 0; i < b.actors; ++i) {
      targets_.push_back(spawn<idle_actor>());
      monitor(targets_.back());
    }
    targets_.clear();  // no handle is left: they end, oldest first
  }
  void on(const down&) {
    if (ended_->fetch_sub(1) == 1) {
      ended_->notify_one();
      quit();
    }
  }
};

/// One actor monitors n others, all of which end.
double monitor_many(int n) {
  actor_system system;
  std::atomic<int> left{n};
  const double before = processor_seconds();
  auto w = system.spawn<many_watcher>(lent(&left));
  send(w, begin_all{n});
  for (int now = left.load(); now != 0; now = left.load()) left.wait(now);
  w = {};
  REQUIRE(system.await_all().has_value());
  return processor_seconds() - before;
}

/// A supervisor with n children that are found by name, of which the older half is killed, and the
/// rest is stopped.
double supervise_many(int n) {
  actor_system system;
  const auto top = system.spawn<supervisor>();
  std::vector<ref<protocol<int(ask)>>> all;
  const double before = processor_seconds();
  for (int i = 0; i < n; ++i)
    all.push_back(core::supervise<idle_actor>(
        top, child_options{.name = std::to_string(i), .restart = temporary}));
  for (int i = 0; i < n; i += 100)
    REQUIRE(system.request(top, find_child{std::to_string(i)}).get().has_value());
  for (int i = 0; i < n / 2; ++i) system.kill(all[static_cast<std::size_t>(i)]);
  REQUIRE(system.request(top, stop_children{}).get().value().still_alive.empty());
  REQUIRE(system.request(top, list_children{}).get().value().empty());
  return processor_seconds() - before;
}

struct fail {};
class counted_actor : public actor<protocol<void(fail)>> {
 public:
  explicit counted_actor(std::atomic<int>* left_to_build) {
    if (left_to_build->fetch_sub(1) == 1) left_to_build->notify_one();
  }
  void on(fail) { throw std::runtime_error("told to fail"); }
};

/// A group of n children that is restarted because the oldest fails.
double restart_group(int n) {
  std::atomic<int> left{2 * n};
  settings quiet;
  quiet.log.level = system::log_level::off;
  actor_system system(quiet);
  const auto top = system.spawn<supervisor>(supervision{.strategy = one_for_all});
  std::vector<ref<protocol<void(fail)>>> all;
  const double before = processor_seconds();
  for (int i = 0; i < n; ++i) all.push_back(core::supervise<counted_actor>(top, lent(&left)));
  send(all.front(), fail{});
  for (int now = left.load(); now != 0; now = left.load()) left.wait(now);
  return processor_seconds() - before;
}

}  // namespace

// Eight times as many cost eight times as much, and somewhat more since they leave the caches; or
// 64 times if each costs a search among the others.
TEST_CASE("many monitors of one actor cost the same each") {
  CHECK(best_of_three([] { return monitor_one(80'000); }) <
        32 * best_of_three([] { return monitor_one(10'000); }));
}

TEST_CASE("monitors of many actors that end cost the same each") {
  CHECK(best_of_three([] { return monitor_many(80'000); }) <
        32 * best_of_three([] { return monitor_many(10'000); }));
}

TEST_CASE("many children of one supervisor cost the same each") {
  CHECK(best_of_three([] { return supervise_many(80'000); }) <
        32 * best_of_three([] { return supervise_many(10'000); }));
}

TEST_CASE("a group that is restarted costs the same for each child") {
  CHECK(best_of_three([] { return restart_group(40'000); }) <
        32 * best_of_three([] { return restart_group(5'000); }));
}

}  // namespace many_watched_test
