// Each thread has its part of the options; a barrier ends a round.
#include <barrier>
#include <thread>

#include "data_parallel/black_scholes/pricing.hpp"
#include "data_parallel/common/parts.hpp"

void bench::run(arguments& args, result& out) {
  const std::size_t options = args.count("options", 100'000);
  const std::size_t rounds = args.number("rounds", 100, 1, 255);
  const std::size_t threads = args.count("threads", 2);

  std::vector<option> all = make_options(options);
  const std::int64_t start = now_ns();
  {
    std::barrier end_of_round(static_cast<std::ptrdiff_t>(threads));
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < threads; ++i) {
      workers.emplace_back([&, mine = part_of(options, i, threads)] {
        for (std::size_t round = 0; round < rounds; ++round) {
          for (std::size_t k = mine.begin; k < mine.end; ++k) price(all[k]);
          end_of_round.arrive_and_wait();
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
  }
  out.seconds = seconds_since(start);
  check_prices(out, all, options, rounds);
}
