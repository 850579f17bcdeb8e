// FraudDetection in one loop.
#include "streams/common/stretch.hpp"
#include "streams/fraud_detection/records.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 5'000'000);
  const std::uint64_t rate = args.number("rate", 0);

  const fraud_input input = make_records();
  seen_outliers found;
  predictor scores(input.model);
  const stretch all;
  for (feed<record> source(input.records, tuples, rate); !source.ended();) {
    const record r = source.next();
    scores.add(r, [&](const outlier& o) { found.add(o); });
  }
  all.into(out, tuples);
  found.check(out, input, tuples);
}
