// Two actors and one message between them: the price of a message when there is nothing else to do.
#include "common/caf_system.hpp"

namespace {

using ping_atom = caf::atom_constant<caf::atom("ping")>;
using pong_atom = caf::atom_constant<caf::atom("pong")>;

caf::behavior ponger(caf::event_based_actor*) {
  return {
      [](ping_atom) { return pong_atom::value; },
  };
}

caf::behavior pinger(caf::event_based_actor* self, const caf::actor& other, std::uint64_t trips,
                     std::uint64_t* done) {
  self->send(other, ping_atom::value);
  return {
      [=](pong_atom) {
        if (++*done < trips) {
          self->send(other, ping_atom::value);
          return;
        }
        self->send_exit(other, caf::exit_reason::user_shutdown);
        self->quit();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t trips = args.number("trips", 1'000'000);

  std::uint64_t done = 0;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    system.spawn(pinger, system.spawn(ponger), trips, &done);
    system.await_all_actors_done();
  });
  out.items = 2 * trips;
  out.expect("round trips", trips, done);
}
