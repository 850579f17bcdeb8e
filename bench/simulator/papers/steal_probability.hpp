// The number of attempts until a thief finds the one worker that has work: paper 002, figures 1(b)
// and 2(b), as the exact probability and as the frequency with which the shipped policies' code
// does it.
//
// Thread safety: pure functions.
#pragma once

#include <garrick/sched/places/worker_places.hpp>

#include <cstdint>
#include <vector>

namespace bench::simulator {

/// Element n − 1: the probability that one of the first n attempts meets `hot`, if each asks a
/// random other worker (figure 1): 1 − (1 − 1/(w − 1))^n.
[[nodiscard]] std::vector<double> random_steal_probability(std::uint32_t workers,
                                                           std::uint32_t attempts);

/// The same if the thief asks its groups in turn, each as often as it has members, and then the
/// last for ever (figure 2): in group g an attempt succeeds with 1/|g| if `hot` is in g, else
/// never.
[[nodiscard]] std::vector<double> guided_steal_probability(
    const garrick::sched::worker_places& places, std::uint32_t thief, std::uint32_t hot,
    std::uint32_t attempts);

/// The same as observed: the shipped `polling` (random victims) or, with `guided`,
/// `locality_guided` policy steals `samples` times for `thief` while only `hot` has work. After its
/// walk, which has as many attempts as all groups together have members, `locality_guided` visits
/// every worker once and surely succeeds; that is not counted.
[[nodiscard]] std::vector<double> sampled_steal_probability(
    const garrick::sched::worker_places& places, bool guided, std::uint32_t thief,
    std::uint32_t hot, std::uint32_t attempts, std::uint32_t samples, std::uint64_t seed);

}  // namespace bench::simulator
