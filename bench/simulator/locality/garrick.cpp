// Paper 002 on a simulated machine like the paper's: Matrix Search, where locality pays, and
// messages from every actor to every other, where it loses.
#include "common/curves.hpp"
#include "common/measure.hpp"
#include "simulator/papers/programs.hpp"
#include "simulator/simulated.hpp"

using namespace bench::simulator;
using namespace garrick::machine;

namespace {

constexpr std::uint32_t no_rounds = 1'000'000'000;  // a quantum that no worker uses up

/// A line of a figure.
struct contender {
  const char* name;
  const char* policy;
  std::uint32_t quantum;
};
constexpr contender with = {"locality_guided", "locality_guided", 1024};
constexpr contender without = {"work_stealing", "work_stealing", 1024};
constexpr contender without_rounds = {"work_stealing, no rounds", "work_stealing", no_rounds};

/// Some contenders from 4 to 64 workers on as many cores, mean over the seeds; says how the first
/// does relative to each other one.
template <class Program>
void race(bench::figure& f, bench::result& result, const Program& program, std::uint64_t seeds,
          const std::vector<contender>& contenders) {
  f.logarithmic_y();
  std::vector<std::string> text;
  for (const contender& c : contenders)
    text.push_back("Run time with locality, relative to " + std::string(c.name) + ":");
  for (const std::uint32_t workers : {4U, 8U, 12U, 16U, 20U, 24U, 28U, 32U, 40U, 48U, 56U, 64U}) {
    std::vector<double> seconds;
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      seconds.push_back(0);
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        auto on = bench::on_machine(opteron(workers), workers, contenders[i].policy, seed);
        on.quantum = contenders[i].quantum;
        const auto o = run(program, std::move(on));
        bench::add(result, o);
        seconds[i] += o.seconds / static_cast<double>(seeds);
      }
      f.point(contenders[i].name, workers, seconds[i]);
      text[i] += (text[i].back() == ':' ? " " : ", ") +
                 bench::figure::number(100 * seconds[0] / seconds[i], 3) + " % with " +
                 std::to_string(workers);
    }
  }
  for (std::size_t i = 1; i < contenders.size(); ++i) f.found(text[i] + " workers.");
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint32_t searches = args.count("searches", 100);
  const std::uint32_t pings = args.count("pings", 300);
  const std::uint32_t seeds = args.count("seeds", 3);

  const std::int64_t start = now_ns();
  figure matrix("Matrix Search",
                "Paper 002, figure 5: nearly the same up to 12 workers; beyond, the time "
                "with locality is up to 26.6 % "
                "shorter, most from 28 on.",
                "workers", "seconds");
  race(matrix, out, matrix_search{.searches = searches}, seeds, {with, without, without_rounds});
  matrix.found(
      "No rounds: with a quantum that no worker uses up. In our fairness rounds controllers wait "
      "with several answers and then "
      "hand out searches far from their matrices; without "
      "rounds nearly all searches stay where they began, and less is left to gain.");
  figure waiting("Matrix Search, where controllers wait until all matrices are built",
                 "Not in the paper. All searches of a controller are handed out at one "
                 "place, so without locality they "
                 "begin far from their matrices.",
                 "workers", "seconds");
  race(waiting, out, matrix_search{.searches = searches, .build_first = true}, seeds,
       {with, without});
  figure everybody("Everybody to everybody",
                   "Paper 002, figure 9 (Big, 64 workers): locality loses, since actors are "
                   "kept from coming to their "
                   "partners.",
                   "workers", "seconds");
  race(everybody, out, n_to_n{.pings = pings}, seeds, {with, without});
  out.seconds = seconds_since(start);
  out.figures(json_of({matrix, waiting, everybody}));
}
