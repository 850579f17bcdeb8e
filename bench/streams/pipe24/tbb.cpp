// oneTBB's pipeline. A token is a block of tuples, as its manual advises for small items:
// `--ring n` tuples each.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include <algorithm>

#include "streams/common/stretch.hpp"
#include "streams/pipe24/tuple.hpp"

namespace {

using block = std::vector<bench::tuple24>;

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 50'000'000);
  const std::size_t size = args.count("ring", 1024);
  const std::size_t workers = args.count("threads", 2);

  seen24 found;
  const stretch all;
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
    std::uint64_t next = 0;
    tbb::parallel_pipeline(4 * workers,
                           tbb::make_filter<void, block>(tbb::filter_mode::serial_in_order,
                                                         [&](tbb::flow_control& flow) {
                                                           block made;
                                                           if (next == tuples) {
                                                             flow.stop();
                                                             return made;
                                                           }
                                                           made.reserve(size);
                                                           const std::uint64_t end =
                                                               std::min(tuples, next + size);
                                                           for (; next < end; ++next)
                                                             made.push_back(tuple_number(next));
                                                           return made;
                                                         }) &
                               tbb::make_filter<block, block>(tbb::filter_mode::serial_in_order,
                                                              [](const block& from) {
                                                                block forwarded;
                                                                forwarded.reserve(from.size());
                                                                for (const tuple24& t : from)
                                                                  forwarded.push_back(t);
                                                                return forwarded;
                                                              }) &
                               tbb::make_filter<block, void>(tbb::filter_mode::serial_in_order,
                                                             [&](const block& from) {
                                                               for (const tuple24& t : from)
                                                                 found.add(t);
                                                             }));
  }
  all.into(out, tuples);
  found.check(out, tuples);
}
