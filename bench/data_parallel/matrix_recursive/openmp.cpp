// A task for each quarter. The factors are handed on by pointer: each task would copy the object
// behind a reference.
#include <omp.h>

#include "data_parallel/matrix_recursive/kernel.hpp"

namespace {

void multiply_part(bench::tile* c, std::size_t n, const bench::factors* f) {
  if (n == 1) return bench::multiply(*c, *f);
  for (std::size_t quarter = 0; quarter < 4; ++quarter) {
#pragma omp task
    multiply_part(c + quarter * (n / 4), n / 4, f);
  }
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const factors f = matrix_input(args.number("size", 1024));
  omp_set_num_threads(static_cast<int>(args.count("threads", 2)));
  tiles product = empty_product(f.side);
  const std::int64_t start = now_ns();
#pragma omp parallel
#pragma omp single
  multiply_part(product.data(), product.size(), &f);
  out.seconds = seconds_since(start);
  check_product(out, f, product);
}
