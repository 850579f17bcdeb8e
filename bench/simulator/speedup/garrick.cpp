// Paper 001's four programs on a simulated machine like the paper's, from 1 to 64 workers.
#include "common/curves.hpp"
#include "common/measure.hpp"
#include "simulator/papers/programs.hpp"
#include "simulator/simulated.hpp"

using namespace bench::simulator;
using namespace garrick::machine;

namespace {

constexpr std::uint32_t steps[] = {1, 2, 4, 8, 16, 24, 32, 48, 64};

/// Seconds with each number of workers, mean over the seeds.
template <class Program>
std::vector<std::pair<std::uint32_t, double>> curve(bench::result& result, const Program& program,
                                                    std::uint32_t seeds) {
  std::vector<std::pair<std::uint32_t, double>> points;
  for (const std::uint32_t workers : steps) {
    points.push_back({workers, 0});
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const outcome o = run(program, bench::on_machine(opteron(), workers, "work_stealing", seed));
      bench::add(result, o);
      points.back().second += o.seconds / seeds;
    }
  }
  return points;
}

template <class Program>
void speedup(bench::figure& f, bench::result& result, const char* name, const Program& program) {
  const auto points = curve(result, program, 1);
  for (const auto& [workers, seconds] : points) f.point(name, workers, points[0].second / seconds);
  f.found(std::string(name) + ": " +
          bench::figure::number(points[0].second / points.back().second, 3) + " × with 64.");
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint32_t n = args.count("n", 19);
  const std::uint32_t messages = args.count("messages", 500);
  const std::uint32_t seeds = args.count("seeds", 6);  // many senders: meetings decide

  const std::int64_t start = now_ns();
  figure scaling("Speed-up",
                 "Paper 001, figures 4(a), 7 and 8: actor creation scales with the cores; "
                 "mixed operations gain 99 to 93 "
                 "% of the ideal at each doubling; Mandelbrot is near the ideal.",
                 "workers", "times faster than one worker");
  scaling.logarithmic_x();
  scaling.logarithmic_y();
  for (const std::uint32_t workers : steps) scaling.point("ideal", workers, workers);
  speedup(scaling, out, "actor creation", actor_creation{n});
  speedup(scaling, out, "mixed operations", mixed{});
  speedup(scaling, out, "Mandelbrot", mandelbrot::of(4000, 500, 2));
  scaling.found(
      "The 400 factorisations of the mixed operations are six or seven for each of 64 workers, "
      "so no more than 57 × can come of them; "
      "with so few actors, creation has a worker wait for others' "
      "subtrees.");
  figure many("Many senders, one receiver",
              "Paper 001, figure 5(a): the time grows with the cores, steeply at first and "
              "hardly beyond 32.",
              "workers", "ns for a message");
  const mailbox_n1 program{.messages = messages};
  const double all_messages = program.senders * (1.0 + messages);
  for (const auto& [workers, seconds] : curve(out, program, seeds))
    many.point("100 senders", workers, seconds * 1e9 / all_messages);
  many.found(
      "Senders above the mailbox's limit wait or run the receiver in place, so memory stays flat, "
      "which the paper's did not.");
  out.seconds = seconds_since(start);
  out.figures(json_of({scaling, many}));
}
