// Savina 06: creatures visit a mall, which pairs them; both of a pair take on the complementary
// colour.
#include "common/caf_system.hpp"
#include "savina/chameneos/colours.hpp"

namespace {

using bench::savina::colour;
using visit_atom = caf::atom_constant<caf::atom("visit")>;
using met_atom = caf::atom_constant<caf::atom("met")>;
using mate_atom = caf::atom_constant<caf::atom("mate")>;
using change_atom = caf::atom_constant<caf::atom("change")>;
using fade_atom = caf::atom_constant<caf::atom("fade")>;

struct creature_state {
  colour own = colour::yellow;
  std::uint64_t meetings = 0;
};

caf::behavior creature(caf::stateful_actor<creature_state>* self, const caf::actor& mall,
                       colour first) {
  self->state.own = first;
  self->send(mall, visit_atom::value, first);
  const auto next = [=](colour own) {
    self->state.own = own;
    ++self->state.meetings;
    self->send(mall, visit_atom::value, own);
  };
  return {
      [=](mate_atom, colour other, const caf::actor& who) {
        const colour own = bench::savina::complement(self->state.own, other);
        self->send(who, change_atom::value, own);
        next(own);
      },
      [=](change_atom, colour to) { next(to); },
      [=](fade_atom) {
        self->send(mall, met_atom::value, self->state.meetings);
        self->quit();
      },
  };
}

struct tally {
  std::uint64_t creatures = 0;
  std::uint64_t meetings = 0;
};

struct mall_state {
  std::uint64_t left = 0;
  caf::actor waiting;
};

caf::behavior mall(caf::stateful_actor<mall_state>* self, std::uint64_t creatures,
                   std::uint64_t meetings, tally* seen) {
  self->state.left = meetings;
  for (std::uint64_t i = 0; i < creatures; ++i)
    self->spawn(creature, self, bench::savina::first_colour(i));
  return {
      [=](visit_atom, colour own) {
        auto& state = self->state;
        const auto who = caf::actor_cast<caf::actor>(self->current_sender());
        if (state.left == 0) {
          self->send(who, fade_atom::value);
        } else if (!state.waiting) {
          state.waiting = who;
        } else {
          --state.left;
          self->send(state.waiting, mate_atom::value, own, who);
          state.waiting = nullptr;
        }
      },
      [=](met_atom, std::uint64_t times) {
        seen->meetings += times;
        if (++seen->creatures == creatures) self->quit();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t creatures = args.number("creatures", 100);
  const std::uint64_t meetings = args.number("meetings", 200'000);

  tally seen;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    system.spawn(mall, creatures, meetings, &seen);
    system.await_all_actors_done();
  });
  out.items = meetings;
  out.expect("creatures", creatures, seen.creatures);
  out.expect("meetings of all creatures", 2 * meetings, seen.meetings);
}
