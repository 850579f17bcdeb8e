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

void bench::run(arguments& args, result& out) {
  const std::uint64_t rounds = args.number("rounds", 5000);
  wakeup_samples samples(args.number("gap_us", 200));

  out.seconds = run_system(args, [&](caf::actor_system& system) {
    const caf::actor whom = system.spawn(receiver, &samples);
    samples.measure(rounds, [&](std::int64_t stamp) { caf::anon_send(whom, stamp); });
    caf::anon_send_exit(whom, caf::exit_reason::user_shutdown);
  });
  out.items = rounds;
  out.expect("samples", rounds, samples.all().size());
  out.latencies(samples.all());
}
