// The yardstick: a thread that sleeps on a futex, woken by another thread.
#include "common/futex_sleeper.hpp"
#include "common/measure.hpp"
#include "idle/wakeup/samples.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t rounds = args.number("rounds", 5000);
  wakeup_samples samples(args.number("gap_us", 200));

  const std::int64_t start = now_ns();
  {
    futex_sleeper sleeper([&](std::int64_t stamp) { samples.arrived(stamp); });
    samples.measure(rounds, [&](std::int64_t stamp) { sleeper.wake(stamp); });
  }
  out.seconds = seconds_since(start);
  out.items = rounds;
  out.expect("samples", rounds, samples.all().size());
  out.latencies(samples.all());
}
