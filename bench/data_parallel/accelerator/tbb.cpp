// One parallel_for over the elements of each row.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include "data_parallel/accelerator/matrix.hpp"

void bench::run(arguments& args, result& out) {
  const matrix m(args);
  const std::size_t threads = args.count("threads", 2);
  args.reject_unknown();
  std::vector<std::uint64_t> sums;
  const std::int64_t start = now_ns();
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    for (std::uint64_t i = 0; i < m.rows; ++i) {
      row r = m.at(i);
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, r.size()), [&](const auto& part) {
        for (std::size_t k = part.begin(); k != part.end(); ++k) r[k] = worked_on(r[k], m.steps);
      });
      sums.push_back(sum_of(r));
    }
  }
  out.seconds = seconds_since(start);
  check(out, m, sums);
}
