// A parallel loop for each frame. `--schedule static`, or `dynamic` with one row at a time.
#include <omp.h>

#include "data_parallel/ray_tracing/scene.hpp"

void bench::run(arguments& args, result& out) {
  const world w = make_world(args);
  const int threads = static_cast<int>(args.count("threads", 2));
  const std::string schedule = args.text("schedule", "dynamic");
  if (schedule != "static" && schedule != "dynamic")
    arguments::fail("--schedule is static or dynamic");
  if (schedule == "static")
    omp_set_schedule(omp_sched_static, 0);
  else
    omp_set_schedule(omp_sched_dynamic, 1);

  std::vector<picture> film;
  const std::int64_t start = now_ns();
  for (std::uint32_t frame = 0; frame < w.frames; ++frame) {
    film.push_back(blank(w, frame));
    picture& rows = film.back();
#pragma omp parallel for schedule(runtime) num_threads(threads)
    for (std::uint32_t y = 0; y < w.height; ++y) draw(w, rows[y]);
  }
  out.seconds = seconds_since(start);
  check_film(out, w, film);
}
