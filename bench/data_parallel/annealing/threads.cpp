// Each thread has its part of the crews; a barrier ends a step.
#include <barrier>
#include <thread>

#include "data_parallel/annealing/netlist.hpp"
#include "data_parallel/common/parts.hpp"

void bench::run(arguments& args, result& out) {
  const netlist n = make_netlist(args);
  const std::size_t threads = args.count("threads", 2);

  places all = first_places(n);
  annealing a(n);
  const std::int64_t start = now_ns();
  {
    std::vector<crew> crews = make_crews(n);
    bool goes_on = true;
    std::barrier end_of_step(static_cast<std::ptrdiff_t>(threads),
                             [&]() noexcept { goes_on = a.next_step(crews, all); });
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < threads; ++i) {
      workers.emplace_back([&, mine = part_of(crews.size(), i, threads)] {
        do {
          for (std::size_t c = mine.begin; c < mine.end; ++c) swap_some(n, all, a.now(), crews[c]);
          end_of_step.arrive_and_wait();
        } while (goes_on);
      });
    }
    for (std::thread& worker : workers) worker.join();
  }
  out.seconds = seconds_since(start);
  check_places(out, n, all, a.now().step);
}
