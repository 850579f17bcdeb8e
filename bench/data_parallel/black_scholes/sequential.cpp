// One loop in another.
#include "data_parallel/black_scholes/pricing.hpp"

void bench::run(arguments& args, result& out) {
  const std::size_t options = args.count("options", 100'000);
  const std::size_t rounds = args.number("rounds", 100, 1, 255);

  std::vector<option> all = make_options(options);
  const std::int64_t start = now_ns();
  for (std::size_t i = 0; i < rounds; ++i)
    for (option& o : all) price(o);
  out.seconds = seconds_since(start);
  check_prices(out, all, options, rounds);
}
