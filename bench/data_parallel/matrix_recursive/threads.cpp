// Threads take the next tile of the product from a shared counter.
#include <atomic>
#include <thread>

#include "data_parallel/matrix_recursive/kernel.hpp"

void bench::run(arguments& args, result& out) {
  const factors f = matrix_input(args.number("size", 1024));
  const std::size_t threads = args.count("threads", 2);
  tiles product = empty_product(f.side);
  const std::int64_t start = now_ns();
  {
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < threads; ++i) {
      workers.emplace_back([&] {
        for (std::size_t t = next++; t < product.size(); t = next++) multiply(product[t], f);
      });
    }
    for (std::thread& worker : workers) worker.join();
  }
  out.seconds = seconds_since(start);
  check_product(out, f, product);
}
