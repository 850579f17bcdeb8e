// SpikeDetection as a pipeline of nodes. `--replicas n`: averages, each with keys of its own. With
// `--rate n` the source puts out n readings a second, on a thread of its own.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/spike_detection/readings.hpp"

namespace {

using namespace garrick::patterns;
using bench::averaged;
using bench::reading;

struct source {
  bench::feed<reading> all;
  bool operator()(emit<reading> out) {
    if (all.ended()) return false;
    out(all.next());
    return true;
  }
};

class averager {
 public:
  averaged consume(reading r) { return averages_.add(r); }

 private:
  bench::moving_average averages_;
};

class sink {
 public:
  explicit sink(bench::seen_spikes* seen) : seen_(seen) {}
  void consume(averaged o) { seen_->add(o); }

 private:
  bench::seen_spikes* seen_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 5'000'000);
  const std::uint64_t rate = args.number("rate", 0);
  const std::size_t replicas = args.count("replicas", 1);

  const readings input = make_readings();
  const auto begin = seq(source{feed<reading>(input, tuples, rate)});
  const auto averages = farm(seq<averager>()).replicas(replicas).by_key(&reading::device);
  const auto detector = seq([](averaged a, emit<averaged> spikes) {
    if (is_spike(a)) spikes(a);
  });
  seen_spikes found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    auto h = spawn(system, pipeline(rate == 0 ? begin : begin.own_thread(), averages, detector,
                                    seq<sink>(garrick::lent(&found))));
    system.request(h, join{}).get().value();
  });
  all.into(out, tuples, seconds);
  found.check(out, input, tuples);
}
