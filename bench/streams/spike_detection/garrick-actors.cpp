// SpikeDetection as plain actors. `--replicas n`: averages, each with keys of its own. With `--rate
// n` the source sends n readings a second, on a thread of its own.
#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/spike_detection/readings.hpp"

namespace {

using bench::averaged;
using bench::reading;
using garrick::actor;
using garrick::protocol;
using garrick::ref;

class sink : public actor<protocol<void(averaged)>> {
 public:
  explicit sink(bench::seen_spikes* seen) : seen_(seen) {}
  void on(const averaged& o) { seen_->add(o); }

 private:
  bench::seen_spikes* seen_;
};

class detector : public actor<protocol<void(averaged)>> {
 public:
  explicit detector(ref<protocol<void(averaged)>> next) : next_(std::move(next)) {}
  void on(const averaged& a) {
    if (bench::is_spike(a)) send(next_, a);
  }

 private:
  ref<protocol<void(averaged)>> next_;
};

class averager : public actor<protocol<void(reading)>> {
 public:
  explicit averager(ref<protocol<void(averaged)>> next) : next_(std::move(next)) {}
  void on(const reading& r) { send(next_, averages_.add(r)); }

 private:
  bench::moving_average averages_;
  ref<protocol<void(averaged)>> next_;
};

struct produce {};

class source : public actor<protocol<void(produce)>> {
 public:
  source(bench::feed<reading> all, std::vector<ref<protocol<void(reading)>>> next)
      : all_(std::move(all)), next_(std::move(next)) {}
  void on(produce) {
    while (!all_.ended()) {
      const reading r = all_.next();
      send(next_[r.device % next_.size()], r);
    }
  }

 private:
  bench::feed<reading> all_;
  std::vector<ref<protocol<void(reading)>>> next_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t tuples = args.number("tuples", 2'000'000);
  const std::uint64_t rate = args.number("rate", 0);
  const std::size_t replicas = args.count("replicas", 1);

  const readings input = make_readings();
  seen_spikes found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    {
      const auto last = system.spawn<detector>(system.spawn<sink>(garrick::lent(&found)));
      std::vector<ref<protocol<void(reading)>>> workers;
      for (std::size_t i = 0; i < replicas; ++i) workers.push_back(system.spawn<averager>(last));
      garrick::spawn_options o;
      o.detached = rate != 0;
      send(system.spawn<source>(o, feed<reading>(input, tuples, rate), std::move(workers)),
           produce{});
    }
    static_cast<void>(system.await_all());
  });
  all.into(out, tuples, seconds);
  found.check(out, input, tuples);
}
