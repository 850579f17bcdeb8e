// Savina 03: a thread sends one message after the other to each of some actors; each message costs
// the receiver a sine.
#include "common/caf_system.hpp"
#include "common/savina.hpp"

namespace {

using work_atom = caf::atom_constant<caf::atom("work")>;

caf::behavior worker(caf::event_based_actor* self, std::uint64_t messages, std::uint64_t* worked) {
  std::uint64_t done = 0;
  return {
      [=](work_atom) mutable {
        if (bench::savina::fork_join_work() > 0) ++done;
        if (--messages != 0) return;
        *worked = done;
        self->quit();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t messages = args.number("messages", 10'000);
  const std::uint64_t actors = args.number("actors", 60);

  std::vector<std::uint64_t> worked(actors);
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    std::vector<caf::actor> workers;
    for (std::uint64_t& slot : worked) workers.push_back(system.spawn(worker, messages, &slot));
    for (std::uint64_t i = 0; i < messages; ++i) {
      for (const caf::actor& w : workers) caf::anon_send(w, work_atom::value);
    }
    system.await_all_actors_done();
  });
  out.items = messages * actors;
  for (const std::uint64_t count : worked) out.expect("messages of an actor", messages, count);
}
