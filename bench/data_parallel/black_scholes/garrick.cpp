// A map, asked once for each round.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "data_parallel/black_scholes/pricing.hpp"

void bench::run(arguments& args, result& out) {
  const std::size_t options = args.count("options", 100'000);
  const std::size_t rounds = args.number("rounds", 100, 1, 255);

  std::vector<option> all = make_options(options);
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    const auto pricing = spawn(system, garrick::patterns::map([](option& o) { price(o); }));
    for (std::size_t round = 0; round < rounds; ++round)
      all = system.request(pricing, std::move(all)).get().value();
  });
  check_prices(out, all, options, rounds);
}
