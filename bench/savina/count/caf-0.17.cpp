// Savina 02: a producer floods a counter, then asks it how many messages have come.
#include "common/caf_system.hpp"

namespace {

using increment_atom = caf::atom_constant<caf::atom("increment")>;
using retrieve_atom = caf::atom_constant<caf::atom("retrieve")>;
using produce_atom = caf::atom_constant<caf::atom("produce")>;

struct counter_state {
  std::uint64_t count = 0;
};

caf::behavior counter(caf::stateful_actor<counter_state>* self) {
  return {
      [=](increment_atom) { ++self->state.count; },
      [=](retrieve_atom) { return self->state.count; },
  };
}

caf::behavior producer(caf::event_based_actor* self, const caf::actor& whom, std::uint64_t* found) {
  return {
      [=](produce_atom, std::uint64_t messages) {
        for (std::uint64_t i = 0; i < messages; ++i) self->send(whom, increment_atom::value);
        self->request(whom, caf::infinite, retrieve_atom::value).then([=](std::uint64_t count) {
          *found = count;
          self->quit();
        });
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t messages = args.number("messages", 1'000'000);

  std::uint64_t found = 0;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    caf::anon_send(system.spawn(producer, system.spawn(counter), &found), produce_atom::value,
                   messages);
    system.await_all_actors_done();
  });
  out.items = messages;
  out.expect("messages", messages, found);
}
