// Savina 05: a token counts down around a ring of actors; then an exit token goes round and ends
// them.
#include "common/caf_system.hpp"

namespace {

using connect_atom = caf::atom_constant<caf::atom("connect")>;
using token_atom = caf::atom_constant<caf::atom("token")>;
using leave_atom = caf::atom_constant<caf::atom("leave")>;

// Only the holder of the one token writes here.
struct tally {
  std::uint64_t hops = 0;
  std::uint64_t left = 0;
};

struct member_state {
  caf::actor next;
};

caf::behavior ring_member(caf::stateful_actor<member_state>* self, std::uint64_t actors,
                          tally* seen) {
  return {
      [=](connect_atom, const caf::actor& next) { self->state.next = next; },
      [=](token_atom, std::uint64_t left) {
        if (left != 0) {
          ++seen->hops;
          self->send(self->state.next, token_atom::value, left - 1);
        } else {
          self->send(self->state.next, leave_atom::value, actors);
        }
      },
      [=](leave_atom, std::uint64_t left) {
        ++seen->left;
        if (left > 1) self->send(self->state.next, leave_atom::value, left - 1);
        self->quit();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t actors = args.number("actors", 100);
  const std::uint64_t hops = args.number("hops", 100'000);

  tally seen;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    std::vector<caf::actor> ring;
    for (std::uint64_t i = 0; i < actors; ++i)
      ring.push_back(system.spawn(ring_member, actors, &seen));
    for (std::uint64_t i = 0; i < actors; ++i)
      caf::anon_send(ring[i], connect_atom::value, ring[(i + 1) % actors]);
    caf::anon_send(ring[0], token_atom::value, hops);
    ring.clear();
    system.await_all_actors_done();
  });
  out.items = hops;
  out.expect("hops", hops, seen.hops);
  out.expect("actors that left", actors, seen.left);
}
