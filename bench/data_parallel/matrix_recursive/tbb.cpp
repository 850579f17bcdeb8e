// oneTBB's parallel_invoke of the quarters.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>

#include "data_parallel/matrix_recursive/kernel.hpp"

namespace {

void multiply_part(bench::tile* c, std::size_t n, const bench::factors& f) {
  if (n == 1) return bench::multiply(*c, f);
  const auto quarter = [=, &f](std::size_t i) {
    return [=, &f] { multiply_part(c + i * (n / 4), n / 4, f); };
  };
  tbb::parallel_invoke(quarter(0), quarter(1), quarter(2), quarter(3));
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const factors f = matrix_input(args.number("size", 1024));
  const std::size_t threads = args.count("threads", 2);
  tiles product = empty_product(f.side);
  const std::int64_t start = now_ns();
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    multiply_part(product.data(), product.size(), f);
  }
  out.seconds = seconds_since(start);
  check_product(out, f, product);
}
