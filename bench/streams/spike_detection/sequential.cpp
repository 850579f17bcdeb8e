// SpikeDetection in one loop.
#include "streams/common/stretch.hpp"
#include "streams/spike_detection/readings.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 5'000'000);
  const std::uint64_t rate = args.number("rate", 0);

  const readings input = make_readings();
  seen_spikes found;
  moving_average averages;
  const stretch all;
  for (feed<reading> source(input, tuples, rate); !source.ended();) {
    const reading r = source.next();
    if (const averaged a = averages.add(r); is_spike(a)) found.add(a);
  }
  all.into(out, tuples);
  found.check(out, input, tuples);
}
