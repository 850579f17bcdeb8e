// A parallel_for for each round. `--partitioner auto`, `static` or `affinity`, which remembers the
// thread of each part in the last round.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include "data_parallel/black_scholes/pricing.hpp"

void bench::run(arguments& args, result& out) {
  const std::size_t options = args.count("options", 100'000);
  const std::size_t rounds = args.number("rounds", 100, 1, 255);
  const std::size_t threads = args.count("threads", 2);
  const std::string partitioner = args.text("partitioner", "auto");
  if (partitioner != "auto" && partitioner != "static" && partitioner != "affinity")
    arguments::fail("--partitioner is auto, static or affinity");

  std::vector<option> all = make_options(options);
  const std::int64_t start = now_ns();
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    const tbb::blocked_range<std::size_t> range(0, options);
    const auto body = [&](const tbb::blocked_range<std::size_t>& some) {
      for (std::size_t i = some.begin(); i < some.end(); ++i) price(all[i]);
    };
    tbb::affinity_partitioner remembered;
    for (std::size_t round = 0; round < rounds; ++round) {
      if (partitioner == "static")
        tbb::parallel_for(range, body, tbb::static_partitioner());
      else if (partitioner == "affinity")
        tbb::parallel_for(range, body, remembered);
      else
        tbb::parallel_for(range, body);
    }
  }
  out.seconds = seconds_since(start);
  check_prices(out, all, options, rounds);
}
