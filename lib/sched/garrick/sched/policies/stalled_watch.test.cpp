// The workers that a busy worker looks at, and the times; and the purpose of these looks: with one
// worker free, every runnable runs within a bound, in any queue and whatever the other workers do.
#include <garrick/sched/internal/test_jobs.hpp>
#include <garrick/sched/policies/stalled_watch.hpp>
#include <garrick/sched/shipped_policies.hpp>

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace stalled_watch_test {

using namespace garrick;
using namespace garrick::sched;
using namespace garrick::sched::test;

TEST_CASE("a busy worker looks at another one once in so many messages, in whole rounds") {
  stalled_watch watch(0, 256, 2048);
  for (int looks = 0; looks < 3; ++looks) {
    for (int round = 1; round < 8; ++round) CHECK_FALSE(watch.is_due());
    CHECK(watch.is_due());
  }
  stalled_watch of_long_rounds(0, 4096, 2048);
  CHECK(of_long_rounds.is_due());
}

TEST_CASE("each of the others is watched in turn, from one look to the next") {
  stalled_watch watch(1, 1, 1);
  CHECK_FALSE(watch.stands_still(0));  // none yet
  for (const std::uint32_t whom : {2U, 3U, 0U, 2U}) {
    CHECK(watch.watch_next(4) == whom);
    watch.note(7);
    CHECK(watch.whom() == whom);
    CHECK(watch.stands_still(7));
    CHECK_FALSE(watch.stands_still(8));
  }
}

namespace {

using simple = job<std::function<void()>>;

/// Two workers: on one a handler that waits, on the other a ping-pong. The ping-pong counts its
/// messages from the moment when everything has been added, and ends at the bound.
struct half_stalled_pool {
  static constexpr std::uint64_t count = 100;
  // The bound of W4, whether all runnables wait at the stalled worker or half of them. One more
  // look passes before the first look that counts.
  static constexpr std::uint64_t bound =
      (2 * count + 3) * default_look_interval + (2 * (count + 2) + 2) * 256;

  std::unique_ptr<scheduler> pool;
  watchdog dog{*pool};
  latch blocked, playing, added, ended, finish;
  std::vector<std::unique_ptr<simple>> all;
  std::atomic<std::uint64_t> runs{0};
  std::uint64_t runs_at_bound = 0;
  std::unique_ptr<simple> balls[2];
  std::uint64_t played = 0;  ///< messages so far; only the ping-pong counts them
  std::uint64_t counted = 0;

  explicit half_stalled_pool(const std::string& policy)
      : pool(started({.policy = policy, .workers = 2})) {
    for (std::uint64_t i = 0; i < count; ++i)
      all.push_back(std::make_unique<simple>([&] {
        ++runs;
        dog.progress();
      }));
    for (std::size_t i = 0; i < 2; ++i) balls[i] = std::make_unique<simple>([this, i] { play(i); });
  }

  void play(std::size_t i) {
    if (++played == 1000) playing.open();
    if (added.is_open() && ++counted == bound) {
      runs_at_bound = runs.load();
      ended.open();
    } else {
      pool->schedule(*balls[1 - i]);
    }
  }

  void add_all() {
    for (const auto& one : all) pool->schedule(*one);
    added.open();
  }

  void check(simple& blocker) {
    pool->schedule(blocker);
    blocked.wait();
    pool->schedule(*balls[0]);
    ended.wait();
    CHECK(runs_at_bound == count);
    finish.open();
    pool->stop();
  }
};

}  // namespace

TEST_CASE("while one worker stands still and the other is busy, everybody runs within a bound") {
  for (const std::string& policy : available_policies()) {
    CAPTURE(policy);
    half_stalled_pool p(policy);
    std::thread outside([&] {
      p.playing.wait();
      p.add_all();
    });
    simple blocker([&] {
      p.blocked.open();
      p.finish.wait();
    });
    p.check(blocker);
    outside.join();
  }
}

TEST_CASE("runnables woken by a handler before it came to a standstill run within the bound, too") {
  for (const std::string& policy : available_policies()) {
    CAPTURE(policy);
    half_stalled_pool p(policy);
    simple blocker([&] {
      p.blocked.open();
      p.playing.wait();  // from now on no worker is free
      p.add_all();       // the last one into the next slot, if there is one
      p.finish.wait();
    });
    p.check(blocker);
  }
}

}  // namespace stalled_watch_test
