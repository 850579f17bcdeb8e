// Long runs of the whole pool: many park and wake rounds, random trees, busy owners.
// GARRICK_TORTURE=100 makes them a hundred times longer.
#include <garrick/sched/internal/test_jobs.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <vector>

namespace torture_test {

using namespace garrick;
using namespace garrick::sched;
using namespace garrick::sched::test;

namespace {

/// Gives locality_guided homes on several nodes; the other policies ignore it.
constexpr const char* machine = "pack:2 numa:1 l3:1 core:2 pu:1";

/// An outside thread schedules one job, waits for it, and so on: every round parks and wakes a
/// worker.
void park_and_wake(const char* policy, std::uint32_t workers, std::uint32_t outsiders,
                   std::uint32_t count) {
  auto pool = started({.policy = policy, .workers = workers, .machine = machine});
  watchdog dog(*pool);
  std::vector<std::thread> threads;
  std::atomic<std::uint64_t> ran{0};
  for (std::uint32_t i = 0; i < outsiders; ++i) {
    threads.emplace_back([&] {
      base::parker done;
      job ping([&] {
        ran.fetch_add(1, std::memory_order_relaxed);  // order: relaxed; read after the join
        done.unpark();
      });
      for (std::uint32_t round = 0; round < count; ++round) {
        pool->schedule(ping);
        done.park();
        dog.progress();
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(ran.load() == std::uint64_t{outsiders} * count);
}

/// A node of a tree: schedules up to three children, and frees itself.
class node final : public base::runnable {
 public:
  struct tree {
    base::executor* on;
    std::atomic<std::uint32_t> alive{1};
    std::atomic<std::uint64_t> visited{0};
    base::parker done{};
  };
  node(tree& t, std::uint32_t depth, std::uint64_t seed) : tree_(t), depth_(depth), random_(seed) {}

  base::run_outcome run(std::uint32_t& budget) noexcept override {
    --budget;
    const std::uint32_t children = depth_ == 0 ? 0 : random_() % 4;
    // order: relaxed; this node still counts
    tree_.alive.fetch_add(children, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < children; ++i)
      tree_.on->schedule(*new node(tree_, depth_ - 1, random_()));
    tree_.visited.fetch_add(1, std::memory_order_relaxed);  // order: relaxed; read after done
    tree& t = tree_;
    delete this;
    // order: acq_rel, all nodes before the last one's
    if (t.alive.fetch_sub(1, std::memory_order_acq_rel) == 1) t.done.unpark();
    return base::run_outcome::released;
  }

 private:
  tree& tree_;
  std::uint32_t depth_;
  xorshift random_;
};

std::uint64_t size_of_tree(std::uint32_t depth, std::uint64_t seed) {
  xorshift random(seed);
  const std::uint32_t children = depth == 0 ? 0 : random() % 4;
  std::uint64_t nodes = 1;
  for (std::uint32_t i = 0; i < children; ++i) nodes += size_of_tree(depth - 1, random());
  return nodes;
}

void random_trees(const char* policy, std::uint32_t workers, base::duration idle_spin,
                  std::uint32_t count) {
  auto pool =
      started({.policy = policy, .workers = workers, .idle_spin = idle_spin, .machine = machine});
  watchdog dog(*pool);
  std::uint64_t wrong = 0;
  for (std::uint32_t round = 1; round <= count; ++round) {
    node::tree tree{.on = pool.get()};
    const std::uint32_t depth = 1 + round % 10;
    pool->schedule(*new node(tree, depth, round * 77));
    tree.done.park();
    if (tree.visited.load() != size_of_tree(depth, round * 77)) ++wrong;
    dog.progress();
  }
  CHECK(wrong == 0);
}

/// A job that puts another job into its worker's slot and then stays busy until that job has run
/// elsewhere.
void busy_owners(std::uint32_t workers, std::uint32_t count) {
  auto pool = started({.workers = workers});
  watchdog dog(*pool);
  for (std::uint32_t round = 0; round < count; ++round) {
    latch inner;
    latch outer;
    job second([&] { inner.open(); });
    job first([&] {
      pool->schedule(second);
      while (!inner.is_open()) base::platform::pause();
      outer.open();
    });
    pool->schedule(first);
    outer.wait();
    dog.progress();
  }
  CHECK(pool->stats().exposed >= count);
}

/// Work arrives from outside while a worker is busy in a handler. The pool may leave the work to
/// that worker, since it is awake, but another worker has to run it.
void busy_receivers(std::uint32_t workers, std::uint32_t count) {
  auto pool = started({.workers = workers});
  watchdog dog(*pool);
  for (std::uint32_t round = 0; round < count; ++round) {
    std::atomic<std::uint32_t> entered{0};
    latch inner;
    latch outer;
    job second([&] { inner.open(); });
    job first([&] {
      entered = 1;
      while (!inner.is_open()) base::platform::pause();
      outer.open();
    });
    pool->schedule(first);
    while (entered == 0) base::platform::pause();
    pool->schedule(second);
    outer.wait();
    dog.progress();
  }
}

/// A runnable with a mailbox of length one: scheduled by the thread that fills it, run by a worker
/// or by a thread that claims it.
class claimable final : public base::runnable {
 public:
  base::run_outcome run(std::uint32_t& budget) noexcept override {
    --budget;
    if (running_.exchange(true)) twice.fetch_add(1);
    ran.fetch_add(1);
    running_.store(false);
    filled_.store(false);
    return base::run_outcome::released;
  }
  bool fill(base::executor& on) {
    if (filled_.exchange(true)) return false;
    on.schedule(*this);
    return true;
  }

  static inline std::atomic<std::uint64_t> ran{0};
  static inline std::atomic<std::uint64_t> twice{0};

 private:
  std::atomic<bool> filled_{false};
  std::atomic<bool> running_{false};
};

/// Jobs on the workers fill random mailboxes and claim random runnables, while an outside thread
/// fills mailboxes, too.
void claims(const char* policy, std::uint32_t workers, std::uint32_t count) {
  auto pool = started({.policy = policy, .workers = workers, .machine = machine});
  watchdog dog(*pool);
  claimable::ran = 0;
  std::vector<claimable> crowd(16);
  std::atomic<std::uint64_t> filled{0};
  std::atomic<std::uint32_t> alive{4};
  latch ended;
  const auto meddle = [&](xorshift& random) {
    for (int i = 0; i < 20; ++i) {
      if (crowd[random() % crowd.size()].fill(*pool)) filled.fetch_add(1);
      claimable& other = crowd[random() % crowd.size()];
      std::uint32_t budget = 1;
      if (pool->claim(other)) other.run(budget);
    }
  };
  std::vector<std::unique_ptr<job<std::function<base::run_outcome(std::uint32_t&)>>>> meddlers;
  for (std::uint32_t m = 0; m < alive.load(); ++m) {
    auto body = [&, random = xorshift(m + 7), left = count](std::uint32_t& budget) mutable {
      budget = 0;
      meddle(random);
      dog.progress();
      if (--left != 0) return base::run_outcome::more;
      if (alive.fetch_sub(1) == 1) ended.open();
      return base::run_outcome::released;
    };
    meddlers.push_back(
        std::make_unique<job<std::function<base::run_outcome(std::uint32_t&)>>>(std::move(body)));
  }
  for (auto& m : meddlers) pool->schedule(*m);
  xorshift random(3);
  while (!ended.is_open()) meddle(random);
  while (claimable::ran.load() != filled.load()) std::this_thread::yield();
  pool->stop();
  pool->drain([](void*, base::runnable&) {}, nullptr);
  CHECK(claimable::ran.load() == filled.load());
  CHECK(claimable::twice.load() == 0);
}

}  // namespace

TEST_CASE("a runnable claimed while it waits runs once and never in two places") {
  for (const char* policy :
       {"work_stealing", "locality_guided", "work_sharing", "polling_custom", "polling_new"}) {
    claims(policy, 1, rounds(300));
    claims(policy, 3, rounds(300));
  }
}

TEST_CASE("every scheduled job runs through many rounds of parking and waking") {
  for (const char* policy :
       {"work_stealing", "locality_guided", "work_sharing", "polling_custom", "polling_new"}) {
    park_and_wake(policy, 1, 1, rounds(5'000));
    park_and_wake(policy, 2, 1, rounds(5'000));
    park_and_wake(policy, 2, 3, rounds(3'000));
    park_and_wake(policy, 5, 3, rounds(3'000));
  }
}

TEST_CASE("random trees are walked to the last leaf") {
  for (const char* policy :
       {"work_stealing", "locality_guided", "work_sharing", "polling_custom", "polling_new"}) {
    random_trees(policy, 1, {}, rounds(300));
    random_trees(policy, 2, {}, rounds(1'000));
    random_trees(policy, 2, base::duration::microseconds(20), rounds(500));
    random_trees(policy, 7, {}, rounds(500));
  }
}

TEST_CASE("work in the slot of a busy worker is run by another one, every time") {
  busy_owners(2, rounds(500));
  busy_owners(4, rounds(300));
}

TEST_CASE("work from outside behind a busy worker is run by another one, every time") {
  busy_receivers(2, rounds(500));
  busy_receivers(4, rounds(300));
}

}  // namespace torture_test
