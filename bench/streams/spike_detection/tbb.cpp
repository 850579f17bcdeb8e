// SpikeDetection as oneTBB's pipeline. A token is a block of readings, as its manual advises for
// small items.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include "streams/common/stretch.hpp"
#include "streams/spike_detection/readings.hpp"

namespace {

using block = std::vector<bench::reading>;
using results = std::vector<bench::averaged>;

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 5'000'000);
  const std::size_t size = args.count("block", 1024);
  const std::size_t workers = args.count("threads", 2);

  const readings input = make_readings();
  seen_spikes found;
  const stretch all;
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
    feed<reading> all_tuples(input, tuples, 0);
    const auto read = [&](tbb::flow_control& flow) {
      if (all_tuples.ended()) flow.stop();
      return all_tuples.block(size);
    };
    moving_average averages;
    const auto average = [&](const block& from) {
      results made;
      made.reserve(from.size());
      for (const reading& r : from) made.push_back(averages.add(r));
      return made;
    };
    const auto detect = [](const results& from) {
      results spikes;
      for (const averaged& a : from)
        if (is_spike(a)) spikes.push_back(a);
      return spikes;
    };
    const auto collect = [&](const results& from) {
      for (const averaged& a : from) found.add(a);
    };
    constexpr auto in_order = tbb::filter_mode::serial_in_order;
    tbb::parallel_pipeline(
        4 * workers, tbb::make_filter<void, block>(in_order, read) &
                         tbb::make_filter<block, results>(in_order, average) &
                         tbb::make_filter<results, results>(tbb::filter_mode::parallel, detect) &
                         tbb::make_filter<results, void>(in_order, collect));
  }
  all.into(out, tuples);
  found.check(out, input, tuples);
}
