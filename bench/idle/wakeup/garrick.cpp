// An outside thread sends to an actor whose worker has nothing else to do.
#include "common/garrick_system.hpp"
#include "idle/wakeup/samples.hpp"

namespace {

class receiver : public garrick::actor<garrick::protocol<void(std::int64_t)>> {
 public:
  explicit receiver(bench::wakeup_samples* samples) : samples_(samples) {}
  void on(std::int64_t sent) { samples_->arrived(sent); }

 private:
  bench::wakeup_samples* samples_;
};

}  // namespace

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const std::uint64_t rounds = args.number("rounds", 5000);
  bench::wakeup_samples samples(args.number("gap_us", 200));
  const garrick::options options = bench::garrick_options(args);
  args.reject_unknown();

  bench::result result;
  const std::int64_t start = bench::now_ns();
  {
    garrick::actor_system system(options);
    const auto whom = system.spawn<receiver>(&samples);
    samples.measure(rounds, [&](std::int64_t stamp) { send(whom, stamp); });
  }
  result.seconds = bench::seconds_since(start);
  result.items = rounds;
  result.expect("samples", rounds, samples.all().size());
  result.latencies(samples.all());
  return result.print();
}
