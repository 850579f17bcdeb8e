// The machine's own noise: no messages at all, but a thread that turns on the spot as long as the
// others run, and notes the time that was taken from it.
#include "common/machine_noise.hpp"
#include "latency/interactive/interactive.hpp"

void bench::run(arguments& args, result& out) {
  const interactive_settings s = read_interactive(args);
  args.reject_unknown();
  measure_noise(s.ms, out);
}
