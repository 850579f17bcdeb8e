#include <garrick/machine/traits.hpp>
#include <garrick/sched/policies/comparison/polling.hpp>
#include <garrick/sched/policies/locality_guided.hpp>

#include <algorithm>
#include <deque>

#include "simulator/papers/steal_probability.hpp"

using namespace garrick;
using namespace garrick::machine;

namespace bench::simulator {

namespace {

/// Counts its draws: a thief draws once for each attempt.
class counting_random : public sched::xorshift {
 public:
  using xorshift::xorshift;
  static inline thread_local std::uint64_t draws = 0;
  std::uint32_t operator()() noexcept {
    ++draws;
    return xorshift::operator()();
  }
};

struct counting_traits : machine_traits {
  using random = counting_random;
};

using guided_policy = sched::locality_guided<counting_traits>;
using random_policy = sched::polling<sched::poll_names::aggressive, sched::poll_phase<100, 1, 0>,
                                     sched::poll_phase<500, 1, 0>,
                                     sched::poll_phase<sched::for_ever, 1, 0>, counting_traits>;

struct loot final : base::runnable {
  base::run_outcome run(std::uint32_t&) noexcept override { return base::run_outcome::released; }
};

/// The number of thefts that succeeded at each attempt; the last counts those that took longer.
template <class Policy>
std::vector<std::uint64_t> attempts_of(const sched::worker_places& places, std::uint32_t thief,
                                       std::uint32_t hot, std::uint32_t attempts,
                                       std::uint32_t samples, std::uint64_t seed) {
  Policy policy(sched::policy_options{.workers = places.size(),
                                      .quantum = 1024,
                                      .idle_spin_ns = 0,
                                      .seed = seed,
                                      .places = &places});
  std::vector<std::uint64_t> found(attempts + 1);
  std::deque<loot> loots(samples);
  for (loot& l : loots) {
    l.place.set({base::locality_hint::kind::settled, static_cast<std::uint16_t>(hot)});
    policy.internal_enqueue(policy.worker(hot), l);
    policy.expose(policy.worker(hot));  // out of the next slot, if it has one
    counting_random::draws = 0;
    if (base::runnable* const r = policy.dequeue(policy.worker(thief)))
      static_cast<void>(r->take());
    ++found[std::min<std::uint64_t>(counting_random::draws, attempts + 1) - 1];
  }
  return found;
}

}  // namespace

std::vector<double> random_steal_probability(std::uint32_t workers, std::uint32_t attempts) {
  std::vector<double> result;
  double missed = 1;
  for (std::uint32_t n = 0; n < attempts; ++n) {
    missed *= 1 - 1.0 / (workers - 1);
    result.push_back(1 - missed);
  }
  return result;
}

std::vector<double> guided_steal_probability(const sched::worker_places& places,
                                             std::uint32_t thief, std::uint32_t hot,
                                             std::uint32_t attempts) {
  std::vector<double> result;
  double missed = 1;
  const auto groups = places.groups(thief);
  const auto others = places.others(thief);
  for (const sched::worker_index& size : groups) {
    const auto members = others.first(size);
    const bool in_group = std::find(members.begin(), members.end(), hot) != members.end();
    for (std::uint32_t i = 0; (i < size || &size == &groups.back()) && result.size() < attempts;
         ++i) {
      if (in_group) missed *= 1 - 1.0 / size;
      result.push_back(1 - missed);
    }
  }
  return result;
}

std::vector<double> sampled_steal_probability(const sched::worker_places& places, bool guided,
                                              std::uint32_t thief, std::uint32_t hot,
                                              std::uint32_t attempts, std::uint32_t samples,
                                              std::uint64_t seed) {
  const auto found = guided
                         ? attempts_of<guided_policy>(places, thief, hot, attempts, samples, seed)
                         : attempts_of<random_policy>(places, thief, hot, attempts, samples, seed);
  std::vector<double> result;
  std::uint64_t sum = 0;
  for (std::uint32_t n = 0; n < attempts; ++n)
    result.push_back(static_cast<double>(sum += found[n]) / samples);
  return result;
}

}  // namespace bench::simulator
