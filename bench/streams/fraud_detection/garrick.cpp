// FraudDetection as a pipeline of nodes. `--replicas n`: predictors, each with keys of its own.
// With `--rate n` the source puts out n records a second, on a thread of its own.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/fraud_detection/records.hpp"

namespace {

using namespace garrick::patterns;
using bench::outlier;
using bench::record;

struct source {
  bench::feed<record> all;
  bool operator()(emit<record> out) {
    if (all.ended()) return false;
    out(all.next());
    return true;
  }
};

class scorer {
 public:
  explicit scorer(const bench::markov_model& model) : predictor_(model) {}
  void consume(record r, emit<outlier> out) {
    predictor_.add(r, [&](const outlier& o) { out(o); });
  }

 private:
  bench::predictor predictor_;
};

class sink {
 public:
  explicit sink(bench::seen_outliers* seen) : seen_(seen) {}
  void consume(outlier o) { seen_->add(o); }

 private:
  bench::seen_outliers* seen_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 5'000'000);
  const std::uint64_t rate = args.number("rate", 0);
  const std::size_t replicas = args.count("replicas", 1);

  const fraud_input input = make_records();
  const auto begin = seq(source{feed<record>(input.records, tuples, rate)});
  const auto predictors = farm(seq<scorer>(input.model)).replicas(replicas).by_key(&record::entity);
  seen_outliers found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    auto h = spawn(system, pipeline(rate == 0 ? begin : begin.own_thread(), predictors,
                                    seq<sink>(garrick::lent(&found))));
    system.request(h, join{}).get().value();
  });
  all.into(out, tuples, seconds);
  found.check(out, input, tuples);
}
