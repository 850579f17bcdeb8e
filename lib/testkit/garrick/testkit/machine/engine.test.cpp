// The machine without a policy: clocks, lines, sleepers.
#include <garrick/testkit/machine/traits.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

using namespace garrick;
using namespace garrick::testkit::machine;

namespace {

/// Threads from lambdas, on a machine with two packages of two nodes of two units.
struct bench {
  sched::topology machine = *sched::topology::synthetic("pack:2 numa:2 l3:1 core:2 pu:1");
  costs prices;
  engine e{prices, machine};
  std::vector<std::unique_ptr<std::function<void()>>> bodies;

  void thread(std::uint32_t unit, std::function<void()> body) {
    bodies.push_back(std::make_unique<std::function<void()>>(std::move(body)));
    e.add_thread(unit, true, [](void* f) { (*static_cast<std::function<void()>*>(f))(); }, bodies.back().get());
  }
  [[nodiscard]] double now_ns() const { return static_cast<double>(e.now()) / 1000; }
};

}  // namespace

TEST_CASE("machine: the thread that is behind goes on; of equal ones the running one, then by number") {
  bench b;
  std::string order;
  for (const char* steps : {"a3", "b1", "c1"})
    b.thread(0, [&, steps] {
      for (int i = 0; i < 3; ++i) {
        b.e.settle();
        order += steps[0];
        b.e.spend_ns(steps[1] - '0');
      }
    });
  CHECK(b.e.run() == "");
  CHECK(order == "abccbbcaa");
}

TEST_CASE("machine: a line costs by the distance to who wrote it, and nothing more once it is here") {
  bench b;
  machine_atomics::atomic<int> word{0};
  std::vector<double> cost(8);
  // Each unit reads at a time of its own what unit 0 wrote.
  for (std::uint32_t unit = 0; unit < 8; ++unit)
    b.thread(unit, [&, unit] {
      if (unit == 0) word.store(1, std::memory_order_relaxed);  // order: not simulated
      b.e.spend_ns(1000.0 * (unit + 1));
      b.e.settle();
      double before = b.now_ns();
      CHECK(word.load(std::memory_order_relaxed) == 1);  // order: not simulated
      cost[unit] = b.now_ns() - before;
      before = b.now_ns();
      CHECK(word.load(std::memory_order_relaxed) == 1);  // order: not simulated
      CHECK(b.now_ns() - before == doctest::Approx(b.prices.hit));
    });
  CHECK(b.e.run() == "");
  const auto& t = b.prices.transfer;
  const std::vector<double> expected{b.prices.hit, t[0], t[2], t[2], t[3], t[3], t[3], t[3]};
  CHECK(cost == expected);
}

TEST_CASE("machine: locked operations on one line wait for each other") {
  for (const int threads : {1, 2, 4}) {
    bench b;
    machine_atomics::atomic<int> word{0};
    double end = 0;
    for (int i = 0; i < threads; ++i)
      b.thread(static_cast<std::uint32_t>(i * 2), [&] {
        for (int k = 0; k < 100; ++k) word.fetch_add(1, std::memory_order_relaxed);  // order: not simulated
        end = std::max(end, b.now_ns());
      });
    CHECK(b.e.run() == "");
    CHECK(word.peek() == threads * 100);
    const double alone = 100 * b.prices.locked;
    if (threads == 1)
      CHECK(end == doctest::Approx(alone + b.prices.hit));
    else  // each operation fetches the line from the other package's or die's last owner
      CHECK(end > threads * (alone + 90 * b.prices.transfer[2]));
  }
}

TEST_CASE("machine: a wake-up takes its time, and one sleeper gets it, the oldest") {
  bench b;
  machine_atomics::atomic<std::uint32_t> word{0};
  std::vector<std::pair<char, double>> woken;
  for (const char name : {'a', 'b'})
    b.thread(0, [&, name] {
      b.e.spend_ns(name == 'a' ? 0 : 100);
      machine_atomics::wait(word, 0);
      woken.push_back({name, b.now_ns()});
    });
  b.thread(2, [&] {
    for (const double at : {50'000.0, 90'000.0}) {
      b.e.spend_ns(at - b.now_ns());
      machine_atomics::wake_one(word);
      CHECK(b.now_ns() == doctest::Approx(at + b.prices.wake_call));
    }
  });
  CHECK(b.e.run() == "");
  REQUIRE(woken.size() == 2);
  CHECK(woken[0].first == 'a');
  CHECK(woken[0].second == doctest::Approx(50'000 + b.prices.wake_latency));
  CHECK(woken[1].second == doctest::Approx(90'000 + b.prices.wake_latency));
}

TEST_CASE("machine: a wait with a limit ends with it, and asleep is not busy") {
  bench b;
  machine_atomics::atomic<std::uint32_t> word{0};
  double after = 0;
  b.thread(0, [&] {
    CHECK_FALSE(machine_atomics::wait_for(word, 0, 200'000));
    after = b.now_ns();
  });
  CHECK(b.e.run() == "");
  CHECK(after == doctest::Approx(200'000 + b.prices.system_call + b.prices.fall_asleep + b.prices.precise_timer_late));
  CHECK(static_cast<double>(b.e.busy(0)) / 1000 == doctest::Approx(b.prices.system_call + b.prices.fall_asleep));
}

TEST_CASE("machine: threads that sleep for ever, and a run that does not end, are errors") {
  {
    bench b;
    machine_atomics::atomic<std::uint32_t> word{0};
    b.thread(0, [&] { machine_atomics::wait(word, 0); });
    CHECK(b.e.run().find("1 threads sleep") == 0);
  }
  bench b;
  b.thread(0, [&] {
    for (;;) {
      machine_atomics::pause();
      b.e.settle();
    }
  });
  CHECK(b.e.run(from_ns(1e6)).find("not ended") == 0);
}

TEST_CASE("machine: a lock lets one in at a time, and sleepers wait for it without their processor") {
  bench b;
  machine_mutex mutex;
  int inside = 0;
  int rounds = 0;
  for (std::uint32_t i = 0; i < 4; ++i)
    b.thread(i, [&] {
      for (int k = 0; k < 50; ++k) {
        mutex.lock();
        CHECK(++inside == 1);
        b.e.spend_ns(20'000);
        b.e.settle();
        --inside;
        ++rounds;
        mutex.unlock();
      }
    });
  CHECK(b.e.run() == "");
  CHECK(rounds == 200);
  CHECK(b.e.stats().wakes > 100);
}
