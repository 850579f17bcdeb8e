// A pipeline of event-based actors between a blocking generator and a collector.
#include "common/caf_system.hpp"
#include "latency/pipeline/pipeline.hpp"

namespace {

caf::behavior stage(caf::event_based_actor* self, const caf::actor& next) {
  return {
      [=](std::int64_t sent) { self->send(next, sent); },
      [=](bench::trail& stamps) {
        stamps.push_back(bench::now_ns());
        self->send(next, std::move(stamps));
      },
  };
}

caf::behavior collector(caf::event_based_actor*, bench::pipeline_run* run) {
  return {
      [=](std::int64_t sent) { run->arrived(sent); },
      [=](const bench::trail& stamps) { run->arrived(stamps); },
  };
}

void generator(caf::blocking_actor* self, const caf::actor& first, bench::pipeline_run* run) {
  run->run([&](std::int64_t now) {
    if (run->traced())
      self->send(first, bench::trail{now});
    else
      self->send(first, now);
  });
}

}  // namespace

void bench::run(arguments& args, result& out) {
  pipeline_run pipeline = read_pipeline(args);

  run_system(args, [&](caf::actor_system& system) {
    caf::actor first = system.spawn(collector, &pipeline);
    for (std::uint64_t i = pipeline.actors(); i > 0; --i)
      first = i == pipeline.detached() ? system.spawn<caf::detached>(stage, first)
                                       : system.spawn(stage, first);
    system.spawn(generator, first, &pipeline);
    first = nullptr;
    system.await_all_actors_done();
  });
  pipeline.report(out);
}
