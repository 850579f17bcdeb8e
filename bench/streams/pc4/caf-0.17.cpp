// Producer and consumer as two actors. With `--chunk n` the producer sends n messages and then one
// to itself, so that it shares its thread with the other; 0 sends all in one go.
#include "common/caf_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pc4/number.hpp"

namespace {

using bench::seen4;
using next_atom = caf::atom_constant<caf::atom("next")>;

caf::behavior consumer(caf::event_based_actor* self, std::uint64_t messages, seen4* seen) {
  return {
      [=](std::uint32_t n) {
        seen->add(n);
        if (seen->count == messages) self->quit();
      },
  };
}

caf::behavior producer(caf::event_based_actor* self, const caf::actor& next, std::uint64_t messages,
                       std::uint64_t chunk) {
  self->send(self, next_atom::value);
  return {
      [=, sent = std::uint64_t{0}](next_atom) mutable {
        const std::uint64_t end = chunk == 0 ? messages : std::min(messages, sent + chunk);
        for (; sent < end; ++sent) self->send(next, static_cast<std::uint32_t>(sent));
        if (sent == messages)
          self->quit();
        else
          self->send(self, next_atom::value);
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t messages = args.number("messages", 1'000'000);
  const std::uint64_t chunk = args.number("chunk", 0);

  seen4 found;
  const stretch all;
  const double seconds = run_system(args, [&](caf::actor_system& system) {
    system.spawn(producer, system.spawn(consumer, messages, &found), messages, chunk);
    system.await_all_actors_done();
  });
  all.into(out, messages, seconds);
  found.check(out, messages);
}
