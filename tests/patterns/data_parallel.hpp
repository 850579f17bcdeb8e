// Shared helpers of the tests of data-parallel patterns.
#pragma once

#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "support/orders.hpp"

namespace garrick::tests {

/// 0, 1, …, n - 1.
[[nodiscard]] inline std::vector<int> numbers(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

/// Holds threads up that come to it until it is opened.
class gate {
 public:
  /// Closes the gate: the next threads wait.
  void close() noexcept { has_come_ = is_open_ = false; }
  /// Waits until it is open.
  void pass() noexcept {
    if (!has_come_.exchange(true)) has_come_.notify_all();
    is_open_.wait(false);
  }
  /// Waits until a thread has come.
  void wait_for_somebody() const noexcept { has_come_.wait(false); }
  void open() noexcept {
    is_open_ = true;
    is_open_.notify_all();
  }

 private:
  std::atomic<bool> has_come_{false};
  std::atomic<bool> is_open_{false};
};

/// Stops a system with a thread held up at the gate. All actors are told before it opens.
inline void stop_at(gate& g, actor_system& system) {
  g.wait_for_somebody();
  static_cast<void>(system.stop_now(duration()));
  g.open();
  CHECK(system.stop_now(duration::seconds(60)).complete);
}

/// Counts how often such an object is copied, and how often it is moved.
struct counting_copies {
  using garrick_sendable = void;
  int value = 0;
  static inline std::atomic<int> copies{0};
  static inline std::atomic<int> moves{0};
  counting_copies() = default;
  counting_copies(const counting_copies& o) : value(o.value) { ++copies; }
  counting_copies(counting_copies&& o) noexcept : value(o.value) { ++moves; }
  counting_copies& operator=(const counting_copies& o) {
    value = o.value;
    ++copies;
    return *this;
  }
  counting_copies& operator=(counting_copies&& o) noexcept {
    value = o.value;
    ++moves;
    return *this;
  }
  ~counting_copies() = default;
};

/// Gives `check` the answer of a pattern: with one replica and several, in its own pieces and of
/// lengths that do and do not divide the container's, on workers and on threads of their own, in
/// ten orders of a test system and in a real one.
template <class P, class C, class Check>
void answer_in_all_ways(const P& p, const C& in, const Check& check) {
  for (const std::size_t replicas : {1U, 2U, 3U, 8U})
    for (const std::size_t chunk : {0U, 1U, 3U, 1000U}) {
      CAPTURE(replicas);
      CAPTURE(chunk);
      const P cut = chunk == 0 ? p.replicas(replicas) : p.replicas(replicas).dynamic(chunk);
      for (std::uint64_t seed = 1; seed <= orders(10); ++seed) {
        CAPTURE(seed);
        testkit::test_system kit(seed);
        auto answer = kit.request(patterns::spawn(kit, cut), in);
        kit.run();
        check(answer.get());
      }
      actor_system system;
      check(system.request(patterns::spawn(system, cut), in).get());
      if (replicas == 2)
        check(system.request(patterns::spawn(system, cut.own_threads()), in).get());
    }
}

}  // namespace garrick::tests
