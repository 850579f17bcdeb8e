// The machine without a policy: clocks, lines, sleepers.
#include <garrick/machine/traits.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

namespace engine_test {

using namespace garrick;
using namespace garrick::machine;

namespace {

/// Threads from lambdas, on a machine with two packages of two nodes of two units.
struct bench {
  sched::topology machine = *sched::topology::synthetic("pack:2 numa:2 l3:1 core:2 pu:1");
  costs prices;
  engine e{prices, machine};
  std::vector<std::unique_ptr<std::function<void()>>> bodies;

  bench() = default;
  explicit bench(const costs& c) : prices(c) {}
  void thread(std::uint32_t unit, std::function<void()> body) {
    bodies.push_back(std::make_unique<std::function<void()>>(std::move(body)));
    e.add_thread(
        unit, true, [](void* f) { (*static_cast<std::function<void()>*>(f))(); },
        bodies.back().get());
  }
  [[nodiscard]] double now_ns() const { return static_cast<double>(e.now()) / 1000; }
};

}  // namespace

TEST_CASE(
    "machine: the thread that is behind goes on; of equal ones the running one, then by number") {
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

TEST_CASE("machine: a line costs by the distance to its writer, and nothing more once it is here") {
  bench b;
  machine_atomics::atomic<int> word{0};
  std::vector<double> cost(8);
  // Each unit reads the word of unit 0 at a different time.
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

TEST_CASE(
    "machine: a plain store is buffered, a locked operation or a barrier waits for it, and a store "
    "that all must see is not "
    "buffered") {
  bench b;
  machine_atomics::atomic<int> near{0};
  machine_atomics::atomic<int> far[3];
  b.thread(0, [&] {
    near.fetch_add(1, std::memory_order_relaxed);  // order: not simulated
    b.e.spend_ns(1000);
    b.e.settle();
    const double begin = b.now_ns();
    far[0].store(1, std::memory_order_release);  // order: not simulated
    CHECK(b.now_ns() - begin == doctest::Approx(b.prices.hit));
    near.fetch_add(1, std::memory_order_relaxed);  // order: not simulated
    const double drained = b.prices.hit + b.prices.transfer[3];
    CHECK(b.now_ns() - begin == doctest::Approx(drained + b.prices.locked));

    const double second = b.now_ns();
    far[1].store(1, std::memory_order_release);  // order: not simulated
    machine_atomics::full_fence();
    CHECK(b.now_ns() - second == doctest::Approx(drained + b.prices.locked));

    const double third = b.now_ns();
    far[2].store(1, std::memory_order_seq_cst);  // order: its price
    CHECK(b.now_ns() - third == doctest::Approx(b.prices.transfer[3] + b.prices.locked));
  });
  b.thread(4, [&] {
    for (auto& word : far) word.fetch_add(1, std::memory_order_relaxed);  // order: not simulated
  });
  CHECK(b.e.run() == "");
}

TEST_CASE(
    "machine: a reader of a line waits until its owner has it, and the owner fetches it back from "
    "the last reader") {
  bench b;
  machine_atomics::atomic<int> word{0};
  b.thread(4, [&] { word.fetch_add(1, std::memory_order_relaxed); });  // order: not simulated
  double taken = 0;
  b.thread(0, [&] {
    b.e.spend_ns(1000);
    word.fetch_add(1, std::memory_order_relaxed);  // order: not simulated
    taken = b.now_ns();
    CHECK(taken == doctest::Approx(1000 + b.prices.transfer[3] + b.prices.locked));
    b.e.spend_ns(2000 - taken);
    word.fetch_add(1, std::memory_order_relaxed);  // order: not simulated
    CHECK(b.now_ns() == doctest::Approx(2000 + b.prices.transfer[2] + b.prices.locked));
  });
  b.thread(2, [&] {
    b.e.spend_ns(1001);
    CHECK(word.load(std::memory_order_acquire) == 2);  // order: not simulated
    CHECK(b.now_ns() == doctest::Approx(taken + b.prices.transfer[2]));
  });
  CHECK(b.e.run() == "");
}

TEST_CASE("machine: fences, pauses and clocks have their price") {
  bench b;
  b.thread(0, [&] {
    const auto cost = [&](auto&& f) {
      const double begin = b.now_ns();
      f();
      return b.now_ns() - begin;
    };
    CHECK(cost([] { machine_atomics::light_fence(); }) == 0);
    CHECK(cost([] { machine_atomics::full_fence(); }) == doctest::Approx(b.prices.locked));
    CHECK(cost([] { machine_atomics::heavy_fence(); }) == doctest::Approx(b.prices.barrier));
    CHECK(cost([] { machine_atomics::pause(); }) == doctest::Approx(b.prices.pause));
    CHECK(cost([] { static_cast<void>(machine_clock::now_ns()); }) ==
          doctest::Approx(b.prices.clock_read));
    CHECK(cost([] { static_cast<void>(machine_clock::thread_cpu_ns()); }) ==
          doctest::Approx(b.prices.cpu_clock_read));
  });
  CHECK(b.e.run() == "");
}

TEST_CASE("machine: locked operations on one line wait for each other") {
  for (const int threads : {1, 2, 4}) {
    bench b;
    machine_atomics::atomic<int> word{0};
    double end = 0;
    for (int i = 0; i < threads; ++i)
      b.thread(static_cast<std::uint32_t>(i * 2), [&] {
        // order: not simulated
        for (int k = 0; k < 100; ++k) word.fetch_add(1, std::memory_order_relaxed);
        end = std::max(end, b.now_ns());
      });
    CHECK(b.e.run() == "");
    CHECK(word.peek() == threads * 100);
    const double alone = 100 * b.prices.locked;
    if (threads == 1)
      CHECK(end == doctest::Approx(alone + b.prices.hit));
    else  // each operation fetches the line from its last owner, on another die or package
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

TEST_CASE(
    "machine: one call wakes all sleepers one after the other; a thread still on the way to sleep "
    "gets there first") {
  bench b;
  machine_atomics::atomic<std::uint32_t> word{0};
  std::vector<double> woken;
  for (std::uint32_t i = 0; i < 3; ++i)
    b.thread(i, [&] {
      machine_atomics::wait(word, 0);
      woken.push_back(b.now_ns());
    });
  b.thread(4, [&] {
    b.e.spend_ns(50'000);
    b.e.wake_all(&word);
    CHECK(b.now_ns() == doctest::Approx(50'000 + b.prices.wake_call + 2 * b.prices.wake_another));
  });
  CHECK(b.e.run() == "");
  REQUIRE(woken.size() == 3);
  const double first = 50'000 + b.prices.wake_latency;
  CHECK(woken[0] == doctest::Approx(first));
  CHECK(woken[1] == doctest::Approx(first + b.prices.wake_call));
  CHECK(woken[2] == doctest::Approx(first + b.prices.wake_call + b.prices.wake_another));

  costs quick;
  quick.wake_latency = 100;
  bench early(quick);
  double on = 0;
  early.thread(0, [&] {
    machine_atomics::wait(word, 0);
    on = early.now_ns();
  });
  early.thread(1, [&] {
    early.e.spend_ns(quick.system_call + 10);
    machine_atomics::wake_one(word);
  });
  CHECK(early.e.run() == "");
  CHECK(on == doctest::Approx(quick.system_call + quick.fall_asleep));
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
  CHECK(after == doctest::Approx(200'000 + b.prices.system_call + b.prices.fall_asleep +
                                 b.prices.precise_timer_late));
  CHECK(static_cast<double>(b.e.busy(0)) / 1000 ==
        doctest::Approx(b.prices.system_call + b.prices.fall_asleep));
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

TEST_CASE(
    "machine: a lock lets one in at a time, and sleepers wait for it without their processor") {
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

}  // namespace engine_test
