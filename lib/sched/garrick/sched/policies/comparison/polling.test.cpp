// The pollers of paper 000: each configuration's phases are counted, attempt by attempt, on a clock
// that only notes its sleeps.
#include <garrick/sched/policies/comparison/polling.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace polling_test {

using namespace garrick;
using namespace garrick::sched;

namespace {

/// A run of attempts that ended in the same way.
struct stretch {
  std::uint64_t pause_ns = 0;
  bool for_event = false;
  std::uint32_t attempts = 0;
  std::uint32_t thefts = 0;  ///< attempts that asked a victim, too
  friend bool operator==(const stretch&, const stretch&) = default;
};

/// The notes of the one thread of these tests.
struct notes {
  std::vector<stretch> seen;
  std::uint32_t thefts = 0;  ///< since the last pause
  std::function<void()> at_pause{};
};
notes* noting = nullptr;

void note_pause(std::uint64_t ns, bool for_event) {
  notes& n = *noting;
  if (n.seen.empty() || n.seen.back().pause_ns != ns || n.seen.back().for_event != for_event)
    n.seen.push_back({ns, for_event});
  ++n.seen.back().attempts;
  n.seen.back().thefts += n.thefts;
  n.thefts = 0;
  if (n.at_pause) n.at_pause();
}

struct noting_atomics : base::real_atomics {
  static void pause() noexcept { note_pause(0, false); }
};
struct noting_clock : real_clock {
  static void sleep_ns(std::uint64_t ns) noexcept { note_pause(ns, false); }
};
/// A random number is drawn for each theft and for nothing else.
struct noting_random {
  explicit noting_random(std::uint64_t) noexcept {}
  std::uint32_t operator()() noexcept { return noting->thefts++; }
};
/// Never sleeps; keeps the token as base::parker does.
class noting_parker {
 public:
  bool park_for(std::uint64_t ns) noexcept {
    note_pause(ns, true);
    const bool had = token_;
    token_ = false;
    return had;
  }
  bool unpark() noexcept {
    token_ = true;
    ++unparked;
    return true;
  }
  static inline std::uint32_t unparked = 0;

 private:
  bool token_ = false;
};
struct noting_traits {
  using atomics = noting_atomics;
  using parker = noting_parker;
  using clock = noting_clock;
  using place = real_place;
  using random = noting_random;
  using mutex = std::mutex;
};

struct item final : base::runnable {
  base::run_outcome run(std::uint32_t&) noexcept override { return base::run_outcome::released; }
};

/// Returns the phases of worker 0 of three while there is nothing to do, until it has looked
/// `relaxed` times in its last phase.
template <class Policy>
std::vector<stretch> phases_of(std::uint32_t relaxed) {
  notes n;
  noting = &n;
  Policy policy(policy_options{.workers = 3});
  std::uint32_t pauses = 0;
  n.at_pause = [&] {
    if (++pauses == 600 + relaxed) policy.request_stop();
  };
  CHECK(policy.dequeue(policy.worker(0)) == nullptr);
  return n.seen;
}

using stretches = std::vector<stretch>;
constexpr std::uint64_t us = 1000;

}  // namespace

TEST_CASE("polling: default has table I's attempts, steal intervals and sleeps") {
  CHECK(phases_of<polling_default<noting_traits>>(40) ==
        stretches{{0, false, 100, 10}, {50 * us, false, 500, 100}, {10'000 * us, false, 40, 40}});
}

TEST_CASE(
    "polling: custom sleeps a microsecond in its later phases, and steals at every fifth attempt "
    "of the last") {
  CHECK(phases_of<polling_custom<noting_traits>>(40) ==
        stretches{{0, false, 100, 10}, {1 * us, false, 500 + 40, 100 + 8}});
}

TEST_CASE("polling: aggressive never sleeps") {
  CHECK(phases_of<polling_aggressive<noting_traits>>(40) ==
        stretches{{0, false, 100 + 500 + 40, 10 + 100 + 40}});
}

TEST_CASE("polling: new waits for an event in its last phase") {
  CHECK(phases_of<polling_new<noting_traits>>(40) ==
        stretches{{0, false, 100, 10}, {1 * us, false, 500, 100}, {200 * us, true, 40, 40}});
}

TEST_CASE("polling: phases of one's own are template arguments") {
  using own = polling<poll_names::custom, poll_phase<3, 2, 0>, poll_phase<4, 3, 7>,
                      poll_phase<for_ever, 1, 9>, noting_traits>;
  notes n;
  noting = &n;
  own policy(policy_options{.workers = 2});
  n.at_pause = [&, pauses = 0]() mutable {
    if (++pauses == 3 + 4 + 2) policy.request_stop();
  };
  CHECK(policy.dequeue(policy.worker(1)) == nullptr);
  CHECK(n.seen == stretches{{0, false, 3, 2}, {7, false, 4, 2}, {9, false, 2, 2}});
}

TEST_CASE(
    "polling: a runnable found in any phase ends it, and the next search begins with the first") {
  notes n;
  noting = &n;
  polling_default<noting_traits> policy(policy_options{.workers = 2});
  item a;
  std::uint32_t pauses = 0;
  std::uint32_t comes_at = 0;
  n.at_pause = [&] {
    if (++pauses == comes_at) policy.internal_enqueue(policy.worker(1), a);
  };
  for (const std::uint32_t when : {7U, 350U, 605U}) {
    n.seen.clear();
    pauses = 0;
    comes_at = when;
    CHECK(policy.dequeue(policy.worker(0)) == &a);
    REQUIRE(a.take());
    REQUIRE(!n.seen.empty());
    CHECK(n.seen.front().pause_ns == 0);
    // A theft is tried at every tenth, fifth, or each attempt.
    CHECK(pauses == (when < 100 ? 10 : when < 600 ? 350 : 605));
  }
}

TEST_CASE(
    "polling: a thread that puts work into a worker's inbox signals its event; the other "
    "configurations have none") {
  notes n;
  noting = &n;
  const auto signals = [&](auto& policy) {
    const std::uint32_t before = noting_parker::unparked;
    item a;
    policy.external_enqueue(policy.worker(0), a);
    CHECK(policy.dequeue(policy.worker(0)) == &a);
    return noting_parker::unparked - before;
  };
  polling_new<noting_traits> with(policy_options{.workers = 2});
  CHECK(signals(with) == 1);
  CHECK(with.statistics().wakes == 1);
  polling_default<noting_traits> without(policy_options{.workers = 2});
  CHECK(signals(without) == 0);
}

}  // namespace polling_test
