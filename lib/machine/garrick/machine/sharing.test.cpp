// The shipped policies where threads share processors, with each other and with foreign threads.
#include <garrick/machine/event_log.hpp>
#include <garrick/machine/simulation.hpp>
#include <garrick/sched/shipped_policies.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace sharing_test {

using namespace garrick;
using namespace garrick::machine;

namespace {

const std::vector<std::string> every_policy = sched::available_policies();

simulation_options on(std::uint32_t processors, std::uint32_t workers, std::string policy,
                      std::uint64_t seed = 1) {
  simulation_options o;
  o.machine = sched::topology::flat(processors);
  o.workers = workers;
  o.policy = std::move(policy);
  o.seed = seed;
  o.limit_seconds = 1000;
  o.sharing = time_sharing{};
  return o;
}

/// Passes a number on to the next until it is zero.
struct hop final : model_actor {
  hop* next = nullptr;
  std::uint64_t seen = 0;
  void on(turn& t, const message& m) override {
    t.work(200);
    ++seen;
    if (m.value != 0) t.send(*next, m.value - 1);
  }
};

/// Rings of three hops each, started from outside.
std::vector<hop*> rings(simulation& s, std::uint32_t count, std::uint64_t hops) {
  std::vector<hop*> all;
  for (std::uint32_t i = 0; i < 3 * count; ++i) all.push_back(&s.spawn<hop>());
  for (std::uint32_t i = 0; i < 3 * count; ++i) all[i]->next = all[i % 3 == 2 ? i - 2 : i + 1];
  s.outside([=](outside& o) {
    for (std::size_t i = 0; i < all.size(); i += 3) o.send(*all[i], hops);
  });
  return all;
}

/// Adds `spinning` threads that spin for ever, each on one of the processors, and a thread that
/// works and rests.
void add_foreign(simulation& s, std::uint32_t spinning, std::uint32_t processors) {
  for (std::uint32_t i = 0; i < spinning; ++i)
    s.foreign({.pinned = true, .unit = processors - 1 - i});
  s.foreign({.busy = 2e6, .idle = 5e6});
}

}  // namespace

TEST_CASE("sharing: every shipped policy runs every message beside foreign threads") {
  for (const auto& policy : every_policy)
    for (const std::uint32_t workers : {1U, 2U, 16U}) {
      CAPTURE(policy);
      CAPTURE(workers);
      simulation s(on(2, workers, policy));
      const auto all = rings(s, 24, 400);
      add_foreign(s, 1, 2);
      const outcome o = s.run();
      CHECK(o.error == "");
      CHECK(o.messages == 24 * 401);
      std::uint64_t seen = 0;
      for (const hop* one : all) seen += one->seen;
      CHECK(seen == o.messages);
      CHECK(o.busy_seconds <= 2 * o.seconds + 1e-3);  // at most two processors' time
    }
}

TEST_CASE("sharing: actors that wait at workers that stand still run within the bound of W4") {
  struct standstill final : model_actor {
    void on(turn& t, const message&) override { t.work(1e10); }
  };
  struct last_of_all final : model_actor {
    double* latest;
    explicit last_of_all(double* at) : latest(at) {}
    void on(turn& t, const message&) override { *latest = std::max(*latest, t.now_ns()); }
  };
  struct shape {
    std::uint32_t processors, workers, spinning;
  };
  constexpr std::uint64_t count = 40;
  constexpr double message_ns = 200;
  for (const auto& policy : every_policy)
    for (const shape on_it : {shape{2, 2, 1}, shape{2, 2, 2}, shape{4, 4, 3}}) {
      CAPTURE(policy);
      CAPTURE(on_it.processors);
      CAPTURE(on_it.spinning);
      simulation s(on(on_it.processors, on_it.workers, policy));
      double latest = 0;
      std::vector<standstill*> still;
      for (std::uint32_t i = 1; i < on_it.workers; ++i) still.push_back(&s.spawn<standstill>());
      hop* const balls[] = {&s.spawn<hop>(), &s.spawn<hop>()};
      balls[0]->next = balls[1];
      balls[1]->next = balls[0];
      std::vector<last_of_all*> all;
      for (std::uint64_t i = 0; i < count; ++i) all.push_back(&s.spawn<last_of_all>(&latest));
      double begin = 0;
      s.outside([&](outside& o) {
        for (standstill* one : still) o.send(*one, 0);
        o.sleep_until(200e6);        // by then every worker has run
        o.send(*balls[0], 600'000);  // the one free worker is busy throughout
        o.sleep_until(300e6);
        begin = o.now_ns();
        for (last_of_all* one : all) o.send(*one, 0);
      });
      add_foreign(s, on_it.spinning, on_it.processors);
      const outcome o = s.run();
      CHECK(o.error == "");
      const double looks =
          (2 * count + 3) * (on_it.workers - 1) * double{sched::default_look_interval};
      const double batches = (2 * (count + 2) + 2) * 256.0;
      // At worst all threads that are always ready share one processor with the free worker, which
      // then gets its share of the slices.
      const double others = on_it.workers - 1 + on_it.spinning + 1;
      const double bound = (looks + batches) * 3 * message_ns * (others + 1) +
                           others * (time_sharing{}.slice + time_sharing{}.tick);
      CHECK(latest > begin);
      CHECK(latest < o.seconds * 1e9);
      CHECK(latest - begin < bound);
      CHECK(latest < 5e9);  // long before a standing handler ends
    }
}

TEST_CASE(
    "sharing: while a worker is free, an actor that waits behind a handler soon runs there (S6)") {
  struct waits final : model_actor {
    double at = 0;
    void on(turn& t, const message&) override { at = t.now_ns(); }
  };
  struct holds final : model_actor {
    waits* behind = nullptr;
    double sent = 0;
    void on(turn& t, const message&) override {
      sent = t.now_ns();
      t.send(*behind, 0);
      t.work(300e6);
    }
  };
  const auto check = [](const std::string& policy, std::uint32_t processors, std::uint64_t seed) {
    CAPTURE(policy);
    CAPTURE(processors);
    CAPTURE(seed);
    simulation s(on(processors, 2, policy, seed));
    holds& first = s.spawn<holds>();
    first.behind = &s.spawn<waits>();
    s.outside([&](outside& o) {
      o.sleep_until(50e6 + static_cast<double>(seed) * 0.7e6);
      o.send(first, 0);
    });
    add_foreign(s, 1, processors);
    CHECK(s.run().error == "");
    // a polling worker's longest sleep, and a slice and a tick for each other thread
    const double bound = 10e6 + 5 * (time_sharing{}.slice + time_sharing{}.tick);
    CHECK(first.behind->at > first.sent);
    CHECK(first.behind->at - first.sent < bound);
  };
  for (const auto& policy : every_policy)
    for (const std::uint32_t processors : {1U, 2U})
      for (std::uint64_t seed = 1; seed <= 10; ++seed) check(policy, processors, seed);
}

TEST_CASE("sharing: one seed gives one result, another seed another") {
  for (const auto& policy : every_policy) {
    CAPTURE(policy);
    const auto picture = [&](std::uint64_t seed) {
      simulation s(on(3, 8, policy, seed));
      static_cast<void>(rings(s, 20, 300));
      add_foreign(s, 1, 3);
      const outcome o = s.run();
      CHECK(o.error == "");
      return std::to_string(o.seconds * 1e12) + " " + std::to_string(o.machine.accesses) + " " +
             std::to_string(o.machine.transfers) + " " + std::to_string(o.waited_seconds * 1e12);
    };
    CHECK(picture(7) == picture(7));
    CHECK(picture(7) != picture(8));
  }
}

TEST_CASE("sharing: a foreign thread takes its part of a processor, and rests in between") {
  const auto seconds = [](std::vector<foreign_thread> foreign) {
    simulation s(on(1, 1, "work_stealing"));
    static_cast<void>(rings(s, 1, 400'000));
    for (const foreign_thread& one : foreign) s.foreign(one);
    const outcome o = s.run();
    CHECK(o.error == "");
    return o.seconds;
  };
  const double alone = seconds({});
  CHECK(seconds({{}}) == doctest::Approx(2 * alone).epsilon(0.1));
  CHECK(seconds({{}, {}}) == doctest::Approx(3 * alone).epsilon(0.1));
  // it works for a third of the time
  const double with_rests = seconds({{.busy = 1e6, .idle = 2e6}});
  CHECK(with_rests > 1.2 * alone);
  CHECK(with_rests < 1.7 * alone);
}

TEST_CASE("sharing: workers that ask for short slices, or that are bound, have their way") {
  const auto longest_wait = [](double slice, bool pinned) {
    auto options = on(2, 2, "work_stealing");
    options.worker_slice = slice;
    options.pin_workers = pinned;
    simulation s(std::move(options));
    hop& one = s.spawn<hop>();
    s.outside([&](outside& o) {
      for (int i = 1; i <= 200; ++i) {
        o.sleep_until(i * 1e6);
        o.send(one, 0);
      }
    });
    s.foreign({.pinned = true, .unit = 0});
    s.foreign({.pinned = true, .unit = 1});
    double longest = 0;
    std::vector<std::uint32_t> where;
    s.observe([&](const thread_event& e) {
      if (e.what != thread_event::kind::runs || e.thread >= 2) return;
      longest = std::max(longest, static_cast<double>(e.waited) / 1000);
      where.push_back(e.processor * 2 + e.thread);
    });
    CHECK(s.run().error == "");
    if (pinned)
      for (const std::uint32_t at : where) CHECK((at == 0 || at == 3));
    return longest;
  };
  CHECK(longest_wait(0, false) > 1e6);
  CHECK(longest_wait(0, true) > 1e6);
  CHECK(longest_wait(1e5, false) < 0.2e6);
}

TEST_CASE("sharing: a log tells each waker, each run's place and how long each thread had waited") {
  auto options = on(1, 1, "work_stealing");
  options.sharing->latency_jitter = 0;
  simulation s(std::move(options));
  hop& one = s.spawn<hop>();
  s.outside(
      [&](outside& o) {
        o.sleep_until(100'000);
        o.send(one, 0);
      },
      {.name = "generator"});
  event_log log(50'000, 1e6);
  log.follow(s);
  CHECK(s.run().error == "");
  const std::string text = log.text();
  CHECK(text.find("worker 0     is woken by generator for processor 0\n") != std::string::npos);
  CHECK(text.find("generator    ends, leaves processor 0\n") != std::string::npos);
  CHECK(text.find("worker 0     runs on processor 0, ") != std::string::npos);
  CHECK(text.find(" µs after it could\n") != std::string::npos);
  CHECK(text.find("         0.") == std::string::npos);  // it begins after 50 µs
  CHECK(text.find("is woken by generator") < text.find("generator    loses processor 0 to worker"));
  CHECK(text.find("generator    loses processor 0 to worker") < text.find("worker 0     runs"));
}

TEST_CASE("sharing: bad settings are refused by name") {
  const auto refused = [](const auto& change) {
    auto o = on(2, 1, "work_stealing");
    change(o);
    CHECK_THROWS_AS(simulation(std::move(o)), std::invalid_argument);
  };
  refused([](simulation_options& o) { o.machine = sched::topology::flat(129); });
  refused([](simulation_options& o) { o.worker_slice = 1e4; });
  refused([](simulation_options& o) { o.helper_slice = 1e9; });
  refused([](simulation_options& o) { o.sharing->slice = 0; });
  refused([](simulation_options& o) { o.sharing->tick = 100; });
  refused([](simulation_options& o) { o.sharing->context_switch = -1; });
  refused([](simulation_options& o) { o.sharing->cache_hot = -1; });
  refused([](simulation_options& o) { o.sharing->latency_jitter = 1.5; });
  simulation s(on(2, 1, "work_stealing"));
  CHECK_THROWS_AS(s.foreign({.busy = -1}), std::invalid_argument);
  CHECK_THROWS_AS(s.foreign({.busy = 1, .idle = 1e10}), std::invalid_argument);
  CHECK_THROWS_AS(s.foreign({.unit = 2}), std::invalid_argument);
}

}  // namespace sharing_test
