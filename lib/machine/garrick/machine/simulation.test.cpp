// The shipped policies on simulated machines.
#include <garrick/base/platform/platform.hpp>
#include <garrick/machine/simulation.hpp>
#include <garrick/machine/traits.hpp>
#include <garrick/sched/policies/work_sharing.hpp>
#include <garrick/sched/shipped_policies.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace simulation_test {

using namespace garrick;
using namespace garrick::machine;

namespace {

const std::vector<std::string> every_policy = sched::available_policies();

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

/// Rings of hops; each ring passes `hops` messages.
struct rings {
  simulation s;
  std::vector<hop*> links;

  rings(simulation_options options, std::uint32_t count, std::uint32_t size, std::uint64_t hops)
      : s(std::move(options)) {
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

TEST_CASE("simulation: actors that wait at workers that stand still run within the bound of W4") {
  struct standstill final : model_actor {
    void on(turn& t, const message&) override { t.work(1e9); }
  };
  struct last_of_all final : model_actor {
    double* latest;
    explicit last_of_all(double* at) : latest(at) {}
    void on(turn& t, const message&) override { *latest = std::max(*latest, t.now_ns()); }
  };
  constexpr std::uint64_t count = 100;
  constexpr double begin = 1e6;
  constexpr double message_ns = 200;
  for (const auto& policy : every_policy)
    for (const std::uint32_t workers : {2U, 16U}) {
      CAPTURE(policy);
      CAPTURE(workers);
      simulation s(on(big, workers, policy));
      double latest = 0;
      std::vector<standstill*> still;
      for (std::uint32_t i = 1; i < workers; ++i) still.push_back(&s.spawn<standstill>());
      hop* const balls[] = {&s.spawn<hop>(), &s.spawn<hop>()};
      balls[0]->next = balls[1];
      balls[1]->next = balls[0];
      std::vector<last_of_all*> all;
      for (std::uint64_t i = 0; i < count; ++i) all.push_back(&s.spawn<last_of_all>(&latest));
      s.outside([&](outside& o) {
        for (standstill* one : still) o.send(*one, 0);
        o.sleep_until(begin / 2);
        // the one free worker is busy for longer than a second, like the other workers
        o.send(*balls[0], 3'000'000);
        o.sleep_until(begin);
        for (last_of_all* one : all) o.send(*one, 0);
      });
      const outcome o = s.run();
      CHECK(o.error == "");
      const double looks = (2 * count + 3) * (workers - 1) * double{sched::default_look_interval};
      const double rounds = (2 * (count + 2) + 2) * 256.0;
      // a message costs its work, and up to twice as much for its transport
      CHECK(latest > begin);
      CHECK(latest - begin < (looks + rounds) * 3 * message_ns);
      CHECK(latest < 1e9);
    }
}

TEST_CASE(
    "simulation: an actor of quick messages keeps up with them beside many of slow messages") {
  struct flood final : model_actor {
    void on(turn& t, const message& m) override {
      t.work(20e3);
      if (m.value != 0) t.send(*this, m.value - 1);
    }
  };
  struct quick final : model_actor {
    std::vector<double> waited_ms;
    void on(turn& t, const message& m) override {
      t.work(500);
      waited_ms.push_back(t.now_ns() / 1e6 - static_cast<double>(m.value));
    }
  };
  constexpr std::uint64_t beats = 600;  // one each millisecond
  constexpr std::uint64_t floods = 50;  // which need a turn of two messages every two milliseconds
  for (const char* policy : {"work_stealing", "locality_guided"}) {
    CAPTURE(policy);
    simulation s(on("pack:1 core:1 pu:1", 1, policy));
    quick& interactive = s.spawn<quick>();
    std::vector<flood*> all;
    for (std::uint64_t i = 0; i < floods; ++i) all.push_back(&s.spawn<flood>());
    s.outside([&](outside& o) {
      for (flood* one : all) o.send(*one, beats * 1000 / 20 / floods);
      for (std::uint64_t i = 1; i <= beats; ++i) {
        o.sleep_until(static_cast<double>(i) * 1e6);
        o.send(interactive, i);
      }
    });
    CHECK(s.run().error == "");
    REQUIRE(interactive.waited_ms.size() == beats);
    // the worker has measured its first rounds by then
    const auto begin = interactive.waited_ms.begin() + beats / 2;
    CHECK(*std::max_element(begin, interactive.waited_ms.end()) < 1);
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
      return std::to_string(result.seconds * 1e12) + " " + std::to_string(result.machine.accesses) +
             " " + std::to_string(result.machine.transfers) + " " +
             std::to_string(result.policy.steals);
    };
    CHECK(picture(7) == picture(7));
    if (policy != "work_sharing")
      CHECK(picture(7) != picture(8));  // work_sharing draws no random numbers
  }
}

TEST_CASE("simulation: each message, and each run of an actor, costs its price") {
  constexpr std::uint64_t hops = 2000;
  const auto ns = [](std::uint32_t size, double costs::* raised) {
    auto o = on(big, 1, "work_stealing");
    if (raised != nullptr) o.prices.*raised += 100;
    rings r(std::move(o), 1, size, hops);
    const outcome result = r.s.run();
    CHECK(result.error == "");
    return result.busy_seconds * 1e9;
  };
  for (const auto price : {&costs::send, &costs::receive, &costs::run})
    CHECK(ns(3, price) - ns(3, nullptr) == doctest::Approx(100.0 * hops).epsilon(0.01));
  // Of three actors, each is still in the caches at its next turn; of twenty, it is not.
  CHECK(ns(3, &costs::cold) == ns(3, nullptr));
  CHECK(ns(20, &costs::cold) - ns(20, nullptr) == doctest::Approx(100.0 * hops).epsilon(0.02));
}

TEST_CASE(
    "simulation: a worker that runs an actor first fetches its lines from where it was made") {
  struct child final : model_actor {
    double began = 0;
    std::uint32_t worker = 0;
    void on(turn& t, const message&) override {
      began = t.now_ns();
      worker = engine::current()->self();
    }
  };
  struct parent final : model_actor {
    child* one = nullptr;
    std::uint32_t worker = 0;
    void on(turn& t, const message&) override {
      worker = engine::current()->self();
      if (one == nullptr) one = &t.spawn<child>();
      t.send(*one, 0);
      t.work(1e7);
    }
  };
  const auto first_run = [](bool made_by_parent) {
    auto o = on("pack:2 numa:1 l3:1 core:1 pu:1", 2, "work_sharing");
    o.prices.spawn = 0;
    simulation s(std::move(o));
    auto& above = s.spawn<parent>();
    if (!made_by_parent) above.one = &s.spawn<child>();
    s.outside([&](outside& out) { out.send(above, 0); });
    CHECK(s.run().error == "");
    CHECK(above.one->worker != above.worker);
    return above.one->began;
  };
  CHECK(first_run(true) - first_run(false) == doctest::Approx(2 * costs{}.transfer[3]));
}

TEST_CASE("simulation: state is near where the actor ran first, and costs more far from there") {
  struct heavy final : model_actor {
    std::uint32_t first = max_threads;
    int far = 0;
    void on(turn& t, const message& m) override {
      const engine& e = *engine::current();
      if (first == max_threads) first = e.self();
      const std::uint32_t distance = e.distance(e.self(), first);
      if (distance != 0) ++far;
      const double before = t.now_ns();
      t.touch(1000);
      CHECK(t.now_ns() - before == doctest::Approx(1000 * costs{}.memory_line[distance]));
      if (m.value != 0) t.send(*this, m.value - 1);
    }
  };
  auto options = on(big, 4, "work_sharing");  // under this policy any worker runs any actor
  options.quantum = 1;
  simulation s(std::move(options));
  std::vector<heavy*> all;
  for (int i = 0; i < 9; ++i) all.push_back(&s.spawn<heavy>());
  s.outside([&](outside& o) {
    for (heavy* one : all) o.send(*one, 20);
  });
  CHECK(s.run().error == "");
  int far = 0;
  for (const heavy* one : all) far += one->far;
  CHECK(far > 20);
}

TEST_CASE(
    "simulation: a sender that is faster than its receiver is slowed, so mail stays bounded") {
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
    // Without a bound the sender would end after a millisecond, the receiver after forty.
    CHECK(from.ended > 0.9e9 * (o.seconds - 0.002));
  }
}

TEST_CASE(
    "simulation: in a chain of actors that multiply their mail no mailbox grows far beyond its "
    "limit") {
  struct multiplier final : model_actor {
    multiplier* next = nullptr;
    std::uint64_t sent_to = 0;
    std::uint64_t handled = 0;
    std::uint64_t longest = 0;
    void on(turn& t, const message& m) override {
      ++handled;
      if (next == nullptr) return;
      for (std::uint64_t i = 0; i < (m.from == nullptr ? m.value : 3); ++i) {
        next->longest = std::max(next->longest, ++next->sent_to - next->handled);
        t.send(*next, 0);
      }
    }
  };
  for (const std::uint32_t workers : {1U, 2U, 8U}) {
    CAPTURE(workers);
    simulation s(on(big, workers, "work_stealing"));
    std::vector<multiplier*> chain;
    for (int i = 0; i < 5; ++i) {
      chain.push_back(&s.spawn<multiplier>());
      if (i != 0) chain[chain.size() - 2]->next = chain.back();
    }
    s.outside([&](outside& o) { o.send(*chain[0], 5000); });
    CHECK(s.run().error == "");
    CHECK(chain.back()->handled == 5000 * 27);
    // twice the soft limit: docs/internals/overload.md
    for (const multiplier* one : chain) CHECK(one->longest <= 1024);
  }
}

TEST_CASE("simulation: a policy of one's own that strands work is found") {
  /// A policy that sometimes loses a runnable.
  struct forgetful : sched::work_sharing<machine_traits> {
    using work_sharing::work_sharing;
    std::uint32_t enqueued = 0;
    void internal_enqueue(worker_data& self, base::runnable& r) noexcept {
      if (++enqueued % 100 != 0) work_sharing::internal_enqueue(self, r);
    }
  };
  auto o = on(big, 4, "");
  o.limit_seconds = 1;
  o.make_policy = [](engine& machine,
                     const sched::policy_options& options) -> std::unique_ptr<pool> {
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
  const auto refused = [](const auto& change) {
    auto o = on(big, 1, "work_stealing");
    change(o);
    CHECK_THROWS_AS(simulation(std::move(o)), std::invalid_argument);
  };
  refused([](simulation_options& o) { o.quantum = 0; });
  refused([](simulation_options& o) { o.soft_limit = 0; });
  refused([](simulation_options& o) { o.limit_seconds = 0; });
  refused([](simulation_options& o) { o.limit_seconds = 1e8; });
  refused([](simulation_options& o) { o.prices.run = -1; });
  refused([](simulation_options& o) { o.prices.transfer[2] = std::nan(""); });
  refused([](simulation_options& o) { o.prices.memory_line[3] = 1e10; });
}

TEST_CASE("simulation: a run that takes longer than it may is an error") {
  auto o = on(big, 2, "work_stealing");
  o.limit_seconds = 1e-5;
  rings r(std::move(o), 2, 3, 1'000'000);
  CHECK(r.s.run().error.find("not ended") == 0);
}

TEST_CASE("simulation: 64 workers handle a quarter of a million messages in a moment") {
  const std::uint64_t begin = base::platform::thread_cpu_ns();
  rings r(on(big, 64, "work_stealing"), 256, 4, 1000);
  const outcome o = r.s.run();
  CHECK(o.error == "");
  CHECK(o.messages == 256 * 1001);
  const double took = 1e-9 * static_cast<double>(base::platform::thread_cpu_ns() - begin);
  MESSAGE(took << " s of a processor for " << o.messages << " messages, " << o.machine.accesses
               << " accesses, " << o.machine.switches << " switches, " << o.seconds
               << " s simulated");
  CHECK(took < 30);  // 0.2 s without sanitizers
}

}  // namespace simulation_test
