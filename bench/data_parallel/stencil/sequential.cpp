// One loop, two plates.
#include "data_parallel/stencil/heat.hpp"

void bench::run(arguments& args, result& out) {
  const heat job(args);
  plate now = job.first(), next = now;
  const std::int64_t start = now_ns();
  for (std::size_t i = 0; i < job.iterations(); ++i) {
    spread_rows(now, next, 0, job.height());
    std::swap(now, next);
  }
  const double seconds = seconds_since(start);
  job.check(out, seconds, now.cells.data());
}
