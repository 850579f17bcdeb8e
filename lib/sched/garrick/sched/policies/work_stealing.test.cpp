// Work stealing without threads: the turn of a runnable that has arrived from outside, the worker
// to which it is left, the length of rounds, the calls of sleeping workers, and the fate of a
// runnable that was claimed in its queue.
#include <garrick/sched/internal/test_unthreaded.hpp>
#include <garrick/sched/policies/work_stealing.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

namespace work_stealing_test {

using namespace garrick;
using namespace garrick::sched;
using sched::test::item;
using sched::test::no_time;
using sched::test::scripted_parker;

namespace {

struct timeless_traits : real_traits {
  using clock = no_time;
};

/// Lets the rounds of `self` become as long as they may be.
template <class Worker>
void grow_round(Worker& self) {
  while (self.round.allowance(1024) != 256) {
    self.round.use(self.round.allowance(1024));
    self.round.measure(1);
    static_cast<void>(self.round.begin());
  }
}

/// One worker with a deque that never runs dry: a runnable that has run is scheduled again.
struct busy_worker {
  work_stealing<timeless_traits> policy{
      policy_options{.workers = 1, .quantum = 1024, .idle_spin_ns = 0}};
  stealing_worker<timeless_traits>& self = policy.worker(0);
  std::array<item, 3> own;

  busy_worker() {
    for (item& i : own) policy.internal_enqueue(self, i);
  }
  ~busy_worker() {
    while (base::runnable* const r = policy.drain_one()) static_cast<void>(r->take());
  }

  /// Runs the next runnable and returns it. The runnable handles `messages`, or one message if it
  /// is one of `own`.
  base::runnable* run_next(std::uint32_t messages = 1) {
    base::runnable* const r = policy.dequeue(self);
    static_cast<void>(r->take());
    static_cast<void>(policy.before_resume(self, *r));
    if (is_own(r)) policy.internal_enqueue(self, *r);
    policy.after_resume(self, is_own(r) ? 1 : messages);
    return r;
  }

  [[nodiscard]] bool is_own(const base::runnable* r) const {
    return std::any_of(own.begin(), own.end(), [r](const item& i) { return &i == r; });
  }
};

}  // namespace

TEST_CASE(
    "work stealing: on a busy worker one from outside runs soon, and then others have a turn") {
  busy_worker w;
  for (int i = 0; i < 1000; ++i) REQUIRE(w.is_own(w.run_next()));
  std::array<item, 3> arrivals;
  for (item& a : arrivals) w.policy.central_enqueue(a);
  const base::runnable* next = w.run_next(4);
  for (std::uint32_t i = 1; i < worker_round::between_looks && w.is_own(next); ++i)
    next = w.run_next(4);
  for (const item& a : arrivals) {
    if (&a != &arrivals.front()) next = w.run_next(4);
    CHECK(next == &a);
    for (int i = 0; i < 4; ++i) CHECK(w.is_own(w.run_next()));
  }
}

TEST_CASE(
    "work stealing: a worker that had nothing to do first goes on with the work that it has "
    "begun") {
  work_stealing<timeless_traits> policy(
      policy_options{.workers = 1, .quantum = 1024, .idle_spin_ns = 0});
  auto& self = policy.worker(0);
  item first;
  item second;
  std::array<item, 2> chain;
  grow_round(self);
  policy.central_enqueue(first);
  const auto run = [&] {
    base::runnable* const r = policy.dequeue(self);
    static_cast<void>(r->take());
    static_cast<void>(policy.before_resume(self, *r));
    return r;
  };
  REQUIRE(run() == &first);
  policy.central_enqueue(second);  // while it runs
  policy.internal_enqueue(self, chain[0]);
  policy.after_resume(self, 1);
  for (std::uint32_t i = 1; i < worker_round::patience; ++i) {
    REQUIRE(run() == &chain[(i + 1) % 2]);
    policy.internal_enqueue(self, chain[i % 2]);
    policy.after_resume(self, 1);
  }
  CHECK(run() == &second);
  while (base::runnable* const r = policy.drain_one()) static_cast<void>(r->take());
}

namespace {

struct scripted_traits : timeless_traits {
  using parker = scripted_parker;
};

/// While the second of two workers sleeps and the first is awake, `first` and `second` come from
/// outside; another thread takes `first` in between, and then `meanwhile(policy, awake)` happens.
/// Returns true if `second` was left to the worker that is awake.
template <class Meanwhile>
bool left_to_who_is_awake(Meanwhile meanwhile) {
  work_stealing<scripted_traits> policy(
      policy_options{.workers = 2, .quantum = 1024, .idle_spin_ns = 0});
  auto& awake = policy.worker(0);
  auto& asleep = policy.worker(1);
  item running;
  item first;
  item second;
  item last;
  static_cast<void>(policy.before_resume(awake, running));
  bool left = false;
  scripted_parker::script = [&] {
    policy.central_enqueue(first);
    REQUIRE(awake.inbox.take_oldest() == &first);
    meanwhile(policy, awake);
    policy.central_enqueue(second);
    left = !awake.inbox.seems_empty();
    CHECK(asleep.inbox.seems_empty() == left);
    if (left) policy.external_enqueue(asleep, last);
  };
  CHECK(policy.dequeue(asleep) != nullptr);
  while (base::runnable* const r = policy.drain_one()) static_cast<void>(r->take());
  return left;
}

}  // namespace

TEST_CASE("work stealing: work from outside is left to a worker that is awake and goes on") {
  item next;
  CHECK(left_to_who_is_awake(
      [&](auto& policy, auto& awake) { static_cast<void>(policy.before_resume(awake, next)); }));
}

TEST_CASE("work stealing: a worker in a handler that takes long is left nothing more") {
  CHECK_FALSE(left_to_who_is_awake([](auto&, auto&) {}));
}

TEST_CASE(
    "work stealing: if one that is awake is in a long handler, another one is left the work") {
  work_stealing<scripted_traits> policy(
      policy_options{.workers = 3, .quantum = 1024, .idle_spin_ns = 0});
  auto& stuck = policy.worker(0);
  auto& goes_on = policy.worker(1);
  auto& asleep = policy.worker(2);
  std::array<item, 5> items;
  static_cast<void>(policy.before_resume(stuck, items[0]));
  static_cast<void>(policy.before_resume(goes_on, items[1]));
  scripted_parker::script = [&] {
    policy.central_enqueue(items[2]);
    REQUIRE(stuck.inbox.take_oldest() == &items[2]);
    policy.central_enqueue(items[3]);
    CHECK(goes_on.inbox.take_oldest() == &items[3]);
    policy.external_enqueue(asleep, items[4]);
  };
  CHECK(policy.dequeue(asleep) == &items[4]);
  for (item& i : items) static_cast<void>(i.take());
}

namespace {

struct set_clock : no_time {
  static inline std::uint64_t now;
  static std::uint64_t now_ns() noexcept { return now; }
};
struct set_clock_traits : scripted_traits {
  using clock = set_clock;
};

}  // namespace

TEST_CASE("work stealing: rounds are short where messages take long") {
  constexpr std::uint64_t message_ns = 4'000'000;
  set_clock::now = 1;
  work_stealing<set_clock_traits> policy(
      policy_options{.workers = 1, .quantum = 1024, .idle_spin_ns = 0});
  auto& self = policy.worker(0);
  item greedy;
  policy.central_enqueue(greedy);
  std::uint32_t may_handle = 0;
  for (int i = 0; i < 20; ++i) {
    base::runnable* const r = policy.dequeue(self);
    REQUIRE(r == &greedy);
    REQUIRE(r->take());
    may_handle = policy.before_resume(self, *r);
    set_clock::now += may_handle * message_ns;
    policy.after_resume(self, may_handle);
    policy.resume_later(self, *r);
  }
  CHECK(may_handle == worker_round::most_ns / message_ns);
  while (base::runnable* const r = policy.drain_one()) static_cast<void>(r->take());
}

TEST_CASE("work stealing: a worker's first messages are few, however many wait") {
  work_stealing<timeless_traits> policy(
      policy_options{.workers = 1, .quantum = 1024, .idle_spin_ns = 0});
  item greedy;
  policy.central_enqueue(greedy);
  base::runnable* const r = policy.dequeue(policy.worker(0));
  REQUIRE(r == &greedy);
  REQUIRE(r->take());
  CHECK(policy.before_resume(policy.worker(0), *r) == 8);
}

TEST_CASE("work stealing: rounds are short where messages take long, although the worker sleeps") {
  constexpr std::uint64_t message_ns = 4'000'000;
  set_clock::now = 1;
  work_stealing<set_clock_traits> policy(
      policy_options{.workers = 1, .quantum = 1024, .idle_spin_ns = 0});
  auto& self = policy.worker(0);
  /// Sleeps until an item comes from outside. Returns how many messages that item may handle.
  const auto awake_for = [&](item& one) {
    scripted_parker::script = [&] { policy.central_enqueue(one); };
    base::runnable* const r = policy.dequeue(self);
    REQUIRE(r == &one);
    REQUIRE(r->take());
    return policy.before_resume(self, *r);
  };
  std::array<item, 3> bursts;
  grow_round(self);
  CHECK(awake_for(bursts[0]) == 256);
  set_clock::now += 150 * message_ns;
  policy.after_resume(self, 150);
  CHECK(awake_for(bursts[1]) == 106);
  set_clock::now += 106 * message_ns;
  policy.after_resume(self, 106);
  CHECK(awake_for(bursts[2]) == worker_round::most_ns / message_ns);
}

TEST_CASE("work stealing: a worker is called for one that goes on later, unless it is alone") {
  using worker = stealing_worker<scripted_traits>;
  using add_function = void (*)(worker& to, item& next);
  const auto calls_after = [](add_function add) {
    work_stealing<scripted_traits> policy(
        policy_options{.workers = 2, .quantum = 1024, .idle_spin_ns = 0});
    auto& awake = policy.worker(0);
    item later;
    item next;
    item last;
    std::uint64_t calls = 0;
    scripted_parker::script = [&] {
      if (add != nullptr) add(awake, next);  // calls no worker
      policy.resume_later(awake, later);
      calls = policy.statistics().wakes;
      policy.external_enqueue(policy.worker(1), last);
    };
    CHECK(policy.dequeue(policy.worker(1)) == &last);
    static_cast<void>(last.take());
    while (base::runnable* const r = policy.drain_one()) static_cast<void>(r->take());
    return calls;
  };
  CHECK(calls_after(nullptr) == 0);
  CHECK(calls_after([](worker& to, item& next) { CHECK(to.front.slot.put(next) == nullptr); }) ==
        1);
  CHECK(calls_after([](worker& to, item& next) {
          REQUIRE(next.offer());
          to.deque.push(&next);
        }) == 1);
  CHECK(calls_after([](worker& to, item& next) {
          REQUIRE(next.offer());
          to.inbox.push(next);
        }) == 1);
}

TEST_CASE(
    "work stealing: a worker is called for a runnable that leaves the slot when a round begins") {
  work_stealing<scripted_traits> policy(
      policy_options{.workers = 2, .quantum = 1024, .idle_spin_ns = 0});
  auto& awake = policy.worker(0);
  item in_deque;
  item in_slot;
  scripted_parker::script = [&] {
    REQUIRE(in_deque.offer());
    awake.deque.push(&in_deque);  // calls no worker
    policy.internal_enqueue(awake, in_slot);
    REQUIRE(policy.statistics().wakes == 0);
    awake.round.use(256);
    CHECK(policy.dequeue(awake) == &in_deque);
    CHECK(policy.statistics().wakes == 1);
  };
  CHECK(policy.dequeue(policy.worker(1)) == &in_slot);
  CHECK(in_deque.take());
  CHECK(in_slot.take());
}

TEST_CASE("work stealing: each round takes the oldest of the deque if the inbox has none") {
  work_stealing<timeless_traits> policy(
      policy_options{.workers = 1, .quantum = 4, .idle_spin_ns = 0});
  auto& self = policy.worker(0);
  std::array<item, 3> items;
  for (item& i : items) {
    REQUIRE(i.offer());
    self.deque.push(&i);
  }
  self.round.use(1);
  for (std::size_t i = 0; i < 12; ++i) {
    CAPTURE(i);
    base::runnable* const r = policy.dequeue(self);
    CHECK(r == &items[i % 3]);
    REQUIRE(r->take());
    policy.after_resume(self, policy.before_resume(self, *r));
    policy.resume_later(self, *r);
  }
  while (base::runnable* const r = policy.drain_one()) static_cast<void>(r->take());
}

TEST_CASE(
    "work stealing: a runnable that gives up its turn early waits in the inbox until the round is "
    "over") {
  work_stealing<timeless_traits> policy(
      policy_options{.workers = 1, .quantum = 1024, .idle_spin_ns = 0});
  auto& self = policy.worker(0);
  item early;
  item late;
  grow_round(self);
  self.round.use(255);
  REQUIRE(self.round.is_due());  // for arrivals
  policy.resume_later(self, early);
  CHECK_FALSE(self.inbox.seems_empty());
  CHECK(self.deque.empty_for_owner());
  self.round.use(1);
  policy.resume_later(self, late);
  CHECK_FALSE(self.deque.empty_for_owner());
  while (base::runnable* const r = policy.drain_one()) static_cast<void>(r->take());
}

TEST_CASE(
    "work stealing: a runnable that a queue still names waits there again, and not in the next "
    "slot") {
  work_stealing<> policy(policy_options{.workers = 1, .quantum = 64, .idle_spin_ns = 0});
  auto& self = policy.worker(0);
  item claimed;
  item next;
  policy.external_enqueue(self, claimed);
  REQUIRE(policy.claim(self, claimed));  // its entry stays in the inbox
  policy.internal_enqueue(self, next);
  policy.internal_enqueue(self, claimed);
  CHECK(policy.claim_next(self, &next));
  CHECK_FALSE(policy.claim_next(self, &claimed));
  CHECK(claimed.is_queued());
  REQUIRE(policy.dequeue(self) == &claimed);
  CHECK(claimed.take());
  CHECK(policy.drain_one() == nullptr);
}

}  // namespace work_stealing_test
