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

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const std::uint64_t actors = args.number("actors", 40'000);
  bench::caf_config config(args);
  args.reject_unknown();

  bench::result result;
  std::vector<std::uint64_t> worked(actors);
  const std::int64_t start = bench::now_ns();
  {
    caf::actor_system system(config);
    for (std::uint64_t& slot : worked)
      caf::anon_send(system.spawn<caf::lazy_init>(worker, &slot), work_atom::value);
    system.await_all_actors_done();
  }
  result.seconds = bench::seconds_since(start);
  result.items = actors;
  std::uint64_t once = 0;
  for (const std::uint64_t count : worked) once += count == 1 ? 1 : 0;
  result.expect("actors that worked once", actors, once);
  return result.print();
}
