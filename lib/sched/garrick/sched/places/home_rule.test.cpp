// Paper 002's two flowcharts (figures 3 and 4), as locality_guided follows them on machines that do
// not exist: every pair of workers, one as home or first place, one as sender or thief. The
// expected neighbours are written by hand.
#include <garrick/sched/policies/locality_guided.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace home_rule_test {

using namespace garrick;
using namespace garrick::sched;
using kind = base::locality_hint::kind;

namespace {

struct item final : base::runnable {
  base::run_outcome run(std::uint32_t&) noexcept override { return base::run_outcome::released; }
};

/// The number of times that each branch is taken, over all pairs of workers.
struct branches {
  std::uint32_t same = 0;
  std::uint32_t near = 0;
  std::uint32_t far = 0;
  friend bool operator==(const branches&, const branches&) = default;
};

struct machine {
  const char* what;
  topology units;
  std::uint32_t workers;
  std::vector<std::uint32_t> neighbourhood_of;  ///< for each unit
  branches expected;
};

topology synthetic(const char* text) { return *topology::synthetic(text); }

/// Returns the group of each of `n` units, in groups of `size`.
std::vector<std::uint32_t> blocks(std::uint32_t n, std::uint32_t size) {
  std::vector<std::uint32_t> of;
  for (std::uint32_t i = 0; i < n; ++i) of.push_back(i / size);
  return of;
}

/// Three cores at one cache and one alone on the first node, one core on the second, and two
/// packages.
topology asymmetric() {
  return *topology::of({{.os_index = 0},
                        {.os_index = 1, .core = 1},
                        {.os_index = 2, .core = 2},
                        {.os_index = 3, .core = 3, .cache = 1},
                        {.os_index = 4, .core = 4, .cache = 2, .node = 1, .package = 1}});
}

std::vector<machine> machines() {
  std::vector<machine> all;
  all.push_back({"flat", synthetic("numa:1 l3:1 core:4 pu:1"), 4, blocks(4, 4), {4, 12, 0}});
  all.push_back(
      {"flat, no cache shared", synthetic("numa:1 core:4 pu:1"), 4, blocks(4, 4), {4, 12, 0}});
  all.push_back(
      {"unreadable", topology::flat(2, "nobody can read it"), 2, blocks(2, 2), {2, 2, 0}});
  all.push_back({"2 packages of 2 nodes",
                 synthetic("pack:2 numa:2 l3:1 core:2 pu:1"),
                 8,
                 blocks(8, 2),
                 {8, 8, 48}});
  all.push_back({"4 packages of 2 nodes of 8 cores",
                 synthetic("pack:4 numa:2 l3:1 core:8 pu:1"),
                 64,
                 blocks(64, 8),
                 {64, 448, 3584}});
  all.push_back({"asymmetric", asymmetric(), 5, {0, 0, 0, 1, 2}, {5, 6, 14}});
  all.push_back({"one core", *topology::of({{.os_index = 0}}), 1, {0}, {1, 0, 0}});
  all.push_back(
      {"one core for three workers", *topology::of({{.os_index = 0}}), 3, {0}, {3, 6, 0}});
  return all;
}

/// The policy on a machine, without threads.
struct fixture {
  const machine& on;
  worker_places places;
  locality_guided<> policy;
  explicit fixture(const machine& m)
      : on(m),
        places(m.units, m.workers, neighbourhood::cache),
        policy(policy_options{.workers = m.workers, .quantum = 64, .places = &places}) {}

  [[nodiscard]] bool near(std::uint32_t a, std::uint32_t b) const {
    return on.neighbourhood_of[places.index_of(a)] == on.neighbourhood_of[places.index_of(b)];
  }
  void count(branches& taken, std::uint32_t a, std::uint32_t b) const {
    ++(a == b ? taken.same : near(a, b) ? taken.near : taken.far);
  }

  /// Returns the worker that has something in its queues. Empties them.
  [[nodiscard]] std::uint32_t where() {
    const std::string text = policy.describe();
    std::uint32_t found = no_worker;
    for (std::uint32_t w = 0; w < on.workers; ++w) {
      const std::size_t begin = text.find("worker " + std::to_string(w) + ":");
      const std::string part = text.substr(begin, text.find(';', begin) - begin);
      if (part.find("filled") == std::string::npos && part.find("deque 0") != std::string::npos)
        continue;
      CHECK(found == no_worker);
      found = w;
    }
    while (base::runnable* const r = policy.drain_one()) CHECK(r->take());
    return found;
  }
};

base::locality_hint settled(std::uint32_t w) {
  return {kind::settled, static_cast<std::uint16_t>(w)};
}
base::locality_hint placed(std::uint32_t w) {
  return {kind::placed, static_cast<std::uint16_t>(w)};
}

}  // namespace

TEST_CASE(
    "figure 3: an idle actor goes to its sender's worker if that is home or a direct neighbour of "
    "home, else home") {
  for (const machine& m : machines()) {
    CAPTURE(m.what);
    fixture f(m);
    branches taken;
    std::uint32_t wrong = 0;
    for (std::uint32_t home = 0; home < m.workers; ++home)
      for (std::uint32_t sender = 0; sender < m.workers; ++sender) {
        item a;
        a.place.set(settled(home));
        f.policy.internal_enqueue(f.policy.worker(sender), a);
        if (f.where() != (f.near(home, sender) ? sender : home) || a.place.get() != settled(home))
          ++wrong;
        f.count(taken, home, sender);
      }
    CHECK(wrong == 0);
    CHECK(taken == m.expected);
  }
}

TEST_CASE("figure 3: a message from a thread that is no worker sends its receiver home") {
  for (const machine& m : machines()) {
    CAPTURE(m.what);
    fixture f(m);
    for (std::uint32_t home = 0; home < m.workers; ++home) {
      item a;
      a.place.set(settled(home));
      f.policy.central_enqueue(a);
      CHECK(f.where() == home);
    }
  }
}

TEST_CASE(
    "soft pinning: a stolen actor with more to do goes home, unless the thief is a direct "
    "neighbour of home") {
  for (const machine& m : machines()) {
    CAPTURE(m.what);
    fixture f(m);
    std::uint32_t wrong = 0;
    for (std::uint32_t home = 0; home < m.workers; ++home)
      for (std::uint32_t thief = 0; thief < m.workers; ++thief) {
        item a;
        a.place.set(settled(home));
        static_cast<void>(f.policy.before_resume(f.policy.worker(thief), a));
        if (a.place.get() != settled(home)) ++wrong;  // a home is for ever
        f.policy.resume_later(f.policy.worker(thief), a);
        if (f.where() != (f.near(home, thief) ? thief : home)) ++wrong;
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE(
    "figure 4: home is where an actor first runs if that is its place or a direct neighbour of it, "
    "else its place") {
  for (const machine& m : machines()) {
    CAPTURE(m.what);
    fixture f(m);
    branches taken;
    std::uint32_t wrong = 0;
    for (std::uint32_t spawner = 0; spawner < m.workers; ++spawner)
      for (std::uint32_t executing = 0; executing < m.workers; ++executing) {
        item a;
        f.policy.internal_enqueue(f.policy.worker(spawner), a);
        if (f.where() != spawner || a.place.get() != placed(spawner)) ++wrong;
        static_cast<void>(f.policy.before_resume(f.policy.worker(executing), a));
        if (a.place.get() != settled(f.near(spawner, executing) ? executing : spawner)) ++wrong;
        f.count(taken, spawner, executing);
      }
    CHECK(wrong == 0);
    CHECK(taken == m.expected);
  }
}

TEST_CASE(
    "figure 4: an actor that a thread spawns is placed with each worker in turn, and runs there or "
    "has its home near there") {
  for (const machine& m : machines()) {
    CAPTURE(m.what);
    fixture f(m);
    for (std::uint32_t n = 0; n < 2 * m.workers; ++n) {
      item a;
      f.policy.central_enqueue(a);
      CHECK(f.where() == n % m.workers);
      CHECK(a.place.get() == placed(n % m.workers));
    }
  }
}

TEST_CASE(
    "home rule: without a place or a home it is where the actor runs or its sender is, or "
    "anywhere") {
  const auto never = [](worker_index, worker_index) { return false; };
  CHECK(home_at_first_run(no_worker, 6, never) == 6);
  CHECK(worker_for(no_worker, 6, never) == 6);
  CHECK(worker_for(no_worker, no_worker, never) == no_worker);
}

}  // namespace home_rule_test
