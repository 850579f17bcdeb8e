// The yardstick: a thread that sleeps on a futex, woken by another thread.
#include "common/futex_sleeper.hpp"
#include "common/measure.hpp"
#include "idle/wakeup/samples.hpp"

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const std::uint64_t rounds = args.number("rounds", 5000);
  bench::wakeup_samples samples(args.number("gap_us", 200));
  args.reject_unknown();

  bench::result result;
  const std::int64_t start = bench::now_ns();
  {
    bench::futex_sleeper sleeper([&](std::int64_t stamp) { samples.arrived(stamp); });
    samples.measure(rounds, [&](std::int64_t stamp) { sleeper.wake(stamp); });
  }
  result.seconds = bench::seconds_since(start);
  result.items = rounds;
  result.expect("samples", rounds, samples.all().size());
  result.latencies(samples.all());
  return result.print();
}
