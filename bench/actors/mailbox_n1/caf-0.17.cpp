// Many senders, one receiver: each sender sends one shared empty message again and again.
#include "common/caf_system.hpp"

namespace {

using tick_atom = caf::atom_constant<caf::atom("tick")>;

caf::behavior receiver(caf::event_based_actor* self, std::uint64_t expected,
                       std::uint64_t* received) {
  return {
      [=](tick_atom) {
        if (++*received == expected) self->quit();
      },
  };
}

void sender(caf::event_based_actor* self, const caf::actor& whom, std::uint64_t messages) {
  const caf::message tick = caf::make_message(tick_atom::value);
  for (std::uint64_t i = 0; i < messages; ++i) self->send(whom, tick);
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t senders = args.number("senders", 100);
  const std::uint64_t messages = args.number("messages", 100'000);

  std::uint64_t received = 0;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    const caf::actor whom = system.spawn(receiver, senders * messages, &received);
    for (std::uint64_t i = 0; i < senders; ++i) system.spawn(sender, whom, messages);
    system.await_all_actors_done();
  });
  out.items = senders * messages;
  out.expect("messages", out.items, received);
}
