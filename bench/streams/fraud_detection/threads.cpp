// FraudDetection with a thread for the source, each predictor and the sink, and rings between them.
// `--ring n`: tuples of a batch; `--replicas n`: predictors. With `--rate n` the source puts out n
// records a second, and shows each at once.
#include <memory>
#include <thread>

#include "common/batched_ring.hpp"
#include "streams/common/stretch.hpp"
#include "streams/fraud_detection/records.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 5'000'000);
  const std::uint64_t rate = args.number("rate", 0);
  const std::size_t replicas = args.count("replicas", 1);
  const std::size_t batch = args.count("ring", 256);

  const fraud_input input = make_records();
  seen_outliers found;
  const stretch all;
  {
    std::vector<std::unique_ptr<batched_ring<record>>> to;
    std::vector<std::unique_ptr<batched_ring<outlier>>> from;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < replicas; ++i) {
      to.push_back(std::make_unique<batched_ring<record>>(batch));
      from.push_back(std::make_unique<batched_ring<outlier>>(batch));
      threads.emplace_back([&in = *to.back(), &done = *from.back(), &model = input.model] {
        predictor scores(model);
        drain(
            in, [&](const record& r) { scores.add(r, [&](const outlier& o) { done.push(o); }); },
            [&] { done.flush(); });
        done.close();
      });
    }
    threads.emplace_back([&] {
      for (feed<record> source(input.records, tuples, rate); !source.ended();) {
        const record r = source.next();
        auto& next = *to[r.entity % replicas];
        next.push(r);
        if (rate != 0) next.flush();
      }
      for (const auto& r : to) r->close();
    });
    drain_all(from, [&](const outlier& o) { found.add(o); });
    for (std::thread& t : threads) t.join();
  }
  all.into(out, tuples);
  found.check(out, input, tuples);
}
