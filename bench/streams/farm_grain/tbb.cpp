// oneTBB's pipeline: the middle filter is parallel. A token is an element, whose work is long
// enough for that.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include "streams/common/stretch.hpp"
#include "streams/farm_grain/work.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t elements = args.number("elements", 50'000);
  const std::uint64_t steps = args.number("steps", 4000);
  const std::size_t workers = args.count("threads", 2);

  seen_elements found;
  const stretch all;
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
    std::uint64_t next = 0;
    const auto produce = [&](tbb::flow_control& flow) {
      if (next == elements) flow.stop();
      return element{next++};
    };
    const auto work = [&](const element& e) { return worked_on(e, steps); };
    const auto collect = [&](const element& e) { found.add(e); };
    tbb::parallel_pipeline(
        16 * workers,
        tbb::make_filter<void, element>(tbb::filter_mode::serial_in_order, produce) &
            tbb::make_filter<element, element>(tbb::filter_mode::parallel, work) &
            tbb::make_filter<element, void>(tbb::filter_mode::serial_out_of_order, collect));
  }
  all.into(out, elements);
  found.check(out, elements, steps);
}
