// SpikeDetection as actors. The source sends `--chunk n` readings and then a message to itself, so
// that it shares its thread with the others. `--replicas n`: averages. With `--rate n` the source
// sends n readings a second, on a thread of its own.
#include "streams/common/caf_source.hpp"
#include "streams/common/stretch.hpp"
#include "streams/spike_detection/readings.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::reading)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::averaged)

namespace {

using bench::averaged;
using bench::done_atom;
using bench::reading;

caf::behavior sink(caf::event_based_actor* self, std::size_t feeders, bench::seen_spikes* seen) {
  return {
      [=](const averaged& o) { seen->add(o); },
      [=, open = feeders](done_atom) mutable {
        if (--open == 0) self->quit();
      },
  };
}

caf::behavior detector(caf::event_based_actor* self, std::size_t averages, const caf::actor& next) {
  return {
      [=](const averaged& a) {
        if (bench::is_spike(a)) self->send(next, a);
      },
      [=, open = averages](done_atom) mutable {
        if (--open != 0) return;
        self->send(next, done_atom::value);
        self->quit();
      },
  };
}

caf::behavior averager(caf::stateful_actor<bench::moving_average>* self, const caf::actor& next) {
  return {
      [=](const reading& r) { self->send(next, self->state.add(r)); },
      [=](done_atom) {
        self->send(next, done_atom::value);
        self->quit();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 500'000);
  const std::uint64_t rate = args.number("rate", 0);
  const std::uint64_t chunk = args.count("chunk", 1000);
  const std::size_t replicas = args.count("replicas", 1);

  const readings input = make_readings();
  seen_spikes found;
  const stretch all;
  const double seconds = run_system(args, [&](caf::actor_system& system) {
    {
      const caf::actor last =
          system.spawn(detector, replicas, system.spawn(sink, std::size_t{1}, &found));
      std::vector<caf::actor> workers;
      for (std::size_t i = 0; i < replicas; ++i) workers.push_back(system.spawn(averager, last));
      const feed<reading> whole(input, tuples, rate);
      if (rate == 0)
        system.spawn(keyed_source<reading>, whole, chunk, &reading::device, workers);
      else
        system.spawn<caf::detached>(keyed_source<reading>, whole, chunk, &reading::device, workers);
    }
    system.await_all_actors_done();
  });
  all.into(out, tuples, seconds);
  found.check(out, input, tuples);
}
