// FraudDetection as oneTBB's pipeline. A token is a block of records, as its manual advises for
// small items.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include "streams/common/stretch.hpp"
#include "streams/fraud_detection/records.hpp"

namespace {

using block = std::vector<bench::record>;
using results = std::vector<bench::outlier>;

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 5'000'000);
  const std::size_t size = args.count("block", 1024);
  const std::size_t workers = args.count("threads", 2);

  const fraud_input input = make_records();
  seen_outliers found;
  const stretch all;
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
    feed<record> all_tuples(input.records, tuples, 0);
    const auto read = [&](tbb::flow_control& flow) {
      if (all_tuples.ended()) flow.stop();
      return all_tuples.block(size);
    };
    predictor scores(input.model);
    const auto score = [&](const block& from) {
      results found_here;
      for (const record& r : from)
        scores.add(r, [&](const outlier& o) { found_here.push_back(o); });
      return found_here;
    };
    const auto collect = [&](const results& from) {
      for (const outlier& o : from) found.add(o);
    };
    constexpr auto in_order = tbb::filter_mode::serial_in_order;
    tbb::parallel_pipeline(4 * workers, tbb::make_filter<void, block>(in_order, read) &
                                            tbb::make_filter<block, results>(in_order, score) &
                                            tbb::make_filter<results, void>(in_order, collect));
  }
  all.into(out, tuples);
  found.check(out, input, tuples);
}
