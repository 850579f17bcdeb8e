// The latency pipeline on machines whose processors are too few: the generator spins on one of as
// many processors as there are workers. Drawn against the rate and the workers, for the default and
// the polling policies, beside the same with a processor of its own for the generator.

#include <cstdint>
#include <string>

#include "common/curves.hpp"
#include "common/measure.hpp"
#include "simulator/papers/programs.hpp"
#include "simulator/simulated.hpp"

using namespace bench::simulator;
using namespace garrick::machine;

namespace {

constexpr const char* ours = "work_stealing";
constexpr const char* policies[] = {ours, "polling_default", "polling_custom", "polling_aggressive",
                                    "polling_new"};
constexpr std::uint32_t actors = 12;

struct shared {
  bench::result& result;
  std::uint32_t ms;
  std::uint32_t seeds;
};

/// Of the mean, of p99 and of p99.9, the means over the seeds.
struct latency {
  double mean_us = 0, p99_us = 0, p999_us = 0;
};

struct shape {
  std::string policy;
  std::uint32_t processors;
  std::uint32_t workers;
  double rate;
  bool apart = false;  ///< the generator has a processor of its own
};

latency measure(const shared& s, const shape& at) {
  latency sum;
  for (std::uint32_t seed = 1; seed <= s.seeds; ++seed) {
    pipeline program = shared_pipeline(actors, at.rate, s.ms);
    program.generator_apart = at.apart;
    const auto o =
        run(program, bench::on_shared_machine(at.processors, at.workers, at.policy, seed));
    bench::add(s.result, o);
    sum.mean_us += o.mean_us() / s.seeds;
    sum.p99_us += o.percentile_us(0.99) / s.seeds;
    sum.p999_us += o.percentile_us(0.999) / s.seeds;
  }
  return sum;
}

std::string in_words(const std::string& what, const latency& l) {
  return what + " " + bench::figure::number(l.mean_us, 3) + " µs (p99.9 " +
         bench::figure::number(l.p999_us, 3) + ")";
}

/// Two processors, of which the generator holds one.
void against_rate(const shared& s, bench::figure& mean, bench::figure& tail) {
  for (const double rate : {10'000.0, 50'000.0, 100'000.0, 200'000.0, 400'000.0}) {
    const auto draw = [&](const std::string& line, const shape& at) {
      const latency l = measure(s, at);
      mean.point(line, rate, l.mean_us);
      tail.point(line, rate, l.p99_us);
      return l;
    };
    for (const char* policy : policies) {
      const latency two = draw(policy, {policy, 2, 2, rate});
      if (policy != ours || rate < 100'000) continue;
      const latency one = draw("work_stealing, one worker", {policy, 2, 1, rate});
      const latency apart = draw("work_stealing, generator apart", {policy, 2, 2, rate, true});
      mean.found("At " + bench::figure::number(rate) +
                 " a second: " + in_words("two workers", two) + ", " + in_words("one", one) + ", " +
                 in_words("two and a processor for the generator", apart) + ".");
    }
  }
}

/// As many processors as workers.
void against_workers(const shared& s, bench::figure& mean, bench::figure& tail) {
  for (const std::uint32_t workers : {2U, 4U, 8U, 16U, 32U, 64U})
    for (const char* policy : policies) {
      // 64 workers that never rest are simulated for hours
      if (workers > 8 && policy == std::string("polling_aggressive")) continue;
      for (const bool apart : {false, true}) {
        const latency l = measure(s, {policy, workers, workers, 400'000, apart});
        const std::string line = policy + std::string(apart ? ", generator apart" : "");
        mean.point(line, workers, l.mean_us);
        tail.point(line, workers, l.p99_us);
      }
    }
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const shared s{out, args.count("ms", 50), args.count("seeds", 2)};
  const std::int64_t start = now_ns();
  const std::string held = "The generator spins and holds one of the processors.";
  figure rates("Two workers on two processors: mean latency against the rate", held,
               "messages a second", "µs");
  figure rates_tail("Two workers on two processors: p99 against the rate", held,
                    "messages a second", "µs");
  figure sizes("As many processors as workers, 400 000 messages a second: mean latency", held,
               "workers", "µs");
  figure sizes_tail("As many processors as workers, 400 000 messages a second: p99", held,
                    "workers", "µs");
  for (figure* f : {&rates, &rates_tail, &sizes, &sizes_tail}) {
    f->logarithmic_x();
    f->logarithmic_y();
  }
  against_rate(s, rates, rates_tail);
  against_workers(s, sizes, sizes_tail);
  out.seconds = seconds_since(start);
  out.figures(json_of({rates, rates_tail, sizes, sizes_tail}));
}
