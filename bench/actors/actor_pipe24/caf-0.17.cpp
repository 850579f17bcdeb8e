// Source, forwarder and sink pass tuples of three 64-bit numbers at full speed. With `--chunk n`
// the source sends n tuples and then a message to itself, so that it shares its thread with the
// others; 0 sends all tuples in one go.
#include "common/caf_system.hpp"

namespace {

using next_atom = caf::atom_constant<caf::atom("next")>;

struct seen {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
};

caf::behavior sink(caf::event_based_actor* self, std::uint64_t tuples, seen* total) {
  return {
      [=](std::int64_t a, std::int64_t b, std::int64_t c) {
        total->sum += static_cast<std::uint64_t>(a + b + c);
        if (++total->count == tuples) self->quit();
      },
  };
}

caf::behavior forwarder(caf::event_based_actor* self, const caf::actor& next,
                        std::uint64_t tuples) {
  return {
      [=, left = tuples](std::int64_t a, std::int64_t b, std::int64_t c) mutable {
        self->send(next, a, b, c);
        if (--left == 0) self->quit();
      },
  };
}

caf::behavior source(caf::event_based_actor* self, const caf::actor& next, std::uint64_t tuples,
                     std::uint64_t chunk) {
  self->send(self, next_atom::value);
  return {
      [=, sent = std::uint64_t{0}](next_atom) mutable {
        const std::uint64_t end = chunk == 0 ? tuples : std::min(tuples, sent + chunk);
        for (; sent < end; ++sent) {
          const auto i = static_cast<std::int64_t>(sent);
          self->send(next, i, i + 1, i + 2);
        }
        if (sent == tuples) {
          self->quit();
        } else {
          self->send(self, next_atom::value);
        }
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 2'000'000);
  const std::uint64_t chunk = args.number("chunk", 0);

  seen total;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    system.spawn(source, system.spawn(forwarder, system.spawn(sink, tuples, &total), tuples),
                 tuples, chunk);
    system.await_all_actors_done();
  });
  out.items = tuples;
  out.expect("tuples", tuples, total.count);
  out.expect("sum", 3 * (tuples * (tuples - 1) / 2) + 3 * tuples, total.sum);
}
