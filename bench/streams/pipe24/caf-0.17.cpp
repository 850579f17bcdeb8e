// Source, forwarder and sink as three actors. With `--chunk n` the source sends n tuples and then a
// message to itself, so that it shares its thread with the others; 0 sends all in one go. With
// `--rate n` it sends n tuples a second, on a thread of its own.
#include "common/caf_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/pipe24/tuple.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::tuple24)

namespace {

using bench::seen24;
using bench::tuple24;
using next_atom = caf::atom_constant<caf::atom("next")>;

template <class Seen>
caf::behavior sink(caf::event_based_actor* self, std::uint64_t tuples, Seen* seen) {
  return {
      [=](const tuple24& t) {
        seen->add(t);
        if (seen->count == tuples) self->quit();
      },
  };
}

caf::behavior forwarder(caf::event_based_actor* self, const caf::actor& next,
                        std::uint64_t tuples) {
  return {
      [=, left = tuples](const tuple24& t) mutable {
        self->send(next, t);
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
        for (; sent < end; ++sent) self->send(next, bench::tuple_number(sent));
        if (sent == tuples)
          self->quit();
        else
          self->send(self, next_atom::value);
      },
  };
}

caf::behavior paced_source(caf::event_based_actor* self, const caf::actor& next,
                           std::uint64_t tuples, std::uint64_t rate) {
  self->send(self, next_atom::value);
  return {
      [=](next_atom) {
        bench::pace schedule(rate);
        for (std::uint64_t i = 0; i < tuples; ++i) self->send(next, tuple_on_time(i, schedule));
        self->quit();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 1'000'000);
  const std::uint64_t chunk = args.number("chunk", 0);
  const std::uint64_t rate = args.number("rate", 0);

  seen24 found;
  timed24 timed;
  const stretch all;
  const double seconds = run_system(args, [&](caf::actor_system& system) {
    if (rate == 0)
      system.spawn(source,
                   system.spawn(forwarder, system.spawn(sink<seen24>, tuples, &found), tuples),
                   tuples, chunk);
    else
      system.spawn<caf::detached>(
          paced_source,
          system.spawn(forwarder, system.spawn(sink<timed24>, tuples, &timed), tuples), tuples,
          rate);
    system.await_all_actors_done();
  });
  all.into(out, tuples, seconds);
  rate == 0 ? found.check(out, tuples) : timed.check(out, tuples);
}
