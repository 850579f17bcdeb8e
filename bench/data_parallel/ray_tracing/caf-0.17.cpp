// A master hands out the rows of a frame one by one, to whichever worker has sent one back.
// `--workers n`: this many.
#include "common/caf_system.hpp"
#include "data_parallel/ray_tracing/scene.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::row)

namespace {

using bench::row;
using bench::world;

caf::behavior worker(caf::event_based_actor*, const world* w) {
  return {
      [=](row& r) {
        bench::draw(*w, r);
        return std::move(r);
      },
  };
}

struct master_state {
  std::uint32_t next = 0;  // the row that is handed out next
  std::uint32_t left = 0;  // rows that are not drawn
};
using master_actor = caf::stateful_actor<master_state>;

void hand_out(master_actor* self, const caf::actor& worker, std::vector<bench::picture>* film) {
  self->send(worker, std::move(film->back()[self->state.next++]));
}

void begin(master_actor* self, const world* w, const std::vector<caf::actor>& workers,
           std::vector<bench::picture>* film) {
  film->push_back(bench::blank(*w, static_cast<std::uint32_t>(film->size())));
  self->state.next = 0;
  self->state.left = w->height;
  for (std::size_t i = 0; i < workers.size() && self->state.next != w->height; ++i)
    hand_out(self, workers[i], film);
}

caf::behavior master(master_actor* self, const world* w, const std::vector<caf::actor>& workers,
                     std::vector<bench::picture>* film) {
  begin(self, w, workers, film);
  return {
      [=](row& r) {
        const std::uint32_t y = r.y;
        film->back()[y] = std::move(r);
        if (self->state.next != w->height)
          hand_out(self, caf::actor_cast<caf::actor>(self->current_sender()), film);
        if (--self->state.left != 0) return;
        if (film->size() != w->frames) return begin(self, w, workers, film);
        for (const caf::actor& worker : workers)
          self->send_exit(worker, caf::exit_reason::user_shutdown);
        self->quit();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const world w = make_world(args);
  const std::size_t workers = args.count("workers", 2);

  std::vector<picture> film;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    std::vector<caf::actor> spawned;
    for (std::size_t i = 0; i < workers; ++i) spawned.push_back(system.spawn(worker, &w));
    system.spawn(master, &w, spawned, &film);
    system.await_all_actors_done();
  });
  check_film(out, w, film);
}
