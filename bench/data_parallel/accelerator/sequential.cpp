// All elements in one loop.
#include "data_parallel/accelerator/matrix.hpp"

void bench::run(arguments& args, result& out) {
  const matrix m(args);
  args.reject_unknown();
  std::vector<std::uint64_t> sums;
  const std::int64_t start = now_ns();
  for (std::uint64_t i = 0; i < m.rows; ++i) {
    row r = m.at(i);
    for (std::uint64_t& x : r) x = worked_on(x, m.steps);
    sums.push_back(sum_of(r));
  }
  out.seconds = seconds_since(start);
  check(out, m, sums);
}
