// Savina 04: a thread spawns actors, each of which takes one message, computes a sine and ends.
#include "common/caf_system.hpp"
#include "common/savina.hpp"

namespace {

using work_atom = caf::atom_constant<caf::atom("work")>;

caf::behavior worker(caf::event_based_actor* self, std::uint64_t* worked) {
  return {
      [=](work_atom) {
        if (bench::savina::fork_join_work() > 0) ++*worked;
        self->quit();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t actors = args.number("actors", 40'000);

  std::vector<std::uint64_t> worked(actors);
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    for (std::uint64_t& slot : worked)
      caf::anon_send(system.spawn<caf::lazy_init>(worker, &slot), work_atom::value);
    system.await_all_actors_done();
  });
  out.items = actors;
  std::uint64_t once = 0;
  for (const std::uint64_t count : worked) once += count == 1 ? 1 : 0;
  out.expect("actors that worked once", actors, once);
}
