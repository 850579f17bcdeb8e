// Threads with this many rows each, and a barrier after each iteration.
#include <barrier>
#include <thread>

#include "data_parallel/stencil/heat.hpp"

void bench::run(arguments& args, result& out) {
  const heat job(args);
  const std::size_t threads = args.count("threads", 2);
  plate plates[2] = {job.first(), job.first()};
  std::barrier gate(static_cast<std::ptrdiff_t>(threads));
  const auto work = [&](std::size_t me) {
    const std::size_t first = job.height() * me / threads;
    const std::size_t end = job.height() * (me + 1) / threads;
    for (std::size_t i = 0; i < job.iterations(); ++i) {
      spread_rows(plates[i % 2], plates[1 - i % 2], first, end);
      gate.arrive_and_wait();
    }
  };
  const std::int64_t start = now_ns();
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work, i);
  work(0);
  for (std::thread& t : others) t.join();
  const double seconds = seconds_since(start);
  job.check(out, seconds, plates[job.iterations() % 2].cells.data());
}
