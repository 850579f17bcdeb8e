// The shipped policies on simulated machines.
#include <garrick/sched/work_sharing.hpp>
#include <garrick/testkit/machine/simulation.hpp>
#include <garrick/testkit/machine/traits.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

using namespace garrick;
using namespace garrick::testkit::machine;

namespace {

const std::vector<std::string> every_policy{"work_stealing",  "locality_guided",    "work_sharing", "polling_default",
                                            "polling_custom", "polling_aggressive", "polling_new"};

/// Passes a number on to the next until it is zero.
struct hop final : model_actor {
  hop* next = nullptr;
  double work_ns = 200;
  std::uint64_t seen = 0;
  void on(turn& t, const message& m) override {
    t.work(work_ns);
    ++seen;
    if (m.value != 0) t.send(*next, m.value - 1);
  }
};

/// Rings of links; each ring passes `hops` messages.
struct rings {
  simulation s;
  std::vector<hop*> links;

  rings(simulation_options options, std::uint32_t count, std::uint32_t size, std::uint64_t hops) : s(std::move(options)) {
    for (std::uint32_t r = 0; r < count; ++r) {
      std::vector<hop*> ring;
      for (std::uint32_t i = 0; i < size; ++i) ring.push_back(&s.spawn<hop>());
      for (std::uint32_t i = 0; i < size; ++i) ring[i]->next = ring[(i + 1) % size];
      links.insert(links.end(), ring.begin(), ring.end());
    }
    s.outside([this, size, hops](outside& o) {
      for (std::size_t i = 0; i < links.size(); i += size) o.send(*links[i], hops);
    });
  }
  [[nodiscard]] std::uint64_t seen() const {
    std::uint64_t sum = 0;
    for (const hop* l : links) sum += l->seen;
    return sum;
  }
};

simulation_options on(const char* machine, std::uint32_t workers, std::string policy) {
  simulation_options o;
  o.machine = *sched::topology::synthetic(machine);
  o.workers = workers;
  o.policy = std::move(policy);
  o.limit_seconds = 10;
  return o;
}

constexpr const char* big = "pack:4 numa:2 l3:1 core:8 pu:1";

}  // namespace

TEST_CASE("simulation: every shipped policy runs every message, on one worker and on many") {
  for (const auto& policy : every_policy)
    for (const std::uint32_t workers : {1U, 2U, 16U}) {
      CAPTURE(policy);
      CAPTURE(workers);
      rings r(on(big, workers, policy), 24, 5, 40);
      const outcome o = r.s.run();
      CHECK(o.error == "");
      CHECK(o.messages == 24 * 41);
      CHECK(r.seen() == o.messages);
      CHECK(o.seconds > 24 * 41 * 200e-9 / workers);  // the work alone
    }
}

TEST_CASE("simulation: many workers are faster, and the work is theirs") {
  for (const auto& policy : every_policy) {
    CAPTURE(policy);
    double before = 0;
    for (const std::uint32_t workers : {1U, 4U, 16U}) {
      rings r(on(big, workers, policy), 64, 4, 100);
      for (hop* l : r.links) l->work_ns = 20'000;
      const outcome o = r.s.run();
      CHECK(o.error == "");
      const double work = 64 * 101 * 20e-6;
      CHECK(o.seconds >= work / workers);
      CHECK(o.busy_seconds >= work);
      if (before != 0) CHECK(o.seconds < before / 2.5);
      before = o.seconds;
    }
  }
}

TEST_CASE("simulation: one seed gives one result, another seed another") {
  for (const auto& policy : every_policy) {
    CAPTURE(policy);
    const auto picture = [&](std::uint64_t seed) {
      simulation_options o = on(big, 16, policy);
      o.seed = seed;
      rings r(std::move(o), 40, 3, 50);
      const outcome result = r.s.run();
      return std::to_string(result.seconds * 1e12) + " " + std::to_string(result.machine.accesses) + " " +
             std::to_string(result.machine.transfers) + " " + std::to_string(result.policy.steals);
    };
    CHECK(picture(7) == picture(7));
    if (policy != "work_sharing") CHECK(picture(7) != picture(8));  // which draws nothing
  }
}

TEST_CASE("simulation: state is near where the actor ran first and dear far from there") {
  struct heavy final : model_actor {
    double took = 0;
    void on(turn& t, const message& m) override {
      const double before = t.now_ns();
      t.touch(1000);
      took = t.now_ns() - before;
      if (m.value != 0) t.send(*this, m.value - 1);
    }
  };
  simulation s(on(big, 1, "work_stealing"));
  auto& a = s.spawn<heavy>();
  s.outside([&](outside& o) { o.send(a, 3); });
  CHECK(s.run().error == "");
  CHECK(a.took == doctest::Approx(1000 * costs{}.memory_line[0]));
}

TEST_CASE("simulation: a sender that is faster than its receiver is slowed, so mail stays bounded") {
  struct slow final : model_actor {
    void on(turn& t, const message&) override { t.work(2000); }
  };
  struct fast final : model_actor {
    slow* to = nullptr;
    double ended = 0;
    void on(turn& t, const message& m) override {
      for (std::uint64_t i = 0; i < m.value; ++i) t.send(*to, i);
      ended = t.now_ns();
    }
  };
  for (const std::uint32_t workers : {1U, 2U}) {
    simulation s(on(big, workers, "work_stealing"));
    auto& to = s.spawn<slow>();
    auto& from = s.spawn<fast>();
    from.to = &to;
    s.outside([&](outside& o) { o.send(from, 20'000); });
    const outcome o = s.run();
    CHECK(o.error == "");
    CHECK(o.messages == 20'001);
    // Without a bound the sender would be done after a millisecond, the receiver after forty.
    CHECK(from.ended > 0.9e9 * (o.seconds - 0.002));
  }
}

TEST_CASE("simulation: a policy of one's own that strands work is found") {
  /// Loses a runnable now and then.
  struct forgetful : sched::work_sharing<machine_traits> {
    using work_sharing::work_sharing;
    std::uint32_t enqueued = 0;
    void internal_enqueue(worker_data& self, base::runnable& r) noexcept {
      if (++enqueued % 100 != 0) work_sharing::internal_enqueue(self, r);
    }
  };
  auto o = on(big, 4, "");
  o.limit_seconds = 1;
  o.make_policy = [](engine& machine, const sched::policy_options& options) -> std::unique_ptr<pool> {
    return std::make_unique<simulated_pool<forgetful>>(machine, options);
  };
  rings r(std::move(o), 24, 5, 40);
  const outcome result = r.s.run();
  CHECK(result.error.find("not ended after 1") == 0);
  CHECK(result.error.find("open") != std::string::npos);
  CHECK(r.seen() < 24 * 41);
}

TEST_CASE("simulation: bad settings are refused by name") {
  CHECK_THROWS_AS(simulation(on(big, 16, "no_such")), std::invalid_argument);
  CHECK_THROWS_AS(simulation(on(big, 121, "work_stealing")), std::invalid_argument);
  CHECK_THROWS_AS(simulation(on(big, 0, "work_stealing")), std::invalid_argument);
  auto o = on(big, 1, "work_stealing");
  o.quantum = 0;
  CHECK_THROWS_AS(simulation(std::move(o)), std::invalid_argument);
}

TEST_CASE("simulation: a run that takes longer than it may is an error") {
  auto o = on(big, 2, "work_stealing");
  o.limit_seconds = 1e-5;
  rings r(std::move(o), 2, 3, 1'000'000);
  CHECK(r.s.run().error.find("not ended") == 0);
}

TEST_CASE("simulation: 64 workers handle a quarter of a million messages in a moment") {
  const auto begin = std::chrono::steady_clock::now();
  rings r(on(big, 64, "work_stealing"), 256, 4, 1000);
  const outcome o = r.s.run();
  CHECK(o.error == "");
  CHECK(o.messages == 256 * 1001);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  MESSAGE(took << " s for " << o.messages << " messages, " << o.machine.accesses << " accesses, " << o.machine.switches
               << " switches, " << o.seconds << " s simulated");
  CHECK(took < 30);  // 0.2 s without sanitizers, on a quiet machine
}
