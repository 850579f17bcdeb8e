// A parallel loop.
#include <omp.h>

#include "data_parallel/common/increment.hpp"

void bench::run(arguments& args, result& out) {
  rounds all(args);
  numbers v = all.input();
  omp_set_num_threads(static_cast<int>(args.count("threads", 2)));
  all.measure([&] {
    const std::size_t n = v.size();
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) v[i] = changed(v[i]);
  });
  all.check(out, v);
}
