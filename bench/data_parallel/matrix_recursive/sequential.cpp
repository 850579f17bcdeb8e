// The recursion by one thread.
#include "data_parallel/matrix_recursive/kernel.hpp"

namespace {

void multiply_part(bench::tile* c, std::size_t n, const bench::factors& f) {
  if (n == 1) return bench::multiply(*c, f);
  for (std::size_t quarter = 0; quarter < 4; ++quarter)
    multiply_part(c + quarter * (n / 4), n / 4, f);
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const factors f = matrix_input(args.number("size", 1024));
  tiles product = empty_product(f.side);
  const std::int64_t start = now_ns();
  multiply_part(product.data(), product.size(), f);
  out.seconds = seconds_since(start);
  check_product(out, f, product);
}
