// The phases of work on a container under the model checker, as they are and with each memory order
// weakened.
#include <garrick/patterns/team/phases.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

using namespace garrick::base::model;
using namespace garrick::patterns::detail;

namespace {

constexpr unsigned thorough = 100'000;
constexpr unsigned enough_to_fail = 100'000;

constexpr std::size_t threads = 3;
constexpr std::size_t elements = 3;
constexpr std::uint64_t last_phase = 2;

/// Each of three participants claims pieces, and makes each of their elements from two elements of
/// the other buffer. A thread that calls a participant back takes that participant's place, too.
template <bool ByHand>
struct phases_suite : rl::test_suite<phases_suite<ByHand>, threads> {
  using cell = relacy_atomics::cell<int>;
  using buffer = std::array<cell, elements>;

  basic_phases<relacy_atomics> phases{ByHand ? cut::evenly(elements, elements, true)
                                             : cut::by_length(elements, 2)};
  std::array<buffer, 2> buffers{};
  // for the checks; the model checker does not follow these
  std::array<std::uint64_t, threads> seen{};  ///< the latest phase of a participant that left
  std::uint64_t begun = 0;
  int ends = 0;

  void before() {
    phases.belongs_to(threads, threads);
    for (std::size_t i = 0; i < elements; ++i) buffers[0][i].set(static_cast<int>(i));
  }
  void thread(unsigned index) {
    std::array<std::size_t, 64> places{index};
    std::size_t n = 1;
    while (n != 0) take_part(places[--n], places, n);
  }
  void take_part(std::size_t who, std::array<std::size_t, 64>& places, std::size_t& n) {
    piece p;
    std::uint64_t phase = 0;
    while (phases.claim(who, p, phase)) {
      RL_ASSERT(phase == begun);
      RL_ASSERT(p.number < phases.how().pieces);
      buffer& in = buffers[phase % 2];
      buffer& out = buffers[(phase + 1) % 2];
      for (std::size_t i = p.begin; i < p.end; ++i)
        out[i].set(in[i].get() + in[(i + 1) % elements].get());
      if (!phases.finish(p.end - p.begin)) continue;
      if (phase == last_phase) {
        ++ends;
        continue;
      }
      ++begun;
      phases.begin_next();
      for (std::size_t i = 0; i < threads; ++i)
        if (phases.call(i)) places[n++] = i;
    }
    seen[who] = std::max(seen[who], phase);
  }
  void after() {
    RL_ASSERT(ends == 1);
    RL_ASSERT(begun == last_phase);
    std::array<int, elements> expected{0, 1, 2};
    for (std::uint64_t phase = 0; phase <= last_phase; ++phase) {
      const std::array<int, elements> in = expected;
      for (std::size_t i = 0; i < elements; ++i) expected[i] = in[i] + in[(i + 1) % elements];
    }
    for (std::size_t i = 0; i < elements; ++i)
      RL_ASSERT(buffers[(last_phase + 1) % 2][i].get() == expected[i]);
    for (const std::uint64_t latest : seen) RL_ASSERT(latest == last_phase);
  }
};

}  // namespace

TEST_CASE(
    "a phase begins when the one before is done, and a thread that is away from it is called") {
  CHECK(explore<phases_suite<false>>(thorough) == "");
  CHECK(explore<phases_suite<true>>(thorough) == "");
}
TEST_CASE("phases need each of their memory orders") {
  const auto need = [](phases_order at, std::memory_order as_written) {
    CAPTURE(static_cast<int>(at));
    CHECK(needs<phases_suite<false>>(at, as_written, enough_to_fail));
    CHECK(needs<phases_suite<true>>(at, as_written, enough_to_fail));
  };
  need(phases_order::look, acquire);
  need(phases_order::finish, acq_rel);
  need(phases_order::begin, release);
}
TEST_CASE("a thread that goes away from a phase, and one that begins the next, need their fences") {
  CHECK(needs<phases_suite<true>>(sleeper_order::set_fence, seq_cst, enough_to_fail));
  CHECK(needs<phases_suite<true>>(sleeper_order::take_fence, seq_cst, enough_to_fail));
}
