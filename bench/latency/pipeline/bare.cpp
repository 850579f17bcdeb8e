// The yardstick: the generator wakes a thread that sleeps on a futex, and that is the collector; no
// actors in between: `--actors` is ignored.
#include "common/futex_sleeper.hpp"
#include "latency/pipeline/pipeline.hpp"

void bench::run(arguments& args, result& out) {
  pipeline_run pipeline = read_pipeline(args);

  {
    futex_sleeper sleeper([&](std::int64_t stamp) { pipeline.arrived(stamp); });
    pipeline.run([&](std::int64_t stamp) { sleeper.wake(stamp); });
  }
  pipeline.report(out);
}
