// A parallel_for for each frame. `--partitioner auto`, or `simple`, which cuts down to single rows.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include "data_parallel/ray_tracing/scene.hpp"

void bench::run(arguments& args, result& out) {
  const world w = make_world(args);
  const std::size_t threads = args.count("threads", 2);
  const std::string partitioner = args.text("partitioner", "auto");
  if (partitioner != "auto" && partitioner != "simple")
    arguments::fail("--partitioner is auto or simple");

  std::vector<picture> film;
  const std::int64_t start = now_ns();
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    const tbb::blocked_range<std::size_t> range(0, w.height);
    for (std::uint32_t frame = 0; frame < w.frames; ++frame) {
      film.push_back(blank(w, frame));
      const auto body = [&w, &rows = film.back()](const tbb::blocked_range<std::size_t>& some) {
        for (std::size_t y = some.begin(); y < some.end(); ++y) draw(w, rows[y]);
      };
      if (partitioner == "simple")
        tbb::parallel_for(range, body, tbb::simple_partitioner());
      else
        tbb::parallel_for(range, body);
    }
  }
  out.seconds = seconds_since(start);
  check_film(out, w, film);
}
