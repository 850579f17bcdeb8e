// FraudDetection as actors. The source sends `--chunk n` records and then a message to itself, so
// that it shares its thread with the others. `--replicas n`: predictors. With `--rate n` the source
// sends n records a second, on a thread of its own.
#include "streams/common/caf_source.hpp"
#include "streams/common/stretch.hpp"
#include "streams/fraud_detection/records.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::record)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::outlier)

namespace {

using bench::done_atom;
using bench::outlier;
using bench::record;

caf::behavior sink(caf::event_based_actor* self, std::size_t feeders, bench::seen_outliers* seen) {
  return {
      [=](const outlier& o) { seen->add(o); },
      [=, open = feeders](done_atom) mutable {
        if (--open == 0) self->quit();
      },
  };
}

caf::behavior scorer(caf::event_based_actor* self, const bench::markov_model* model,
                     const caf::actor& next) {
  return {
      [=, predictor = bench::predictor(*model)](const record& r) mutable {
        predictor.add(r, [&](const outlier& o) { self->send(next, o); });
      },
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

  const fraud_input input = make_records();
  seen_outliers found;
  const stretch all;
  const double seconds = run_system(args, [&](caf::actor_system& system) {
    {
      const caf::actor last = system.spawn(sink, replicas, &found);
      std::vector<caf::actor> workers;
      for (std::size_t i = 0; i < replicas; ++i)
        workers.push_back(system.spawn(scorer, &input.model, last));
      const feed<record> whole(input.records, tuples, rate);
      if (rate == 0)
        system.spawn(keyed_source<record>, whole, chunk, &record::entity, workers);
      else
        system.spawn<caf::detached>(keyed_source<record>, whole, chunk, &record::entity, workers);
    }
    system.await_all_actors_done();
  });
  all.into(out, tuples, seconds);
  found.check(out, input, tuples);
}
