// Work stealing when its limit on the number of awake workers is reached (W5), without threads: the
// choice of the worker that gets work from outside, and of the worker that such work wakes.
#include <garrick/sched/internal/test_unthreaded.hpp>
#include <garrick/sched/policies/work_stealing.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace worker_watch_test {

using namespace garrick;
using namespace garrick::sched;
using sched::test::item;
using sched::test::scripted_parker;

namespace {

constexpr std::uint64_t look_ns = 100'000;

/// A clock that advances when the helper sleeps; then a script runs.
struct helpers_clock {
  static inline std::uint64_t now;
  static inline std::function<void()> at_each_look;
  static std::uint64_t now_ns() noexcept { return now += 100; }
  static std::uint64_t thread_cpu_ns() noexcept { return 0; }
  static void sleep_ns(std::uint64_t) noexcept {
    now += look_ns;
    at_each_look();
  }
};

/// Places at which each worker that is awake runs for half of the time, and waits for a processor
/// for the other half.
struct crowded_place {
  struct thread {
    static constexpr std::int32_t unknown = -1;
    [[nodiscard]] std::int32_t processor() const noexcept { return unknown; }
    [[nodiscard]] std::optional<base::platform::processor_times> times() const noexcept {
      return base::platform::processor_times{.ran_ns = helpers_clock::now / 2,
                                             .waited_ns = helpers_clock::now / 2};
    }
  };
  static thread of_this_thread() noexcept { return {}; }
  static bool leave(std::span<const std::int32_t>) noexcept { return false; }
};

struct crowded_traits : real_traits {
  using parker = scripted_parker;
  using clock = helpers_clock;
  using place = crowded_place;
};

/// Workers of which the second one sleeps. The first one is awake, has something in its inbox, and
/// gets through its work.
struct crowd {
  explicit crowd(std::uint32_t workers = 2)
      : count(workers),
        policy(policy_options{.workers = workers, .quantum = 1024, .idle_spin_ns = 0}) {}

  std::uint32_t count;
  work_stealing<crowded_traits> policy;
  stealing_worker<crowded_traits>& awake = policy.worker(0);
  stealing_worker<crowded_traits>& asleep = policy.worker(1);
  item running;
  std::array<item, 4> items;

  [[nodiscard]] std::uint64_t wakes() const { return policy.statistics().wakes; }
  void begin_run() { static_cast<void>(policy.before_resume(awake, running)); }

  /// Calls `at_limit` when only one worker may be awake, and ends after this many further looks.
  template <class F>
  void run(const F& at_limit, int more_looks = 0) {
    helpers_clock::now = 1;
    for (std::uint32_t i = 0; i < count; ++i)
      if (i != asleep.own_index) policy.worker(i).front.sit();
    int looks = 0;
    helpers_clock::at_each_look = [&] {
      awake.emptied.add();
      if (++looks == 50) {
        CHECK(policy.describe().find("at most 1 awake") != std::string::npos);
        at_limit();
      }
      if (looks == 50 + more_looks) policy.request_stop();
    };
    scripted_parker::script = [&] {
      begin_run();
      policy.central_enqueue(items[0]);
      CHECK(wakes() == 0);
      policy.helper();
    };
    CHECK(policy.dequeue(asleep) == nullptr);
    CHECK(looks == 50 + more_looks);
    while (base::runnable* const r = policy.drain_one()) static_cast<void>(r->take());
  }
};

}  // namespace

TEST_CASE(
    "worker watch: at the limit, work from outside is left to one that has some and goes on") {
  crowd c;
  c.run([&] {
    c.begin_run();
    c.policy.central_enqueue(c.items[1]);
    CHECK(c.asleep.inbox.looks_empty());
    CHECK(c.wakes() == 0);
  });
}

TEST_CASE("worker watch: at the limit, one that is held up is left no more work from outside") {
  crowd c;
  c.run([&] {
    c.begin_run();
    c.policy.central_enqueue(c.items[1]);
    c.policy.central_enqueue(c.items[2]);  // no run has begun since
    CHECK_FALSE(c.asleep.inbox.looks_empty());
    CHECK(c.wakes() == 1);
  });
}

TEST_CASE("worker watch: at the limit, no worker is called for open work") {
  crowd c;
  c.run([&] {
    c.policy.external_enqueue(c.awake, c.items[1]);
    CHECK(c.wakes() == 0);
  });
}

TEST_CASE("worker watch: at the limit, a helper that rests is called for open work") {
  crowd c;
  bool was_called = false;
  c.run(
      [&] {
        REQUIRE(c.awake.inbox.take_oldest() == &c.items[0]);
        scripted_parker::script = [&] {  // while the helper rests
          CHECK(c.policy.describe().find("ticker asleep") != std::string::npos);
          c.policy.external_enqueue(c.awake, c.items[1]);
          CHECK(c.wakes() == 0);
          was_called = c.policy.describe().find("ticker armed") != std::string::npos;
        };
      },
      20);
  CHECK(was_called);
}

TEST_CASE("worker watch: at the limit, a worker is woken for an item that stays in a slot") {
  crowd c;
  c.run(
      [&] {
        REQUIRE(c.awake.front.slot.put(c.items[1]) == nullptr);
        CHECK(c.wakes() == 0);
      },
      1);
  CHECK(c.policy.statistics().exposed == 1);
  CHECK(c.wakes() == 1);
}

TEST_CASE("worker watch: a worker beyond the limit sleeps without a search") {
  crowd c(3);
  c.run([&] {
    REQUIRE(c.items[1].offer());
    c.awake.deque.push(&c.items[1]);
    scripted_parker::script = [&] { c.policy.request_stop(); };
    CHECK(c.policy.dequeue(c.policy.worker(2)) == nullptr);
    CHECK(c.awake.deque.size() == 1);
  });
}

}  // namespace worker_watch_test
