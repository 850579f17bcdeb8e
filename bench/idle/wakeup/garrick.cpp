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

void bench::run(arguments& args, result& out) {
  const std::uint64_t rounds = args.number("rounds", 5000);
  wakeup_samples samples(args.number("gap_us", 200));

  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    const auto whom = system.spawn<receiver>(garrick::lent(&samples));
    samples.measure(rounds, [&](std::int64_t stamp) { send(whom, stamp); });
  });
  out.items = rounds;
  out.expect("samples", rounds, samples.all().size());
  out.latencies(samples.all());
}
