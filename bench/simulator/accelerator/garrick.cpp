// Paper 003's accelerator on a simulated machine, from 1 to 64 workers.
#include "common/curves.hpp"
#include "common/measure.hpp"
#include "simulator/papers/programs.hpp"
#include "simulator/simulated.hpp"

using namespace bench::simulator;
using namespace garrick::machine;

namespace {

constexpr std::uint32_t steps[] = {1, 2, 4, 8, 16, 32, 48, 64};
constexpr double thesis_rate = 1000;
constexpr double message_seconds = 5e-3;  // of work, with 5000 elements of 1 µs

struct line_of {
  offloading how;
  const char* name;
};
constexpr line_of all_lines[] = {{offloading::none, "by themselves"},
                                 {offloading::own_maps, "a map each"},
                                 {offloading::accelerator, "one accelerator"}};

/// Mean latency of a message, in microseconds.
double latency(bench::result& out, heavy_chains program, std::uint32_t workers) {
  const auto o = run(program, bench::on_machine(opteron(), workers, "work_stealing"));
  bench::add(out, o);
  return o.mean_us();
}

/// Thesis, figure 28: the rate is fixed, so there are enough workers for it from 8 on.
bench::figure fixed_rate(bench::result& out, std::uint32_t messages) {
  bench::figure f(
      "Latency of 100 chains of 8, 1000 messages a second",
      "Paper 003, figure 28, on 64 cores: heavy actors that compute by themselves 7 ms, "
      "with an accelerator of 8 to 48 workers less, 0.8 ms with cores of its own.",
      "workers", "µs, mean");
  f.logarithmic_x();
  f.logarithmic_y();
  double at_64[3] = {};
  for (const line_of& l : all_lines)
    for (const std::uint32_t workers : steps) {
      if (workers < 8) continue;
      const double us =
          latency(out, {.rate = thesis_rate, .messages = messages, .how = l.how}, workers);
      f.point(l.name, workers, us);
      at_64[static_cast<std::size_t>(l.how)] = us;
    }
  const double alone = at_64[0];
  const double shared = at_64[2];
  out.detail("latency_us_at_64", shared);
  out.detail("accelerator_percent_of_alone_at_64", 100 * shared / alone);
  f.found("With 64 workers " + bench::figure::number(alone / 1000, 3) + " ms and " +
          bench::figure::number(shared / 1000, 3) +
          " ms: " + bench::figure::number(alone / shared, 3) + " ×, the thesis' 8.8 ×.");
  return f;
}

/// The rate grows with the workers.
bench::figure shares(bench::result& out, std::uint32_t messages) {
  bench::figure f("Latency of 100 chains of 8 at 25, 50 and 75 % of the workers' time",
                  "Paper 003 has one rate, which is 8 % of its 64 cores.", "workers", "µs, mean");
  f.logarithmic_x();
  f.logarithmic_y();
  for (const double share : {0.25, 0.5, 0.75})
    for (const line_of& l : all_lines) {
      const std::string name =
          std::string(l.name) + ", " + bench::figure::number(100 * share, 2) + " %";
      for (const std::uint32_t workers : steps)
        f.point(
            name, workers,
            latency(out,
                    {.rate = share * workers / message_seconds, .messages = messages, .how = l.how},
                    workers));
    }
  f.found("It gains from two workers on, nearly as many times as there are workers up to 8.");
  return f;
}

/// Returns the gain by the accelerator against the work for a message.
bench::figure crossover(bench::result& out, std::uint32_t messages) {
  bench::figure f("Gain by the work for a message, 1000 messages a second",
                  "Paper 003 has 5 ms of work for a message.", "µs of work for a message",
                  "times the latency of actors that compute by themselves");
  f.logarithmic_x();
  f.logarithmic_y();
  for (const std::uint32_t workers : {2U, 8U, 64U}) {
    std::uint32_t last_loss = 0;
    for (const std::uint32_t us : {1U, 2U, 5U, 10U, 20U, 30U, 50U, 100U, 200U, 500U, 1000U}) {
      heavy_chains program{.rate = thesis_rate, .messages = messages};
      program.work.elements = us;
      const double alone = latency(out, program, workers);
      program.how = offloading::accelerator;
      const double gain = alone / latency(out, program, workers);
      if (gain <= 1) last_loss = us;
      f.point(std::to_string(workers) + " workers", us, gain);
    }
    f.found(std::to_string(workers) + " workers: it gains with more than " +
            std::to_string(last_loss) + " µs.");
  }
  return f;
}

bench::figure matrix(bench::result& out, std::uint32_t columns) {
  bench::figure f("Speed-up of a matrix of 100 rows, 200 µs for an element",
                  "Paper 003, figure 25: about 50 with 63 map workers of 64 threads.", "workers",
                  "times faster than one worker");
  f.logarithmic_x();
  f.logarithmic_y();
  double one = 0;
  for (const std::uint32_t workers : steps) {
    matrix_rows program;
    program.work.elements = columns;
    const auto o = run(program, bench::on_machine(opteron(), workers, "work_stealing"));
    bench::add(out, o);
    if (workers == 1) one = o.seconds;
    f.point("ideal", workers, workers);
    f.point("one accelerator", workers, one / o.seconds);
    if (workers == 64) f.found(bench::figure::number(one / o.seconds, 3) + " × with 64.");
  }
  return f;
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const auto messages = static_cast<std::uint32_t>(args.number("messages", 400, 101, 1'000'000));
  const std::uint32_t columns = args.count("columns", 1000);
  args.reject_unknown();
  const std::int64_t start = now_ns();
  const std::vector<figure> all{fixed_rate(out, messages), shares(out, messages),
                                crossover(out, messages), matrix(out, columns)};
  out.seconds = seconds_since(start);
  out.figures(json_of(all));
}
