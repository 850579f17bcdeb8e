// Three actors in a ring, and one where elements leave it, which ends the others when all have.
#include "common/caf_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/feedback_ring/element.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::element)

namespace {

using bench::element;
using done_atom = caf::atom_constant<caf::atom("done")>;

caf::behavior sink(caf::event_based_actor* self, std::uint64_t elements, const caf::actor& first,
                   bench::seen_ring* seen) {
  return {
      [=](const element& e) {
        seen->add(e);
        if (seen->count != elements) return;
        self->send(first, done_atom::value);
        self->quit();
      },
  };
}

using way_back_atom = caf::atom_constant<caf::atom("way-back")>;

caf::behavior third(caf::event_based_actor* self) {
  self->set_default_handler(caf::skip);
  return {
      [=](way_back_atom, const caf::actor& back, const caf::actor& out) {
        self->become(
            [=](const element& from) {
              const element e = bench::third_stage(from);
              self->send(e.laps != 0 ? back : out, e);
            },
            [=](done_atom) { self->quit(); });
      },
  };
}

template <element (*Stage)(element)>
caf::behavior stage(caf::event_based_actor* self, const caf::actor& next) {
  return {
      [=](const element& e) { self->send(next, Stage(e)); },
      [=](done_atom) {
        self->send(next, done_atom::value);
        self->quit();
      },
  };
}

caf::behavior source(caf::event_based_actor* self, std::uint64_t round, std::uint64_t laps,
                     std::uint64_t end, const caf::actor& next) {
  for (std::uint64_t i = 0; i < end; ++i) self->send(next, bench::element_number(i, round, laps));
  return {};
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t round = args.number("round", 4096);
  const std::uint64_t laps = args.number("laps", 256, 1);
  const std::uint64_t once = args.number("once", 1024);

  seen_ring found;
  const stretch all;
  const double seconds = run_system(args, [&](caf::actor_system& system) {
    {
      const caf::actor last = system.spawn(third);
      const caf::actor first =
          system.spawn(stage<first_stage>, system.spawn(stage<second_stage>, last));
      caf::anon_send(last, way_back_atom::value, first,
                     system.spawn(sink, round + once, first, &found));
      system.spawn(source, round, laps, round + once, first);
    }
    system.await_all_actors_done();
  });
  all.into(out, passes(round, laps, once), seconds);
  found.check(out, round, laps, once);
}
