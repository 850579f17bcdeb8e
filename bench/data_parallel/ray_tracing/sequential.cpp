// One row after the other.
#include "data_parallel/ray_tracing/scene.hpp"

void bench::run(arguments& args, result& out) {
  const world w = make_world(args);

  std::vector<picture> film;
  const std::int64_t start = now_ns();
  for (std::uint32_t frame = 0; frame < w.frames; ++frame) {
    film.push_back(blank(w, frame));
    for (row& r : film.back()) draw(w, r);
  }
  out.seconds = seconds_since(start);
  check_film(out, w, film);
}
