// On one worker each of k runnables runs within k quanta, however long the others run.
#include <garrick/sched/internal/test_jobs.hpp>
#include <garrick/sched/shipped_policies.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace fairness_test {

using namespace garrick;
using namespace garrick::sched;
using namespace garrick::sched::test;

namespace {

/// A crowd on one worker: a clock of messages, and the longest time that any of the watched
/// runnables had to wait.
struct crowd {
  explicit crowd(std::uint32_t quantum_of_pool, const char* policy = "work_stealing")
      : quantum(quantum_of_pool),
        pool(make_scheduler({.policy = policy, .workers = 1, .quantum = quantum_of_pool})) {}

  std::uint32_t quantum;
  std::unique_ptr<scheduler> pool;
  std::uint64_t messages = 0;  ///< handled by all; only the worker writes it
  std::uint64_t longest_wait = 0;
  std::uint64_t watched_runs = 0;
  std::uint64_t ball_runs = 0;               ///< of those that play ping-pong
  std::size_t waits_for_message = SIZE_MAX;  ///< the place in `all` that is not scheduled at first
  std::uint64_t enough = 0;                  ///< messages after which all stop
  latch ended;
  using anybody = job<std::function<base::run_outcome(std::uint32_t&)>>;
  std::vector<std::unique_ptr<anybody>> all;

  /// Adds a runnable that handles as many messages as allowed in every run and always wants more.
  /// Its waits are recorded.
  void add_greedy() {
    all.push_back(
        std::make_unique<anybody>([this, last = std::uint64_t{0}](std::uint32_t& budget) mutable {
          longest_wait = std::max(longest_wait, messages - last);
          messages += budget;
          budget = 0;
          last = messages;
          ++watched_runs;
          if (messages < enough) return base::run_outcome::more;
          ended.open();
          return base::run_outcome::released;
        }));
  }

  /// Adds two runnables that hand one message back and forth for ever, through the next slot. Their
  /// waits are recorded, too.
  void add_ping_pong() {
    const std::size_t first = all.size();
    waits_for_message = first + 1;
    const auto sent = std::make_shared<std::uint64_t>(0);
    for (std::size_t i = 0; i < 2; ++i) {
      all.push_back(
          std::make_unique<anybody>([this, sent, other = first + 1 - i](std::uint32_t& budget) {
            longest_wait = std::max(longest_wait, messages - *sent);
            --budget;
            *sent = ++messages;
            ++ball_runs;
            if (messages < enough) pool->schedule(*all[other]);
            return base::run_outcome::released;
          }));
    }
  }

  /// Adds three runnables that keep the deque's new end in motion: each run wakes the two others,
  /// if they are not awake already.
  void add_churn() {
    const std::size_t first = all.size();
    auto awake = std::make_shared<std::vector<bool>>(3, true);
    for (std::size_t i = 0; i < 3; ++i) {
      all.push_back(std::make_unique<anybody>([this, first, i, awake](std::uint32_t& budget) {
        --budget;
        ++messages;
        (*awake)[i] = false;
        for (std::size_t j = 0; j < 3; ++j) {
          if (j == i || (*awake)[j] || messages >= enough) continue;
          (*awake)[j] = true;
          pool->schedule(*all[first + j]);
        }
        return base::run_outcome::released;
      }));
    }
  }

  void run(std::uint64_t how_many) {
    enough = how_many;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (i != waits_for_message) pool->schedule(*all[i]);
    pool->start();
    ended.wait();
    pool->stop();
  }

  [[nodiscard]] std::uint64_t bound() const { return std::uint64_t{quantum} * all.size(); }
};

}  // namespace

TEST_CASE("greedy runnables share one worker in turns") {
  crowd c(64);
  for (int i = 0; i < 7; ++i) c.add_greedy();
  c.run(100'000);
  CHECK(c.longest_wait > 0);
  CHECK(c.longest_wait <= c.bound());
}

TEST_CASE("an endless ping-pong in the next slot starves no runnable") {
  for (const std::uint32_t quantum : {8U, 64U, 1024U}) {
    crowd c(quantum);
    for (int i = 0; i < 5; ++i) c.add_greedy();
    c.add_ping_pong();
    c.run(quantum * 1'000);
    CAPTURE(quantum);
    CHECK(c.watched_runs > 100);
    CHECK(c.ball_runs > 100);
    CHECK(c.longest_wait <= c.bound());
  }
}

TEST_CASE("churn at the new end of the deque starves no runnable") {
  for (const char* policy :
       {"work_stealing", "locality_guided", "polling_default", "polling_aggressive", "polling_new"})
    for (const std::uint32_t quantum : {8U, 256U}) {
      crowd c(quantum, policy);
      for (int i = 0; i < 4; ++i) c.add_greedy();
      c.add_churn();
      c.add_ping_pong();
      c.run(quantum * 2'000);
      CAPTURE(policy);
      CAPTURE(quantum);
      CHECK(c.watched_runs > 100);
      CHECK(c.longest_wait <= c.bound());
    }
}

TEST_CASE("a quantum without limit still lets others in between the messages of a ping-pong") {
  auto pool = make_scheduler({.workers = 1, .quantum = unlimited});
  latch ended;
  std::unique_ptr<job<std::function<void()>>> ball[2];
  for (std::size_t i = 0; i < 2; ++i)
    ball[i] = std::make_unique<job<std::function<void()>>>([&, i] {
      if (!ended.is_open()) pool->schedule(*ball[1 - i]);
    });
  job other([&] { ended.open(); });
  std::uint32_t given = 0;
  job asks([&](std::uint32_t& budget) {
    given = budget;
    --budget;
    pool->schedule(*ball[0]);
    return base::run_outcome::released;
  });
  pool->schedule(asks);
  pool->schedule(other);
  pool->start();
  ended.wait();
  pool->stop();
  CHECK(given == unlimited);
}

TEST_CASE("one that is alone on its worker keeps running without waking anybody") {
  auto pool = started({.workers = 2});
  latch done;
  std::uint32_t runs = 0;
  job greedy([&](std::uint32_t& budget) {
    budget = 0;
    if (++runs < 10'000) return base::run_outcome::more;
    done.open();
    return base::run_outcome::released;
  });
  const auto before = pool->stats().wakes;
  pool->schedule(greedy);
  done.wait();
  // The ticker may call a worker when the system takes its processor away at a bad moment.
  CHECK(pool->stats().wakes - before < runs / 100);
}

}  // namespace fairness_test
