// A thread for each core, and a counter of the rows that no thread has begun.
#include <atomic>
#include <thread>

#include "data_parallel/accelerator/matrix.hpp"

void bench::run(arguments& args, result& out) {
  const matrix m(args);
  const std::size_t threads = args.count("threads", 2);
  args.reject_unknown();
  std::vector<std::uint64_t> sums(m.rows);
  const std::int64_t start = now_ns();
  {
    std::atomic<std::uint64_t> next{0};
    std::vector<std::thread> all;
    for (std::size_t t = 0; t < threads; ++t)
      all.emplace_back([&] {
        for (;;) {
          // order: relaxed: only a number; the threads are joined before the sums are read
          const std::uint64_t i = next.fetch_add(1, std::memory_order_relaxed);
          if (i >= m.rows) return;
          row r = m.at(i);
          for (std::uint64_t& x : r) x = worked_on(x, m.steps);
          sums[i] = sum_of(r);
        }
      });
    for (std::thread& t : all) t.join();
  }
  out.seconds = seconds_since(start);
  check(out, m, sums);
}
