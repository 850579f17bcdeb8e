// Paper 002 on a simulated machine like the paper's: Matrix Search, where locality pays, and everybody to everybody, where it loses.
#include <garrick/testkit/machine/programs.hpp>

#include "common/curves.hpp"
#include "common/measure.hpp"
#include "common/simulated.hpp"

using namespace garrick::testkit::machine;

namespace {

/// Both policies from 4 to 64 workers, mean over the seeds; the relation of the two at each number of workers.
template <class Program>
std::vector<std::pair<std::uint32_t, double>> race(bench::figure& f, bench::result& result, const Program& program,
                                                   std::uint64_t seeds) {
  f.logarithmic_y();
  std::vector<std::pair<std::uint32_t, double>> gains;
  for (const std::uint32_t workers : {4U, 8U, 12U, 16U, 20U, 24U, 32U, 40U, 48U, 56U, 64U}) {
    double total[2] = {};
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      for (const int guided : {0, 1}) {
        const auto o =
            run(program, bench::on_machine(bench::opteron, workers, guided ? "locality_guided" : "work_stealing", seed));
        result.expect(o.error.c_str(), 0, o.error.empty() ? 0 : 1);
        result.items += o.messages;
        total[guided] += o.seconds / static_cast<double>(seeds);
      }
    }
    f.point("work_stealing", workers, total[0]);
    f.point("locality_guided", workers, total[1]);
    gains.push_back({workers, total[0] / total[1]});
  }
  return gains;
}

std::string in_words(const std::vector<std::pair<std::uint32_t, double>>& gains) {
  std::string text = "Run time with locality, relative to without:";
  for (const auto& [workers, gain] : gains)
    text += (text.back() == ':' ? " " : ", ") + bench::figure::number(100 / gain, 3) + " % with " + std::to_string(workers);
  return text + " workers.";
}

}  // namespace

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const auto searches = static_cast<std::uint32_t>(args.number("searches", 100));
  const auto pings = static_cast<std::uint32_t>(args.number("pings", 300));
  const std::uint64_t seeds = args.number("seeds", 3);
  args.reject_unknown();

  bench::result result;
  const std::int64_t start = bench::now_ns();
  bench::figure matrix("Matrix Search",
                       "Paper 002, figure 5: nearly the same up to 12 workers; beyond, the time with locality is up to 26.6 % "
                       "shorter, most from 28 on.",
                       "workers", "seconds");
  matrix.found(in_words(race(matrix, result, matrix_search{.searches = searches}, seeds)));
  bench::figure waiting("Matrix Search, where controllers wait until all matrices are built",
                        "Not in the paper. All searches of a controller are handed out at one place, so without locality they "
                        "begin far from their matrices.",
                        "workers", "seconds");
  waiting.found(in_words(race(waiting, result, matrix_search{.searches = searches, .build_first = true}, seeds)));
  bench::figure everybody("Everybody to everybody",
                          "Paper 002, figure 9 (Big): locality loses, since actors are kept from coming to their partners.",
                          "workers", "seconds");
  everybody.found(in_words(race(everybody, result, n_to_n{.pings = pings}, seeds)));
  result.seconds = bench::seconds_since(start);
  result.figures(bench::json_of({matrix, waiting, everybody}));
  return result.print();
}
