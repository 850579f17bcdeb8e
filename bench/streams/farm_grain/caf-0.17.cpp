// A source, some workers and a sink as actors; the elements go to the workers in turn.
#include "common/caf_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/farm_grain/work.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::element)

namespace {

using bench::element;
using bench::seen_elements;
using next_atom = caf::atom_constant<caf::atom("next")>;
using done_atom = caf::atom_constant<caf::atom("done")>;

caf::behavior sink(caf::event_based_actor* self, std::uint64_t elements, seen_elements* seen) {
  return {
      [=](const element& e) {
        seen->add(e);
        if (seen->count == elements) self->quit();
      },
  };
}

caf::behavior worker(caf::event_based_actor* self, std::uint64_t steps, const caf::actor& next) {
  return {
      [=](const element& e) { self->send(next, bench::worked_on(e, steps)); },
      [=](done_atom) { self->quit(); },
  };
}

caf::behavior source(caf::event_based_actor* self, const std::vector<caf::actor>& next,
                     std::uint64_t elements, std::uint64_t chunk) {
  self->send(self, next_atom::value);
  return {
      [=, sent = std::uint64_t{0}](next_atom) mutable {
        const std::uint64_t end = chunk == 0 ? elements : std::min(elements, sent + chunk);
        for (; sent < end; ++sent) self->send(next[sent % next.size()], element{sent});
        if (sent != elements) return self->send(self, next_atom::value);
        for (const caf::actor& worker : next) self->send(worker, done_atom::value);
        self->quit();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t elements = args.number("elements", 50'000);
  const std::uint64_t steps = args.number("steps", 4000);
  const std::size_t replicas = args.count("replicas", 2);
  const std::uint64_t chunk = args.number("chunk", 0);

  seen_elements found;
  const stretch all;
  const double seconds = run_system(args, [&](caf::actor_system& system) {
    {
      const caf::actor last = system.spawn(sink, elements, &found);
      std::vector<caf::actor> workers;
      for (std::size_t i = 0; i < replicas; ++i)
        workers.push_back(system.spawn(worker, steps, last));
      system.spawn(source, workers, elements, chunk);
    }
    system.await_all_actors_done();
  });
  all.into(out, elements, seconds);
  found.check(out, elements, steps);
}
