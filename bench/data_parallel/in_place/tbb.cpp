// oneTBB's parallel_for over blocked ranges, as it cuts them by itself.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include "data_parallel/common/increment.hpp"

void bench::run(arguments& args, result& out) {
  rounds all(args);
  numbers v = all.input();
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  args.count("threads", 2));
  all.measure([&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, v.size()),
                      [&](const tbb::blocked_range<std::size_t>& some) {
                        change(v.data() + some.begin(), some.size());
                      });
  });
  all.check(out, v);
}
