// A map over the rows of a frame, one at a time.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "data_parallel/ray_tracing/scene.hpp"

void bench::run(arguments& args, result& out) {
  const auto w = std::make_shared<const world>(make_world(args));

  std::vector<picture> film;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    const auto draw_row = [](const std::shared_ptr<const world>& of, row& r) { draw(*of, r); };
    const auto drawing =
        spawn(system, garrick::patterns::map(garrick::patterns::bind(draw_row, w)).dynamic(1));
    for (std::uint32_t frame = 0; frame < w->frames; ++frame)
      film.push_back(system.request(drawing, blank(*w, frame)).get().value());
  });
  check_film(out, *w, film);
}
