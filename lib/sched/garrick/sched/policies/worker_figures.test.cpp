// The figures of one worker, and the probe to which parks and thefts are reported.
#include <garrick/sched/internal/test_jobs.hpp>
#include <garrick/sched/policies/worker_figures.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace worker_figures_test {

namespace {

using namespace garrick;
using namespace garrick::sched;

struct set_clock {
  static inline std::uint64_t now = 1000;
  static std::uint64_t now_ns() noexcept { return now; }
};
struct set_traits {
  using atomics = base::real_atomics;
  using clock = set_clock;
};

class notes final : public base::probe {
 public:
  void on_worker_parked(std::uint32_t worker) noexcept override {
    told.push_back("parked " + std::to_string(worker));
  }
  void on_worker_woke(std::uint32_t worker) noexcept override {
    told.push_back("woke " + std::to_string(worker));
  }
  void on_stolen(std::uint32_t thief, std::uint32_t victim) noexcept override {
    told.push_back(std::to_string(thief) + " stole from " + std::to_string(victim));
  }
  std::vector<std::string> told;
};

/// Counts events, from several threads.
class counts final : public base::probe {
 public:
  void on_worker_parked(std::uint32_t) noexcept override { add(parked); }
  void on_worker_woke(std::uint32_t) noexcept override { add(woke); }
  void on_stolen(std::uint32_t thief, std::uint32_t victim) noexcept override {
    add(stolen);
    if (thief == victim) add(from_itself);
  }
  std::atomic<std::uint64_t> parked{0}, woke{0}, stolen{0}, from_itself{0};

 private:
  // order: relaxed; read when the pool has stopped
  static void add(std::atomic<std::uint64_t>& n) { n.fetch_add(1, std::memory_order_relaxed); }
};

}  // namespace

TEST_CASE("a sleep is counted and timed, also while it lasts") {
  worker_figures<set_traits> figures(3, nullptr);
  figures.ran();
  figures.park([&] {
    set_clock::now += 50;
    CHECK(figures.read().is_parked);
    CHECK(figures.read().parked_ns == 50);
    set_clock::now += 10;
  });
  set_clock::now += 1000;
  figures.park([] { set_clock::now += 5; });
  const worker_stats seen = figures.read();
  CHECK(!seen.is_parked);
  CHECK(seen.parked_ns == 65);
  CHECK(seen.parks == 2);
  CHECK(seen.runs == 1);
}

TEST_CASE("a probe hears of parks and thefts in their order") {
  notes heard;
  worker_figures<set_traits> figures(3, &heard);
  figures.park([&] { CHECK(heard.told.size() == 1); });
  figures.stole(1);
  CHECK(heard.told == std::vector<std::string>{"parked 3", "woke 3", "3 stole from 1"});
  CHECK(figures.read().steals == 1);
}

TEST_CASE("under every policy the workers' figures add up to those of the pool and of a probe") {
  for (const shipped_policy& policy : shipped_policies()) {
    CAPTURE(policy.name);
    counts heard;
    const auto pool =
        make_scheduler({.policy = std::string(policy.name), .workers = 2, .probe = &heard});
    pool->start();
    std::atomic<std::uint32_t> left{1000};
    test::latch done;
    const auto work = [&] {
      // order: relaxed; the latch tells the test
      if (left.fetch_sub(1, std::memory_order_relaxed) == 1) done.open();
    };
    std::vector<std::unique_ptr<test::job<decltype(work)>>> jobs;
    for (int i = 0; i != 1000; ++i)
      jobs.push_back(std::make_unique<test::job<decltype(work)>>(work));
    for (const auto& j : jobs) pool->schedule(*j);
    done.wait();
    pool->stop();
    worker_stats sum;
    for (std::uint32_t i = 0; i != 2; ++i) {
      const worker_stats one = pool->worker_statistics(i).value();
      CHECK(!one.is_parked);
      CHECK((one.parked_ns == 0) == (one.parks == 0));
      CHECK(one.queued == 0);
      sum.runs += one.runs;
      sum.steals += one.steals;
      sum.parks += one.parks;
    }
    CHECK(sum.runs == 1000);
    CHECK(sum.steals == pool->stats().steals);
    CHECK(sum.parks == pool->stats().parks);
    CHECK(heard.parked == sum.parks);
    CHECK(heard.woke == sum.parks);
    CHECK(heard.stolen == sum.steals);
    CHECK(heard.from_itself == 0);
    CHECK_FALSE(pool->worker_statistics(2));
  }
}

}  // namespace worker_figures_test
