// Paper 002, figures 1(b) and 2(b).
#include <garrick/machine/machines.hpp>
#include <garrick/sched/policies/policy.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "simulator/papers/steal_probability.hpp"

namespace steal_probability_test {

using namespace garrick;
using namespace garrick::machine;
using namespace bench::simulator;

namespace {

constexpr std::uint32_t walk_length = 1 + 5 + 7;  ///< attempts of one walk on the paper's ring

struct ring {
  sched::worker_places places{ring_of_paper_002(), 8, sched::neighbourhood::cache};
  /// The worker on a core, by the paper's number.
  [[nodiscard]] std::uint32_t core(std::int32_t number) const {
    for (std::uint32_t w = 0; w < 8; ++w)
      if (places.unit_of(w).os_index == number - 1) return w;
    return 8;
  }
};

/// The shipped walk with every outcome of its random choice, each as likely: exact.
std::vector<double> by_enumeration(const sched::worker_places& places, std::uint32_t thief,
                                   std::uint32_t hot) {
  std::vector<double> result;
  double missed = 1;
  sched::victim_walk walk(places, thief);
  for (std::uint32_t n = 0; n < walk_length; ++n) {
    double met = 0;
    const std::uint32_t equal = 5 * 7;  // a multiple of each group's size
    sched::victim_walk next = walk;
    for (std::uint32_t choice = 0; choice < equal; ++choice) {
      next = walk;
      const auto chosen = [choice] { return choice; };
      if (next.next(chosen) == hot) met += 1.0 / equal;
    }
    missed *= 1 - met;
    result.push_back(1 - missed);
    walk = next;
  }
  return result;
}

void check_close(const std::vector<double>& exact, const std::vector<double>& sampled,
                 std::uint32_t samples) {
  REQUIRE(exact.size() == sampled.size());
  for (std::size_t n = 0; n < exact.size(); ++n) {
    CAPTURE(n);
    const double deviation = std::sqrt(exact[n] * (1 - exact[n]) / samples);
    CHECK(std::abs(sampled[n] - exact[n]) <= 4.5 * deviation + 1e-12);
  }
}

}  // namespace

TEST_CASE("paper 002: from core 6 the groups are its neighbour, five and seven") {
  const ring r;
  const std::uint32_t six = r.core(6);
  CHECK(
      std::vector<sched::worker_index>(r.places.groups(six).begin(), r.places.groups(six).end()) ==
      std::vector<sched::worker_index>{1, 5, 7});
  CHECK(r.places.others(six)[0] == r.core(5));
}

TEST_CASE(
    "paper 002, figure 1(b): a random thief succeeds with 1 - (6/7)^n, and so does the shipped "
    "poller") {
  const ring r;
  const auto exact = random_steal_probability(8, 40);
  for (std::uint32_t n = 1; n <= 40; ++n)
    CHECK(exact[n - 1] == doctest::Approx(1 - std::pow(6.0 / 7, n)));
  for (const std::int32_t core : {2, 3, 6, 8}) {
    CAPTURE(core);
    check_close(exact,
                sampled_steal_probability(r.places, false, r.core(core), r.core(1), 40, 20'000, 11),
                20'000);
  }
}

TEST_CASE(
    "paper 002, figure 2(b): a guided thief succeeds by its distance, exactly as the shipped "
    "walk") {
  const ring r;
  // By the paper: core 2 at once; cores 4 and 8 after one failed attempt with 1/5 each; core 6
  // after six with 1/7 each.
  const auto expected = [](std::int32_t core, int n) {
    if (core == 2) return 1.0;
    const bool near = core != 5 && core != 6;
    const int in_middle = near ? std::clamp(n - 1, 0, 5) : 0;
    const int in_last = std::max(n - 6, 0);
    return 1 - std::pow(4.0 / 5, in_middle) * std::pow(6.0 / 7, in_last);
  };
  for (const std::int32_t core : {2, 3, 4, 5, 6, 7, 8}) {
    CAPTURE(core);
    const auto exact = guided_steal_probability(r.places, r.core(core), r.core(1), 40);
    REQUIRE(exact.size() == 40);
    for (int n = 1; n <= 40; ++n)
      CHECK(exact[static_cast<std::size_t>(n - 1)] == doctest::Approx(expected(core, n)));
    const auto walk = by_enumeration(r.places, r.core(core), r.core(1));
    for (std::uint32_t n = 0; n < walk_length; ++n) CHECK(walk[n] == doctest::Approx(exact[n]));
    const std::vector<double> one_walk(exact.begin(), exact.begin() + walk_length);
    check_close(
        one_walk,
        sampled_steal_probability(r.places, true, r.core(core), r.core(1), walk_length, 20'000, 5),
        20'000);
  }
}

}  // namespace steal_probability_test
