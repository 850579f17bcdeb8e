// A parallel loop for each step. `--schedule static` or `dynamic`.
#include <omp.h>

#include "data_parallel/annealing/netlist.hpp"

void bench::run(arguments& args, result& out) {
  const netlist n = make_netlist(args);
  const int threads = static_cast<int>(args.count("threads", 2));
  const std::string schedule = args.text("schedule", "static");
  if (schedule != "static" && schedule != "dynamic")
    arguments::fail("--schedule is static or dynamic");
  if (schedule == "static")
    omp_set_schedule(omp_sched_static, 0);
  else
    omp_set_schedule(omp_sched_dynamic, 1);

  places all = first_places(n);
  annealing a(n);
  const std::int64_t start = now_ns();
  std::vector<crew> crews = make_crews(n);
  do {
#pragma omp parallel for schedule(runtime) num_threads(threads)
    for (std::size_t c = 0; c < crews.size(); ++c) swap_some(n, all, a.now(), crews[c]);
  } while (a.next_step(crews, all));
  out.seconds = seconds_since(start);
  check_places(out, n, all, a.now().step);
}
