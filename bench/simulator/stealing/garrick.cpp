// Paper 002, figures 1(b) and 2(b): the probability that a thief has found the one worker with
// work, against the attempts.
#include <garrick/machine/machines.hpp>

#include <cmath>

#include "common/curves.hpp"
#include "common/measure.hpp"
#include "simulator/papers/steal_probability.hpp"

using namespace bench::simulator;
using namespace garrick::machine;

namespace {

constexpr std::uint32_t attempts = 20;
constexpr std::uint32_t one_walk = 13;  // attempts of a guided thief before it visits all

/// Draws both curves; returns the largest difference.
double draw(bench::figure& f, const std::string& who, const std::vector<double>& exact,
            const std::vector<double>& sampled) {
  double worst = 0;
  for (std::size_t n = 0; n < exact.size(); ++n) {
    f.point(who + ", exact", static_cast<double>(n + 1), exact[n]);
    if (n >= sampled.size()) continue;
    f.point(who + ", policy", static_cast<double>(n + 1), sampled[n]);
    worst = std::max(worst, std::abs(exact[n] - sampled[n]));
  }
  return worst;
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint32_t samples = args.count("samples", 20'000);

  const std::int64_t start = now_ns();
  const garrick::sched::worker_places places(ring_of_paper_002(), 8,
                                             garrick::sched::neighbourhood::cache);
  const auto core = [&](std::int32_t number) {
    std::uint32_t w = 0;
    while (places.unit_of(w).os_index != number - 1) ++w;
    return w;
  };
  figure random("Probability of a successful steal, random victims",
                "Paper 002, figure 1(b): every core succeeds with one in seven at each attempt.",
                "attempts", "probability of success so far");
  double worst =
      draw(random, "any core", random_steal_probability(8, attempts),
           sampled_steal_probability(places, false, core(6), core(1), attempts, samples, 1));
  random.found("The polling policies draw their victims so; at most " + figure::number(worst, 2) +
               " off in " + std::to_string(samples) +
               " thefts. work_stealing visits all others once, from a random one on, and needs at "
               "most seven.");
  figure guided("Probability of a successful steal, near victims first",
                "Paper 002, figure 2(b): core 2 succeeds at once, cores 4 and 8 after one "
                "failed attempt with one in "
                "five, core 6 after six with one in seven.",
                "attempts", "probability of success so far");
  worst = 0;
  for (const std::int32_t number : {2, 4, 6})
    worst = std::max(worst, draw(guided, "core " + std::to_string(number),
                                 guided_steal_probability(places, core(number), core(1), attempts),
                                 sampled_steal_probability(places, true, core(number), core(1),
                                                           one_walk, samples, 2)));
  guided.found(
      "locality_guided walks so; at most " + figure::number(worst, 2) + " off in " +
      std::to_string(samples) +
      " thefts a core. After 13 attempts it visits every worker once before it sleeps, where "
      "the paper's goes on at random.");
  out.expect("policies as computed", 1, worst < 5 / std::sqrt(samples) ? 1 : 0);
  out.seconds = seconds_since(start);
  out.items = std::uint64_t{samples} * 4;
  out.figures(json_of({random, guided}));
}
