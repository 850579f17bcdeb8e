// One crew after the other.
#include "data_parallel/annealing/netlist.hpp"

void bench::run(arguments& args, result& out) {
  const netlist n = make_netlist(args);

  places all = first_places(n);
  const std::int64_t start = now_ns();
  const std::uint32_t steps = anneal(n, all);
  out.seconds = seconds_since(start);
  check_places(out, n, all, steps);
}
