// FraudDetection as plain actors. `--replicas n`: predictors, each with keys of its own. With
// `--rate n` the source sends n records a second, on a thread of its own.
#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/fraud_detection/records.hpp"

namespace {

using bench::outlier;
using bench::record;
using garrick::actor;
using garrick::protocol;
using garrick::ref;

class sink : public actor<protocol<void(outlier)>> {
 public:
  explicit sink(bench::seen_outliers* seen) : seen_(seen) {}
  void on(const outlier& o) { seen_->add(o); }

 private:
  bench::seen_outliers* seen_;
};

class scorer : public actor<protocol<void(record)>> {
 public:
  scorer(bench::markov_model model, ref<protocol<void(outlier)>> next)
      : predictor_(model), next_(std::move(next)) {}
  void on(const record& r) {
    predictor_.add(r, [&](const outlier& o) { send(next_, o); });
  }

 private:
  bench::predictor predictor_;
  ref<protocol<void(outlier)>> next_;
};

struct produce {};

class source : public actor<protocol<void(produce)>> {
 public:
  source(bench::feed<record> all, std::vector<ref<protocol<void(record)>>> next)
      : all_(std::move(all)), next_(std::move(next)) {}
  void on(produce) {
    while (!all_.ended()) {
      const record r = all_.next();
      send(next_[r.entity % next_.size()], r);
    }
  }

 private:
  bench::feed<record> all_;
  std::vector<ref<protocol<void(record)>>> next_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 2'000'000);
  const std::uint64_t rate = args.number("rate", 0);
  const std::size_t replicas = args.count("replicas", 1);

  const fraud_input input = make_records();
  seen_outliers found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    {
      const auto last = system.spawn<sink>(garrick::lent(&found));
      std::vector<ref<protocol<void(record)>>> workers;
      for (std::size_t i = 0; i < replicas; ++i)
        workers.push_back(system.spawn<scorer>(input.model, last));
      garrick::spawn_options o;
      o.detached = rate != 0;
      send(system.spawn<source>(o, feed<record>(input.records, tuples, rate), std::move(workers)),
           produce{});
    }
    static_cast<void>(system.await_all());
  });
  all.into(out, tuples, seconds);
  found.check(out, input, tuples);
}
