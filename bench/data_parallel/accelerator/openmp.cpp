// One parallel loop over the elements of each row.
#include "data_parallel/accelerator/matrix.hpp"

void bench::run(arguments& args, result& out) {
  const matrix m(args);
  const auto threads = static_cast<int>(args.count("threads", 2));
  args.reject_unknown();
  std::vector<std::uint64_t> sums;
  const std::int64_t start = now_ns();
  for (std::uint64_t i = 0; i < m.rows; ++i) {
    row r = m.at(i);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::size_t k = 0; k < r.size(); ++k) r[k] = worked_on(r[k], m.steps);
    sums.push_back(sum_of(r));
  }
  out.seconds = seconds_since(start);
  check(out, m, sums);
}
