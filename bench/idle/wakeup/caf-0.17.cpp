// An outside thread sends to an actor whose worker has nothing else to do.
#include "common/caf_system.hpp"
#include "idle/wakeup/samples.hpp"

namespace {

caf::behavior receiver(caf::event_based_actor*, bench::wakeup_samples* samples) {
  return {
      [=](std::int64_t sent) { samples->arrived(sent); },
  };
}

}  // namespace

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const std::uint64_t rounds = args.number("rounds", 5000);
  bench::wakeup_samples samples(args.number("gap_us", 200));
  bench::caf_config config(args);
  args.reject_unknown();

  bench::result result;
  const std::int64_t start = bench::now_ns();
  {
    caf::actor_system system(config);
    const caf::actor whom = system.spawn(receiver, &samples);
    samples.measure(rounds, [&](std::int64_t stamp) { caf::anon_send(whom, stamp); });
    caf::anon_send_exit(whom, caf::exit_reason::user_shutdown);
  }
  result.seconds = bench::seconds_since(start);
  result.items = rounds;
  result.expect("samples", rounds, samples.all().size());
  result.latencies(samples.all());
  return result.print();
}
