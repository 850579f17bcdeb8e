// The yardstick: the generator wakes a thread that sleeps on a futex, and that is the collector; no
// actors in between, whatever `--actors` says.
#include "common/futex_sleeper.hpp"
#include "latency/pipeline/pipeline.hpp"

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  bench::pipeline_run run = bench::read_pipeline(args);
  args.reject_unknown();
  {
    bench::futex_sleeper sleeper([&](std::int64_t stamp) { run.arrived(stamp); });
    run.run([&](std::int64_t stamp) { sleeper.wake(stamp); });
  }
  return run.print();
}
