// Fewer processors than workers, and less than one processor: everything still gets done.
#include <doctest/doctest.h>
#include <garrick/base/platform/platform.hpp>
#include <garrick/garrick.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace few_processors_test {

namespace {

using namespace garrick;

struct ask {};
struct item {
  std::uint32_t n;
};
using counting = protocol<void(item), std::uint64_t(ask)>;

class counter : public actor<counting> {
  std::uint64_t sum_ = 0;

 public:
  void on(item i) { sum_ += i.n; }
  std::uint64_t on(ask) const { return sum_; }
};

class forwarder : public actor<protocol<void(item)>> {
  ref<counting> to_;

 public:
  explicit forwarder(ref<counting> to) : to_(std::move(to)) {}
  void on(item i) { send(to_, i); }
};

class sleeper : public actor<protocol<void(ask)>> {
  std::atomic<bool>* fired_;

 public:
  explicit sleeper(std::atomic<bool>* fired) : fired_(fired) {}
  void on_start() { send_after(duration::milliseconds(2), self(), ask{}); }
  void on(ask) {
    fired_->store(true);
    fired_->notify_all();
  }
};

/// Floods an actor directly and through a detached stage, asks it now and then, and waits for a
/// timer.
void exercise(settings o) {
  constexpr std::uint32_t items = 20'000;
  o.log.level = system::log_level::off;
  o.watchdog.after = {};
  actor_system system(o);
  std::atomic<bool> fired{false};
  const auto timed = system.spawn<sleeper>(lent(&fired));
  const auto sum = system.spawn<counter>();
  {
    const auto first = system.spawn<forwarder>(spawn_options{.detached = true}, sum);
    const auto second = system.spawn<forwarder>(sum);
    for (std::uint32_t i = 1; i <= items; ++i) {
      send(first, item{i});
      send(second, item{i});
      if (i % 1000 == 0) CHECK(system.request(sum, ask{}).get().has_value());
    }
  }
  while (system.request(sum, ask{}).get().value() != std::uint64_t{items} * (items + 1)) {}
  fired.wait(false);
}

}  // namespace

TEST_CASE(
    "half a core is enough: workers and detached threads share one processor with a thread that "
    "never rests") {
  const std::vector<std::int32_t> all = base::platform::usable_processors();
  REQUIRE(!all.empty());
  const std::int32_t one[] = {all.back()};
  std::atomic<bool> stop{false};
  std::thread greedy([&] {
    CHECK(base::platform::bind_this_thread(one));
    while (!stop.load(std::memory_order_relaxed)) {}  // order: nothing else is shared
  });
  for (const char* policy : {"work_stealing", "locality_guided", "work_sharing"}) {
    settings o;
    o.scheduler.workers = 2;
    o.scheduler.policy = policy;
    o.scheduler.affinity = o.detached.affinity = "<" + std::to_string(one[0]) + ">";
    exercise(o);
  }
  stop.store(true, std::memory_order_relaxed);  // order: nothing else is shared
  greedy.join();
}

TEST_CASE("32 workers on fewer processors get everything done") {
  for (const char* policy : {"work_stealing", "locality_guided", "work_sharing", "polling_new"}) {
    settings o;
    o.scheduler.workers = 32;
    o.scheduler.policy = policy;
    exercise(o);
  }
}

}  // namespace few_processors_test
