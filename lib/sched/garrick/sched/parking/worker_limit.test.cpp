// The limit to awake workers: its fall, its rise, and the wait before it tries again.
#include <garrick/sched/parking/worker_limit.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace worker_limit_test {

using namespace garrick::sched;

namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t passed = 2 * ms;

/// The workers together ran and waited for these parts of the window.
worker_limit::window window(double ran, double waited, bool work_waits = false) {
  const auto part = [](double of) { return static_cast<std::uint64_t>(of * passed); };
  return {.passed = passed, .ran = part(ran), .waited = part(waited), .work_waits = work_waits};
}

constexpr bool waits = true;

}  // namespace

TEST_CASE("worker limit: all may be awake until they wait for processors") {
  worker_limit limit(4);
  CHECK(limit.now() == 4);
  CHECK(limit.judge(1 * ms, window(0.8, 0)) == 4);
  CHECK(limit.judge(3 * ms, window(0.8, 0.19)) == 4);
  CHECK(limit.judge(5 * ms, window(0.8, 0.2)) == 1);
}

TEST_CASE(
    "worker limit: it falls to as many as the workers' running time needs, and not if that is "
    "all") {
  worker_limit sixteen(16);
  CHECK(sixteen.judge(ms, window(3.2, 10)) == 3);
  worker_limit two(2);
  CHECK(two.judge(ms, window(1.3, 0.7)) == 2);
  CHECK(two.judge(ms, window(1.25, 0.7)) == 1);
  worker_limit one(1);
  CHECK(one.judge(ms, window(0.3, 0.7)) == 1);
}

TEST_CASE("worker limit: it doubles when work waits, up to all") {
  worker_limit limit(6);
  CHECK(limit.judge(1 * ms, window(0.9, 3)) == 1);
  CHECK(limit.judge(3 * ms, window(1, 0, waits)) == 2);
  CHECK(limit.judge(5 * ms, window(2, 0, waits)) == 4);
  CHECK(limit.judge(7 * ms, window(4, 0, waits)) == 6);
  CHECK(limit.judge(9 * ms, window(4, 0, waits)) == 6);
}

TEST_CASE("worker limit: a lowering that was wrong is repeated ever less soon") {
  worker_limit limit(2);
  std::uint64_t at = ms;
  std::uint64_t expected = worker_limit::shortest_patience_ns;
  for (int i = 0; i < 12; ++i) {
    CHECK(limit.judge(at, window(1, 1)) == 1);
    at += 2 * ms;
    CHECK(limit.judge(at, window(0.7, 0, waits)) == 2);
    const std::uint64_t raised_at = at;
    do { at += ms; } while (limit.judge(at, window(1, 1)) == 2);
    CHECK(at - raised_at == expected);
    expected = std::min(2 * expected, worker_limit::longest_patience_ns);
  }
}

TEST_CASE("worker limit: a lowering that has held is a fresh start") {
  worker_limit limit(2);
  limit.judge(1 * ms, window(1, 1));
  limit.judge(3 * ms, window(1, 1, waits));  // wrong
  CHECK(limit.judge(6 * ms, window(1, 1)) == 2);
  CHECK(limit.judge(7 * ms, window(1, 1)) == 1);
  CHECK(limit.judge(90 * ms, window(1, 1, waits)) == 2);  // it was right for long
  CHECK(limit.judge(93 * ms, window(1, 1)) == 2);
  CHECK(limit.judge(94 * ms, window(1, 1)) == 1);
}

TEST_CASE("worker limit: after a while it is tried without, and each vain try makes that longer") {
  worker_limit limit(8);
  std::uint64_t at = ms;
  limit.judge(at, window(1, 1));
  std::uint64_t expected = worker_limit::shortest_hold_ns;
  for (int i = 0; i < 10; ++i) {
    const std::uint64_t lowered_at = at;
    do { at += ms; } while (limit.judge(at, window(0.5, 0)) == 1);
    CHECK(limit.now() == 8);
    CHECK(at - lowered_at == expected);
    expected = std::min(2 * expected, worker_limit::longest_hold_ns);
    at += 3 * ms;
    CHECK(limit.judge(at, window(1, 1)) == 1);
  }
  // A try that does no harm for a while was right.
  do { at += ms; } while (limit.judge(at, window(0.5, 0)) == 1);
  at += worker_limit::verdict_ns;
  CHECK(limit.judge(at, window(1, 1)) == 1);
  const std::uint64_t lowered_at = at;
  do { at += ms; } while (limit.judge(at, window(0.5, 0)) == 1);
  CHECK(at - lowered_at == worker_limit::shortest_hold_ns);
}

TEST_CASE("worker limit: a load that fits the limit already puts no try off") {
  worker_limit limit(4);
  CHECK(limit.judge(1 * ms, window(1.5, 1)) == 2);
  CHECK(limit.judge(400 * ms, window(1.5, 1)) == 2);
  CHECK(limit.judge(501 * ms, window(1.5, 1)) == 4);
}

TEST_CASE("worker limit: a try that has failed is no reason to doubt a later lowering") {
  worker_limit limit(2);
  CHECK(limit.judge(1 * ms, window(1, 1)) == 1);
  CHECK(limit.judge(501 * ms, window(0.5, 0)) == 2);       // the try
  CHECK(limit.judge(503 * ms, window(1, 1)) == 1);         // has failed
  CHECK(limit.judge(505 * ms, window(1, 1, waits)) == 2);  // that lowering was wrong
  CHECK(limit.judge(510 * ms, window(1, 1)) == 1);         // as after any other raise
  CHECK(limit.judge(1009 * ms, window(0.5, 0)) == 1);
  CHECK(limit.judge(1010 * ms, window(0.5, 0)) == 2);
}

namespace {

/// A worker as `crowd_looks` sees it.
struct seen_worker {
  struct {
    std::uint64_t value = 0;
    [[nodiscard]] std::uint64_t get() const noexcept { return value; }
  } emptied;
  struct {
    std::uint64_t value = 0;
    [[nodiscard]] std::uint64_t parks() const noexcept { return value; }
  } figures;
  struct {
    std::optional<garrick::base::platform::processor_times> value{std::in_place};
    int reads = 0;
    [[nodiscard]] auto times() noexcept {
      ++reads;
      return value;
    }
  } front;
  struct {
    std::size_t value = 0;
    [[nodiscard]] std::size_t size() const noexcept { return value; }
  } deque;
  bool open = false;
  [[nodiscard]] bool has_open_work() const noexcept { return open; }
};

struct machine {
  std::vector<std::unique_ptr<seen_worker>> workers;
  struct {
    std::vector<bool> parked;
    [[nodiscard]] bool looks_parked(std::uint32_t i) const noexcept { return parked[i]; }
  } sleepers;
  crowd_looks looks;
  std::uint64_t at = 10 * ms;

  explicit machine(std::uint32_t count) : looks(count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      workers.push_back(std::make_unique<seen_worker>());
      sleepers.parked.push_back(false);
    }
  }

  /// A look after 100 µs, in which each worker ran and waited for these parts of the time.
  std::uint32_t look(double ran, double waited) {
    at += 100'000;
    for (auto& w : workers) {
      if (!w->front.value) continue;
      w->front.value->ran_ns += static_cast<std::uint64_t>(ran * 100'000);
      w->front.value->waited_ns += static_cast<std::uint64_t>(waited * 100'000);
    }
    return looks.look(workers, sleepers, at);
  }
};

}  // namespace

TEST_CASE("crowd looks: workers that wait for processors lower the limit, and work raises it") {
  machine m(2);
  int looks_made = 0;
  while (m.look(0.4, 0.4) == 2) REQUIRE(++looks_made < 100);
  for (auto& w : m.workers) w->open = true;
  for (int i = 0; i < 100; ++i) {
    for (auto& w : m.workers) ++w->emptied.value;  // all of it had its turn
    CHECK(m.look(0.4, 0) == 1);
  }
  looks_made = 0;
  while (m.look(0.4, 0) == 1) REQUIRE(++looks_made < 100);
  CHECK(looks_made > 5);
}

TEST_CASE("crowd looks: many runnables that wait keep the limit up, and raise it") {
  machine m(2);
  m.workers[0]->deque.value = 8;
  for (int i = 0; i < 100; ++i) CHECK(m.look(0.4, 0.4) == 2);
  m.workers[0]->deque.value = 7;  // a long pipeline may have that many
  int looks_made = 0;
  while (m.look(0.4, 0.4) == 2) REQUIRE(++looks_made < 100);
  for (int i = 0; i < 100; ++i) CHECK(m.look(0.4, 0) == 1);
  m.workers[1]->deque.value = 8;
  looks_made = 0;
  while (m.look(0.4, 0) == 1) REQUIRE(++looks_made < 25);
}

TEST_CASE("crowd looks: a helper that hardly gets to look lowers nothing, and may raise") {
  machine m(2);
  int looks_made = 0;
  while (m.look(0.4, 0.4) == 2) REQUIRE(++looks_made < 100);
  m.workers[0]->deque.value = 100;
  m.at += 10 * ms;
  CHECK(m.look(4, 4) == 2);
  m.workers[0]->deque.value = 0;
  for (int i = 0; i < 100; ++i) {
    m.at += 1 * ms;
    CHECK(m.look(4, 4) == 2);
  }
}

TEST_CASE("crowd looks: where the system does not say, the limit stays") {
  machine m(2);
  m.workers[1]->front.value.reset();
  for (int i = 0; i < 1000; ++i) CHECK(m.look(0.4, 2) == 2);
}

TEST_CASE("crowd looks: workers that sleep are not asked for") {
  machine m(3);
  for (int i = 0; i < 50; ++i) m.look(0.1, 0);
  m.sleepers.parked[2] = true;
  const int before = m.workers[2]->front.reads;
  for (int i = 0; i < 200; ++i) m.look(0.1, 0);
  CHECK(m.workers[2]->front.reads == before);
  ++m.workers[2]->figures.value;  // it was awake in between
  for (int i = 0; i < 50; ++i) m.look(0.1, 0);
  CHECK(m.workers[2]->front.reads == before + 1);
}

TEST_CASE("crowd looks: a helper that has slept for long judges nothing") {
  machine m(2);
  m.look(0, 0);
  for (int i = 0; i < 20; ++i) {
    m.at += 20 * ms;
    CHECK(m.look(100, 100) == 2);
  }
}

TEST_CASE("crowd looks: a limit falls only if few looks saw many runnables wait") {
  machine m(2);
  for (int i = 0; i < 200; ++i) {
    m.workers[0]->deque.value = i % 10 < 4 ? 8 : 0;
    CHECK(m.look(0.4, 0.4) == 2);
  }
}

TEST_CASE("crowd looks: work that may have moved while the helper slept does not raise the limit") {
  machine m(2);
  int looks_made = 0;
  while (m.look(0.4, 0.4) == 2) REQUIRE(++looks_made < 100);
  for (auto& w : m.workers) w->open = true;
  m.look(0.4, 0);
  m.at += 20 * ms;
  CHECK(m.look(0.4, 0) == 1);
}

TEST_CASE("crowd looks: work that has its turn within the time of a window does not wait") {
  machine m(2);
  int looks_made = 0;
  while (m.look(0.4, 0.4) == 2) REQUIRE(++looks_made < 100);
  for (auto& w : m.workers) w->open = true;
  for (int i = 0; i < 200; ++i) {
    for (auto& w : m.workers) w->emptied.value += i % 8 == 0 ? 1 : 0;
    CHECK(m.look(0.4, 0) == 1);
  }
}

TEST_CASE("crowd looks: the more workers are awake, the rarer they are asked for") {
  machine few(2), many(16);
  for (int i = 0; i < 400; ++i) {
    few.look(0.1, 0);
    many.look(0.1, 0);
  }
  CHECK(few.workers[0]->front.reads >= 35);  // each millisecond
  CHECK(many.workers[0]->front.reads <= 12);
}

}  // namespace worker_limit_test
