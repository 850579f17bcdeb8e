// oneTBB's parallel_invoke of both parts. With `--parallel_sort 1` its own sort, which has another
// way to divide.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/parallel_sort.h>

#include "data_parallel/quicksort_inplace/kernel.hpp"

namespace {

void quicksort(bench::value* all, std::size_t n, std::size_t cutoff) {
  if (n < cutoff) return bench::sort_few(all, n);
  const std::size_t k = bench::divide(all, n);
  tbb::parallel_invoke([=] { quicksort(all, k, cutoff); },
                       [=] { quicksort(all + k, n - k, cutoff); });
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t count = args.number("values", 10'000'000);
  const std::uint32_t cutoff = args.count("cutoff", default_cutoff);
  const bool whole = args.number("parallel_sort", 0, 0, 1) != 0;
  const std::size_t threads = args.count("threads", 2);

  values v = quicksort_input(count);
  const std::int64_t start = now_ns();
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    if (whole)
      tbb::parallel_sort(v.begin(), v.end());
    else
      quicksort(v.data(), v.size(), cutoff);
  }
  out.seconds = seconds_since(start);
  check_quicksort(out, v, count);
}
