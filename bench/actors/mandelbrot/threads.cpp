// Baseline without actors: threads take the next row from a shared counter.
#include <atomic>
#include <thread>

#include "actors/mandelbrot/kernel.hpp"
#include "common/measure.hpp"

void bench::run(arguments& args, result& out) {
  const picture p{static_cast<std::uint32_t>(args.number("size", 2000)),
                  static_cast<std::uint32_t>(args.number("limit", 500))};
  const std::uint64_t expected = args.number("hash", 0);
  const std::uint64_t threads = args.number("threads", std::thread::hardware_concurrency());

  std::vector<row_bits> rows(p.size);
  const std::int64_t start = now_ns();
  {
    std::atomic<std::uint32_t> next{0};
    std::vector<std::thread> workers;
    for (std::uint64_t i = 0; i < threads; ++i) {
      workers.emplace_back([&] {
        for (std::uint32_t y = next++; y < p.size; y = next++) rows[y] = mandelbrot_row(p, y);
      });
    }
    for (std::thread& worker : workers) worker.join();
  }
  out.seconds = seconds_since(start);
  out.items = p.size;
  out.expect("hash", expected, hash_rows(rows));
}
