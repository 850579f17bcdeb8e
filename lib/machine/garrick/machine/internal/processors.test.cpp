// The threads that share processors: their places, their order, and their times.
#include <garrick/base/values/random.hpp>
#include <garrick/machine/internal/processors.hpp>
#include <garrick/machine/traits.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace processors_test {

using namespace garrick;
using namespace garrick::machine;

namespace {

using kind = thread_event::kind;
using word = machine_atomics::atomic<std::uint32_t>;

/// Threads from lambdas that share the units of a machine, and all events of these threads.
struct bench {
  sched::topology machine;
  costs prices;
  time_sharing how;
  engine e;
  std::vector<std::unique_ptr<std::function<void()>>> bodies;
  std::vector<thread_event> events;
  std::function<void(const thread_event&)> log = [this](const thread_event& one) {
    events.push_back(one);
  };

  explicit bench(std::uint32_t units, time_sharing shared = {}, std::uint64_t seed = 1)
      : bench(sched::topology::flat(units), shared, seed) {}
  bench(sched::topology units, time_sharing shared, std::uint64_t seed = 1)
      : machine(std::move(units)), how(shared), e(prices, machine, how, seed) {
    e.observe(&log);
  }
  std::uint32_t thread(std::uint32_t unit, std::function<void()> body) {
    bodies.push_back(std::make_unique<std::function<void()>>(std::move(body)));
    return e.add_thread(
        unit, true, [](void* f) { (*static_cast<std::function<void()>*>(f))(); },
        bodies.back().get());
  }
  /// Works in steps, like a program that touches shared memory from time to time.
  void work(double ns) {
    for (double left = ns; left > 0; left -= 10'000) {
      e.spend_ns(std::min(left, 10'000.0));
      e.settle();
    }
  }
  /// Rests until the time `ns`, without a processor.
  void rest_until(double ns) { e.sleep(from_ns(ns - now_ns())); }
  [[nodiscard]] double now_ns() const { return static_cast<double>(e.now()) / 1000; }
  [[nodiscard]] double busy_ns(std::uint32_t thread) const {
    return static_cast<double>(e.busy(thread)) / 1000;
  }
  void run() { CHECK(e.run(from_ns(1e10)) == ""); }
  /// Returns the longest time that this thread waited for a processor, in nanoseconds.
  [[nodiscard]] double longest_wait(std::uint32_t thread) const {
    double longest = 0;
    for (const thread_event& one : events)
      if (one.what == kind::runs && one.thread == thread)
        longest = std::max(longest, static_cast<double>(one.waited) / 1000);
    return longest;
  }
};

}  // namespace

TEST_CASE("processors: threads of one processor have it in turns, in slices that end at ticks") {
  bench b(1);
  std::vector<double> ended(3);
  for (std::uint32_t i = 0; i < 3; ++i)
    b.thread(0, [&, i] {
      b.work(100e6);
      ended[i] = b.now_ns();
    });
  b.run();
  const double last = *std::max_element(ended.begin(), ended.end());
  CHECK(last > 300e6);
  CHECK(last < 302e6);
  CHECK(*std::min_element(ended.begin(), ended.end()) > 285e6);
  for (std::uint32_t i = 0; i < 3; ++i) {
    // its work, and some 25 switches to it
    CHECK(b.busy_ns(i) == doctest::Approx(100e6).epsilon(0.001));
    CHECK(b.longest_wait(i) > 7.9e6);
    CHECK(b.longest_wait(i) < 2 * (b.how.slice + b.how.tick));
  }
}

TEST_CASE("processors: where each thread has a processor, none waits and none moves") {
  bench b(4);
  for (std::uint32_t i = 0; i < 4; ++i)
    b.thread(i, [&, i] {
      b.work(20e6 + i);
      CHECK(b.now_ns() == doctest::Approx(20e6 + i));
      CHECK(b.e.here() == i);
    });
  b.run();
  for (const thread_event& one : b.events) CHECK(one.waited == 0);
  CHECK(b.events.size() == 8);  // each runs and ends
}

TEST_CASE(
    "processors: a thread that wakes up goes where it was, else to an idle processor of its cache, "
    "else it waits where it was") {
  const auto place = [](std::uint32_t busy, const char* machine) {
    bench b(*sched::topology::synthetic(machine), {});
    word gate{0};
    std::uint32_t where = 99;
    b.thread(1, [&] {
      machine_atomics::wait(gate, 0);
      where = b.e.here();
    });
    for (std::uint32_t i = 0; i < busy; ++i) {
      const std::uint32_t unit = i == 0 ? 0 : i == 1 ? 1 : i;
      const std::uint32_t number = b.thread(unit, [&, i] {
        b.work(1e6);
        if (i == 0) {
          gate.store(1, std::memory_order_relaxed);  // order: not simulated
          machine_atomics::wake_one(gate);
        }
        b.work(20e6);
      });
      b.e.pin(number, unit);
    }
    b.run();
    return where;
  };
  constexpr const char* one_cache = "pack:1 numa:1 l3:1 core:4 pu:1";
  CHECK(place(1, one_cache) == 1);
  CHECK(place(2, one_cache) == 2);
  CHECK(place(3, one_cache) == 3);
  CHECK(place(4, one_cache) == 1);
  CHECK(place(2, "pack:2 numa:1 l3:1 core:2 pu:1") == 1);  // idle: only the other package's
}

TEST_CASE(
    "processors: a thread that wakes up beside a busy one waits for a tick, as the kernel "
    "decides") {
  // A busy thread and a thread that is woken from another processor, both on processor 0.
  const auto wait_ns = [](wake_up_preemption preemption, double slice, bool batch = false) {
    time_sharing how;
    how.preemption = preemption;
    bench b(2, how);
    word gate{0};
    const std::uint32_t sleeper = b.thread(0, [&] {
      machine_atomics::wait(gate, 0);
      b.work(1000);
    });
    const std::uint32_t busy = b.thread(0, [&] {
      b.e.spend_ns(10'000);  // by then the other thread sleeps
      b.work(30e6);
    });
    const std::uint32_t waker = b.thread(1, [&] {
      b.work(5e6);
      gate.store(1, std::memory_order_relaxed);  // order: not simulated
      machine_atomics::wake_one(gate);
      b.work(30e6);
    });
    for (const std::uint32_t t : {sleeper, busy}) b.e.pin(t, 0);
    b.e.pin(waker, 1);
    if (slice != 0) b.e.set_slice(sleeper, slice);
    if (batch) b.e.set_batch(sleeper);
    b.run();
    double waited = -1;
    for (const thread_event& one : b.events)
      if (one.thread == sleeper && one.what == kind::runs && one.at > from_ns(5e6))
        waited = static_cast<double>(one.waited) / 1000;
    return waited;
  };
  const time_sharing how;
  const double parity = wait_ns(wake_up_preemption::run_to_parity, 0);
  CHECK(parity > 100e3);
  CHECK(parity < how.slice + how.tick);
  CHECK(wait_ns(wake_up_preemption::never, 0) >= parity);
  CHECK(wait_ns(wake_up_preemption::at_once, 0) == doctest::Approx(how.context_switch));
  CHECK(wait_ns(wake_up_preemption::run_to_parity, 1e5) == doctest::Approx(how.context_switch));
  CHECK(wait_ns(wake_up_preemption::run_to_parity, 1e5, true) > 100e3);
  CHECK(wait_ns(wake_up_preemption::at_once, 0, true) > 100e3);
}

TEST_CASE(
    "processors: a thread that had to wait is let in at once thereafter, until it has had its "
    "share") {
  time_sharing how;
  how.latency_jitter = 0;
  bench b(2, how);
  word gate{0};
  const std::uint32_t sleeper = b.thread(0, [&] {
    for (std::uint32_t i = 0; i < 400; ++i) {
      machine_atomics::wait(gate, i);
      b.work(20'000);
    }
  });
  const std::uint32_t busy = b.thread(0, [&] { b.work(200e6); });
  const std::uint32_t waker = b.thread(1, [&] {
    for (std::uint32_t i = 1; i <= 400; ++i) {
      b.rest_until(i * 500e3);
      gate.store(i, std::memory_order_relaxed);  // order: not simulated
      machine_atomics::wake_one(gate);
    }
  });
  for (const std::uint32_t t : {sleeper, busy}) b.e.pin(t, 0);
  b.e.pin(waker, 1);
  b.run();
  std::size_t at_once = 0;
  std::size_t late = 0;
  for (const thread_event& one : b.events)
    if (one.thread == sleeper && one.what == kind::runs) {
      if (one.waited < from_ns(10'000)) ++at_once;
      if (one.waited > from_ns(500'000)) ++late;
    }
  CHECK(at_once > 200);
  CHECK(late >= 1);
  CHECK(late < 40);
}

TEST_CASE(
    "processors: an idle processor takes a thread that waits elsewhere, unless its cache is still "
    "hot") {
  // The first thread ran until 0.9 ms and is woken behind a busy thread; processor 1 becomes idle
  // at the given time.
  const auto waited_ns = [](double idle_from_ns) {
    time_sharing how;
    how.slice = how.tick = 50e6;
    bench b(2, how);
    word gate{0};
    std::uint32_t found = 99;
    const std::uint32_t first = b.thread(0, [&] {
      b.work(0.9e6);
      machine_atomics::wait(gate, 0);
      b.work(1000);
      found = b.e.here();
    });
    const std::uint32_t busy = b.thread(0, [&] {
      b.rest_until(1e6);
      b.work(200e6);
    });
    b.e.pin(busy, 0);
    const std::uint32_t other = b.thread(1, [&, idle_from_ns] {
      b.work(1.05e6);
      gate.store(1, std::memory_order_relaxed);  // order: not simulated
      machine_atomics::wake_one(gate);
      b.work(idle_from_ns - b.now_ns());
      b.rest_until(300e6);
    });
    b.e.pin(other, 1);
    b.run();
    CHECK(found < 2);
    return b.longest_wait(first);
  };
  CHECK(waited_ns(1.6e6) == doctest::Approx(0.55e6).epsilon(0.02));
  CHECK(waited_ns(1.2e6) > 1e6);  // processor 1 became idle too early, and does not check again
}

TEST_CASE(
    "processors: a bound thread stays, and one that leaves a processor is elsewhere at once") {
  bench b(2);
  const std::uint32_t bound = b.thread(0, [&] {
    for (int i = 0; i < 20; ++i) {
      b.work(2e6);
      CHECK(b.e.here() == 1);
    }
  });
  b.e.pin(bound, 1);
  const std::uint32_t busy = b.thread(1, [&] { b.work(50e6); });
  b.e.pin(busy, 1);
  b.thread(1, [&] {
    const std::int32_t one[] = {1};
    const std::int32_t all[] = {0, 1};
    const auto me = machine_place::of_this_thread();
    CHECK_FALSE(machine_place::leave(all));
    CHECK(machine_place::leave(one));
    CHECK(me.processor() == 0);
    b.work(1e6);
    const std::int32_t zero[] = {0};
    CHECK(machine_place::leave(zero));
    CHECK(me.processor() == 1);
    b.work(5e6);
    CHECK(me.processor() == 1);
  });
  b.run();
}

TEST_CASE("processors: work takes its time without the waits, and a look at the clock does not") {
  bench b(1);
  double spun = 0;
  double worked = 0;
  const std::uint32_t spinner = b.thread(0, [&] {
    b.e.spin_until(from_ns(10e6));
    spun = b.now_ns();
  });
  const std::uint32_t worker = b.thread(0, [&] {
    b.e.spend_ns(10e6);
    b.e.settle();
    worked = b.now_ns();
  });
  b.run();
  CHECK(spun >= 10e6);
  CHECK(b.busy_ns(spinner) < 9e6);  // it waited for the rest of the time
  CHECK(b.busy_ns(worker) == doctest::Approx(10e6).epsilon(0.002));
  CHECK(worked > 14e6);
}

TEST_CASE(
    "processors: a line that one thread has fetched is there for the next on the same processor") {
  bench b(2);
  machine_atomics::atomic<int> shared{0};
  double near = 0;
  double far = 0;
  const auto cost = [&] {
    b.e.settle();
    const double before = b.now_ns();
    CHECK(shared.load(std::memory_order_relaxed) == 1);  // order: not simulated
    return b.now_ns() - before;
  };
  const std::uint32_t writer =
      b.thread(0, [&] { shared.store(1, std::memory_order_relaxed); });  // order: not simulated
  const std::uint32_t same = b.thread(0, [&] { near = cost(); });
  const std::uint32_t other = b.thread(1, [&] {
    b.work(1e6);
    far = cost();
  });
  b.e.pin(writer, 0);
  b.e.pin(same, 0);
  b.e.pin(other, 1);
  b.run();
  CHECK(near == doctest::Approx(b.prices.hit));
  CHECK(far == doctest::Approx(b.prices.transfer[0]));
}

TEST_CASE("processors: a thread that is set apart is in no other's way and waits for none") {
  bench b(1);
  const std::uint32_t alone = b.thread(0, [&] {
    b.work(5e6);
    CHECK(b.now_ns() == doctest::Approx(5e6));
    b.rest_until(8e6);
    CHECK(b.now_ns() == doctest::Approx(8e6).epsilon(0.001));
  });
  b.e.set_apart(alone);
  b.thread(0, [&] {
    b.work(20e6);
    CHECK(b.now_ns() == doctest::Approx(20e6));
  });
  b.run();
}

TEST_CASE("processors: sleepers for ever are an error also where others share processors") {
  bench b(2);
  word gate{0};
  for (int i = 0; i < 3; ++i) b.thread(0, [&] { machine_atomics::wait(gate, 0); });
  b.thread(1, [&] { b.work(20e6); });
  CHECK(b.e.run().find("3 threads sleep") == 0);
}

namespace {

/// Runs threads that work, sleep, wake each other and move, all drawn from the seed. Returns the
/// events.
std::vector<thread_event> confusion(std::uint64_t seed) {
  base::random_source random(seed);
  time_sharing how;
  how.preemption = static_cast<wake_up_preemption>(random.below(3));
  const std::uint32_t units = 1 + random.below(6);
  bench b(units, how, seed);
  const std::uint32_t threads = 2 + random.below(10);
  std::vector<std::unique_ptr<word>> gates;
  std::vector<std::unique_ptr<base::random_source>> draws;
  for (std::uint32_t i = 0; i < threads; ++i) {
    gates.push_back(std::make_unique<word>(0U));
    draws.push_back(std::make_unique<base::random_source>(random.split()));
  }
  for (std::uint32_t i = 0; i < threads; ++i) {
    const std::uint32_t number = b.thread(random.below(units), [&, i] {
      base::random_source& draw = *draws[i];
      for (int step = 0; step < 60; ++step) switch (draw.below(5)) {
          case 0: b.work(draw.below(3'000'000)); break;
          case 1: b.e.sleep(from_ns(draw.below(1'000'000))); break;
          case 2: machine_atomics::wake_one(*gates[draw.below(threads)]); break;
          case 3:
            static_cast<void>(machine_atomics::wait_for(*gates[i], 0, draw.below(2'000'000)));
            break;
          default: {
            const std::int32_t away[] = {static_cast<std::int32_t>(draw.below(units))};
            static_cast<void>(machine_place::leave(away));
          }
        }
    });
    if (random.below(4) == 0) b.e.set_slice(number, 1e5 + random.below(5'000'000));
  }
  b.run();
  return b.events;
}

}  // namespace

TEST_CASE("processors: no thread is in two places, none runs where another runs, none is lost") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const std::vector<thread_event> told = confusion(seed);
    std::vector<const thread_event*> events;
    for (const thread_event& one : told) events.push_back(&one);
    std::sort(events.begin(), events.end(), [](const thread_event* a, const thread_event* b) {
      return a->at != b->at ? a->at < b->at : a < b;
    });
    std::map<std::uint32_t, std::uint32_t> on;    // processor → thread
    std::map<std::uint32_t, std::uint32_t> runs;  // thread → processor
    std::size_t begun = 0;
    std::size_t ended = 0;
    for (const thread_event* const told_one : events) {
      const thread_event& one = *told_one;
      if (one.what == kind::woken) {
        CHECK(runs.count(one.thread) == 0);
      } else if (one.what == kind::runs) {
        REQUIRE(on.count(one.processor) == 0);
        REQUIRE(runs.count(one.thread) == 0);
        on[one.processor] = one.thread;
        runs[one.thread] = one.processor;
        ++begun;
      } else {
        REQUIRE(runs.count(one.thread) == 1);
        REQUIRE(on[one.processor] == one.thread);
        on.erase(one.processor);
        runs.erase(one.thread);
        if (one.what == kind::ends) ++ended;
      }
    }
    CHECK(on.empty());
    CHECK(ended >= 2);
    CHECK(begun >= ended);
  }
}

TEST_CASE("processors: one seed gives one course of events, another seed another") {
  const auto picture = [](std::uint64_t seed, std::uint64_t ticks) {
    bench b(2, {}, ticks);
    for (std::uint32_t i = 0; i < 5; ++i)
      b.thread(0, [&, i, seed] { b.work(5e6 * static_cast<double>(i + seed)); });
    b.run();
    std::string text;
    for (const thread_event& one : b.events)
      text += std::to_string(static_cast<int>(one.what)) + ":" + std::to_string(one.at) + ":" +
              std::to_string(one.thread) + " ";
    return text;
  };
  CHECK(picture(1, 7) == picture(1, 7));
  CHECK(picture(1, 7) != picture(1, 8));
  CHECK(confusion(5).size() == confusion(5).size());
}

}  // namespace processors_test
