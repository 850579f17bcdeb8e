// Paper 000 on a simulated machine like the paper's: the mean latency of a message through a chain
// of actors under the four polling configurations, and ours.

#include <algorithm>
#include <string_view>

#include "common/curves.hpp"
#include "common/measure.hpp"
#include "simulator/papers/programs.hpp"
#include "simulator/simulated.hpp"

using namespace bench::simulator;
using namespace garrick::machine;

namespace {

constexpr const char* policies[] = {"polling_default", "polling_custom", "polling_aggressive",
                                    "polling_new", "work_stealing"};

constexpr double shortest_seconds = 0.1;

struct shared {
  bench::result& result;
  std::uint32_t workers;
  std::uint32_t messages;
};

/// Its workers look for work without a pause, so rarer messages find them as these do; and at ten a
/// second a simulation would be busy with their looking for hours.
constexpr const char* never_rests = "polling_aggressive";
constexpr double least_rate_of_it = 1'000;

pipeline_outcome measure(const shared& s, const char* policy, std::uint32_t actors, double rate) {
  if (policy == std::string_view(never_rests)) rate = std::max(rate, least_rate_of_it);
  // At high rates for long enough that the workers have found their phase.
  const auto messages = std::max(s.messages, static_cast<std::uint32_t>(rate * shortest_seconds));
  const std::uint32_t first = messages / 5 + 1;
  auto o = run(
      pipeline{.actors = actors, .rate = rate, .messages = messages + first, .not_counted = first},
      bench::on_machine(xeon(), s.workers, policy));
  bench::add(s.result, o);
  return o;
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const shared s{out, args.count("workers", 4), args.count("messages", 2)};

  const std::int64_t start = now_ns();
  figure slow("Latency at 10 messages a second",
              "Paper 000, figure 6: the default is two orders of magnitude above the "
              "others; aggressive is lowest and "
              "keeps all processors busy; new is close to it with far less.",
              "actors", "µs");
  figure rates("Latency of 12 actors against the rate",
               "Paper 000, figures 7 and 9: at high rates the configurations come together; "
               "new and custom are alike, and "
               "below the default.",
               "messages a second", "µs");
  slow.logarithmic_y();
  rates.logarithmic_y();
  rates.logarithmic_x();
  std::string used;
  for (const char* policy : policies) {
    for (const std::uint32_t actors : {8U, 12U, 16U, 24U}) {
      const auto o = measure(s, policy, actors, 10);
      slow.point(policy, actors, o.mean_us());
      if (actors != 12) continue;
      if (policy != std::string_view(never_rests)) rates.point(policy, 10, o.mean_us());
      used += (used.empty() ? "" : ", ") + std::string(policy) + " " +
              figure::number(o.mean_us(), 4) + " µs with " +
              figure::number(100 * o.busy_seconds / o.seconds, 4) + " %";
    }
    for (const double rate : {1'000.0, 10'000.0, 100'000.0, 400'000.0})
      rates.point(policy, rate, measure(s, policy, 12, rate).mean_us());
  }
  slow.found("With 12 actors on " + std::to_string(s.workers) +
             " workers (the paper has 24), latency and use of a core: " + used + ". " +
             never_rests +
             " is simulated at 1000 messages a second instead of 10, which is the same for workers "
             "that never rest.");
  rates.found(
      "polling_custom sleeps 1 µs, which Linux makes about 56 µs; a worker in the middle of that "
      "is woken by no message.");
  out.seconds = seconds_since(start);
  out.figures(json_of({slow, rates}));
}
