// A stencil on a grid, which is moved to it and back.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "data_parallel/stencil/heat.hpp"

void bench::run(arguments& args, result& out) {
  using namespace garrick::patterns;
  const heat job(args);
  grid<float> cells(job.width(), job.height());
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = first_cell(i);
  double seconds = 0;
  run_system(args, [&](garrick::actor_system& system) {
    const auto spread = [](const grid_neighbourhood<float>& n) {
      return cell(n(0, 0), n(-1, 0), n(+1, 0), n(0, -1), n(0, +1));
    };
    const auto steps = spawn(system, stencil(spread, 1, job.iterations()));
    const std::int64_t start = now_ns();
    cells = system.request(steps, std::move(cells)).get().value();
    seconds = seconds_since(start);
  });
  job.check(out, seconds, cells.data());
}
