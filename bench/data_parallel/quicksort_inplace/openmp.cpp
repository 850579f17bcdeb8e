// A task for one part; the other is gone on with.
#include <omp.h>

#include "data_parallel/quicksort_inplace/kernel.hpp"

namespace {

void quicksort(bench::value* all, std::size_t n, std::size_t cutoff) {
  if (n < cutoff) return bench::sort_few(all, n);
  const std::size_t k = bench::divide(all, n);
#pragma omp task
  quicksort(all, k, cutoff);
  quicksort(all + k, n - k, cutoff);
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t count = args.number("values", 10'000'000);
  const std::uint32_t cutoff = args.count("cutoff", default_cutoff);
  omp_set_num_threads(static_cast<int>(args.count("threads", 2)));

  values v = quicksort_input(count);
  const std::int64_t start = now_ns();
#pragma omp parallel
#pragma omp single
  quicksort(v.data(), v.size(), cutoff);
  out.seconds = seconds_since(start);
  check_quicksort(out, v, count);
}
