// locality_guided on machines that do not exist: the workers for runnables, the victims of thieves,
// and that nothing is stranded.
#include <garrick/sched/internal/test_unthreaded.hpp>
#include <garrick/sched/policies/locality_guided.hpp>
#include <garrick/sched/shipped_policies.hpp>

#include <garrick/sched/internal/test_jobs.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace locality_guided_test {

using namespace garrick;
using namespace garrick::sched;
using sched::test::item;
using kind = base::locality_hint::kind;

namespace {

/// Two packages with a memory node each, and two cores in each: workers 0 and 2 on the first node,
/// 1 and 3 on the second.
constexpr const char* two_nodes = "pack:2 numa:1 l3:1 core:2 pu:1";

/// The policy without threads: the test acts as every worker in turn.
struct fixture {
  worker_places places;
  locality_guided<> policy;
  explicit fixture(const char* machine = two_nodes, std::uint32_t workers = 4)
      : places(*topology::synthetic(machine), workers, neighbourhood::cache),
        policy(policy_options{
            .workers = workers, .quantum = 64, .idle_spin_ns = 0, .seed = 3, .places = &places}) {}

  auto& worker(std::uint32_t w) { return policy.worker(w); }
  /// Lets `w` take the next runnable, from its own queues or by theft, and begin to run it.
  item* run(std::uint32_t w) {
    auto* const r = static_cast<item*>(policy.dequeue(worker(w)));
    if (!r->take()) return nullptr;
    static_cast<void>(policy.before_resume(worker(w), *r));
    return r;
  }
};

base::locality_hint settled(std::uint16_t w) { return {kind::settled, w}; }

}  // namespace

TEST_CASE("locality: a new actor is placed with its spawner, and its home is where it first runs") {
  fixture f;
  item a;
  f.policy.internal_enqueue(f.worker(2), a);
  CHECK(a.place.get() == base::locality_hint(kind::placed, 2));
  CHECK(f.run(2) == &a);
  CHECK(a.place.get() == settled(2));
}

TEST_CASE("locality: actors that threads spawn are placed in turn") {
  fixture f;
  item a[4];
  for (item& i : a) f.policy.central_enqueue(i);
  for (std::uint16_t w = 0; w < 4; ++w) {
    CHECK(a[w].place.get() == base::locality_hint(kind::placed, w));
    CHECK(f.run(w) == &a[w]);
  }
}

TEST_CASE("locality: a new actor that a neighbour steals lives with the neighbour") {
  fixture f;
  item a, b;
  f.policy.internal_enqueue(f.worker(0), a);
  f.policy.internal_enqueue(f.worker(0), b);  // pushes a out of the slot
  CHECK(f.run(2) == &a);
  CHECK(a.place.get() == settled(2));
}

TEST_CASE("locality: a new actor that is stolen from far away keeps its place") {
  fixture f;
  item a, b;
  f.policy.internal_enqueue(f.worker(0), a);
  f.policy.internal_enqueue(f.worker(0), b);
  CHECK(f.run(1) == &a);
  CHECK(a.place.get() == settled(0));
}

TEST_CASE(
    "locality: woken from far away it goes home, woken by a neighbour of home to the neighbour") {
  fixture f;
  item a;
  a.place.set(settled(0));
  f.policy.internal_enqueue(f.worker(3), a);
  CHECK(f.run(0) == &a);
  f.policy.internal_enqueue(f.worker(2), a);
  CHECK(f.run(2) == &a);
  CHECK(a.place.get() == settled(0));
  f.policy.central_enqueue(a);
  CHECK(f.run(0) == &a);
}

TEST_CASE("locality: a runnable that a far thief has run goes home with the rest of its mail") {
  fixture f;
  item a;
  a.place.set(settled(0));
  f.policy.resume_later(f.worker(1), a);
  CHECK(f.run(0) == &a);
}

TEST_CASE(
    "locality: a far thief takes the oldest of an inbox and leaves the others, in their order") {
  fixture f;
  item a[3];
  for (item& i : a) {
    i.place.set(settled(0));
    f.policy.internal_enqueue(f.worker(1), i);
  }
  CHECK(f.run(3) == &a[0]);
  CHECK(f.run(0) == &a[1]);
  CHECK(f.run(0) == &a[2]);
}

TEST_CASE("locality: a worker without neighbours is a far thief to all others") {
  fixture f("pack:2 numa:1 l3:1 core:1 pu:1", 2);
  item a[3];
  for (item& i : a) {
    i.place.set(settled(0));
    f.policy.internal_enqueue(f.worker(1), i);
  }
  CHECK(f.run(1) == &a[0]);
  CAPTURE(f.policy.describe());
  CHECK(f.policy.describe().find("worker 0: deque 0, inbox filled") != std::string::npos);
  CHECK(f.run(0) == &a[1]);
  CHECK(f.run(0) == &a[2]);
}

TEST_CASE("locality: no sender runs a receiver in place that has its home far away") {
  fixture f;
  item a;
  a.place.set(settled(0));
  f.policy.internal_enqueue(f.worker(0), a);
  item b;
  f.policy.internal_enqueue(f.worker(0), b);  // a is in the deque now
  CHECK_FALSE(f.policy.claim(f.worker(1), a));
  CHECK(f.policy.claim(f.worker(2), a));
}

TEST_CASE("locality: hints: spread, hub, a node, and one that is not there") {
  fixture f;
  item spread[2], hub[2], node, nowhere, stranger;
  for (item& i : spread) {
    i.place.set(base::locality_hint::spread());
    f.policy.internal_enqueue(f.worker(0), i);
  }
  CHECK(f.places.unit_of(spread[0].place.get().value()).node !=
        f.places.unit_of(spread[1].place.get().value()).node);
  CHECK(spread[0].place.get().what() == kind::placed);
  for (item& i : hub) {
    i.place.set(base::locality_hint::hub());
    f.policy.internal_enqueue(f.worker(0), i);
  }
  CHECK(f.places.unit_of(hub[0].place.get().value()).node !=
        f.places.unit_of(hub[1].place.get().value()).node);
  CHECK(hub[0].place.get().what() == kind::settled);
  node.place.set(base::locality_hint::home(1));
  f.policy.internal_enqueue(f.worker(0), node);
  CHECK(f.places.unit_of(node.place.get().value()).node == 1);
  nowhere.place.set(base::locality_hint::home(77));
  f.policy.internal_enqueue(f.worker(0), nowhere);
  CHECK(nowhere.place.get() == base::locality_hint(kind::placed, 0));
  stranger.place.set(settled(900));
  f.policy.internal_enqueue(f.worker(1), stranger);
  CHECK(stranger.place.get() == base::locality_hint(kind::placed, 1));
  while (f.policy.drain_one() != nullptr) {}
}

TEST_CASE(
    "locality: runnables that are spread, or wish for nodes in turn, meet all workers equally "
    "often") {
  // with 12, half of the nodes have two workers, the others one
  for (const std::uint32_t workers : {64U, 12U}) {
    CAPTURE(workers);
    fixture f("pack:4 numa:2 l3:1 core:8 pu:1", workers);
    std::vector<item> spread(2 * workers);
    std::vector<int> placed(workers);
    for (item& i : spread) {
      i.place.set(base::locality_hint::spread());
      f.policy.internal_enqueue(f.worker(0), i);
      ++placed[i.place.get().value()];
    }
    CHECK(placed == std::vector<int>(workers, 2));
    while (f.policy.drain_one() != nullptr) {}
  }
  fixture f("pack:4 numa:2 l3:1 core:8 pu:1", 64);
  std::vector<item> wishes(128);
  std::vector<int> settled_at(64);
  for (std::uint32_t i = 0; i < wishes.size(); ++i) {
    wishes[i].place.set(base::locality_hint::home(i % 8));
    f.policy.internal_enqueue(f.worker(0), wishes[i]);
    ++settled_at[wishes[i].place.get().value()];
  }
  CHECK(settled_at == std::vector<int>(64, 2));
  while (f.policy.drain_one() != nullptr) {}
}

TEST_CASE("locality: nodes that have no worker are passed over in turn, and count as no wish") {
  fixture f("pack:2 numa:2 l3:1 core:2 pu:1", 3);
  REQUIRE(f.places.of_node(3).empty());
  std::vector<std::uint32_t> nodes;
  for (const auto wish : {base::locality_hint::spread(), base::locality_hint::hub()})
    for (int i = 0; i < 3; ++i) {
      item a;
      a.place.set(wish);
      f.policy.internal_enqueue(f.worker(0), a);
      nodes.push_back(f.places.unit_of(a.place.get().value()).node);
      while (base::runnable* const r = f.policy.drain_one()) CHECK(r->take());
    }
  CHECK(nodes == std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2});
  item a;
  a.place.set(base::locality_hint::home(3));
  f.policy.internal_enqueue(f.worker(2), a);
  CHECK(a.place.get() == base::locality_hint(kind::placed, 2));
  while (f.policy.drain_one() != nullptr) {}
}

TEST_CASE("locality: on a flat machine and on one core everything stays with the sender") {
  for (const std::uint32_t workers : {1U, 2U}) {
    const worker_places places(topology::flat(workers), workers, neighbourhood::cache);
    locality_guided<> policy(policy_options{
        .workers = workers, .quantum = 64, .idle_spin_ns = 0, .seed = 3, .places = &places});
    item a;
    a.place.set(settled(0));
    const std::uint32_t last = workers - 1;
    policy.internal_enqueue(policy.worker(last), a);
    CHECK(policy.dequeue(policy.worker(last)) == &a);
  }
}

TEST_CASE("locality: a pool on a synthetic machine runs everything, wherever its home is") {
  for (const char* machine : {"numa:1 core:1 pu:1", two_nodes, "pack:2 numa:2 l3:1 core:2 pu:1",
                              "pack:4 numa:2 l3:1 core:8 pu:1"}) {
    scheduler_settings o;
    o.policy = "locality_guided";
    o.workers = 4;
    o.machine = machine;
    const auto pool = make_scheduler(o);
    pool->start();
    std::atomic<int> left{2000};
    struct hop final : base::runnable {
      std::atomic<int>* left = nullptr;
      base::executor* on = nullptr;
      hop* next = nullptr;
      int turns = 0;
      base::run_outcome run(std::uint32_t& budget) noexcept override {
        --budget;
        if (left->fetch_sub(1) <= 1) {
          left->notify_all();
          return base::run_outcome::released;
        }
        on->schedule(*next);
        return base::run_outcome::released;
      }
    };
    std::vector<std::unique_ptr<hop>> ring;
    for (int i = 0; i < 8; ++i) {
      ring.push_back(std::make_unique<hop>());
      ring.back()->left = &left;
      ring.back()->on = pool.get();
      ring.back()->place.set(i % 2 == 0 ? base::locality_hint::spread() : base::locality_hint());
    }
    for (std::size_t i = 0; i < ring.size(); ++i) ring[i]->next = ring[(i + 1) % ring.size()].get();
    pool->schedule(*ring[0]);
    for (int seen = left.load(); seen > 0; seen = left.load()) left.wait(seen);
    pool->stop();
    CHECK(left.load() == 0);
  }
}

TEST_CASE("locality: bad settings are refused by name") {
  const auto refused = [](auto set) {
    scheduler_settings o;
    set(o);
    try {
      static_cast<void>(make_scheduler(o));
      return std::string();
    } catch (const std::invalid_argument& e) { return std::string(e.what()); }
  };
  CHECK(refused([](auto& o) { o.pin = "roof"; }).find("the key 'scheduler.pin' wants one of") !=
        std::string::npos);
  CHECK(refused([](auto& o) { o.neighbours = ""; }).find("scheduler.neighbours") !=
        std::string::npos);
  CHECK(refused([](auto& o) { o.machine = "castle:1"; }).find("scheduler.machine") !=
        std::string::npos);
  CHECK(refused([](auto& o) { o.affinity = "<0> <"; }).find("the key 'scheduler.affinity' wants") !=
        std::string::npos);
}

}  // namespace locality_guided_test
