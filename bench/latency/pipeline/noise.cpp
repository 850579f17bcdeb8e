// The machine's own noise: no messages at all, but a thread that turns on the spot as long as the
// others run, and notes the time that was taken from it.
#include "common/machine_noise.hpp"
#include "latency/pipeline/pipeline.hpp"

void bench::run(arguments& args, result& out) {
  const pipeline_run pipeline = read_pipeline(args);  // with it come the foreign threads

  args.reject_unknown();
  measure_noise(pipeline.ms(), out);
}
