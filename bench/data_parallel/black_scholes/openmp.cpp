// A parallel loop for each round.
#include "data_parallel/black_scholes/pricing.hpp"

void bench::run(arguments& args, result& out) {
  const std::size_t options = args.count("options", 100'000);
  const std::size_t rounds = args.number("rounds", 100, 1, 255);
  const int threads = static_cast<int>(args.count("threads", 2));

  std::vector<option> all = make_options(options);
  const std::int64_t start = now_ns();
  for (std::size_t round = 0; round < rounds; ++round) {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::size_t i = 0; i < options; ++i) price(all[i]);
  }
  out.seconds = seconds_since(start);
  check_prices(out, all, options, rounds);
}
