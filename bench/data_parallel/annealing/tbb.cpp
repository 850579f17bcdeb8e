// A parallel_for for each step. `--partitioner auto` or `static`.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include "data_parallel/annealing/netlist.hpp"

void bench::run(arguments& args, result& out) {
  const netlist n = make_netlist(args);
  const std::size_t threads = args.count("threads", 2);
  const std::string partitioner = args.text("partitioner", "auto");
  if (partitioner != "auto" && partitioner != "static")
    arguments::fail("--partitioner is auto or static");

  places all = first_places(n);
  annealing a(n);
  const std::int64_t start = now_ns();
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    std::vector<crew> crews = make_crews(n);
    const tbb::blocked_range<std::size_t> range(0, crews.size());
    const auto body = [&](const tbb::blocked_range<std::size_t>& some) {
      for (std::size_t c = some.begin(); c < some.end(); ++c) swap_some(n, all, a.now(), crews[c]);
    };
    do {
      if (partitioner == "static")
        tbb::parallel_for(range, body, tbb::static_partitioner());
      else
        tbb::parallel_for(range, body);
    } while (a.next_step(crews, all));
  }
  out.seconds = seconds_since(start);
  check_places(out, n, all, a.now().step);
}
