// Runs one case of the latency pipeline on a simulated machine whose threads share processors, and
// prints the events around its slowest message, or in a stretch of time: each wake-up and its
// waker, each thread's runs and waits. The same parameters give the same lines. bench/README.md has
// them.
//
//   simulator_replay --policy work_stealing --workers 2 --processors 2 --rate 100000 --seed 1

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "common/measure.hpp"
#include "simulator/papers/programs.hpp"
#include "simulator/simulated.hpp"

using namespace bench::simulator;
using namespace garrick::machine;

namespace {

wake_up_preemption preemption_of(const std::string& name) {
  if (name == "never") return wake_up_preemption::never;
  if (name == "run_to_parity") return wake_up_preemption::run_to_parity;
  if (name == "at_once") return wake_up_preemption::at_once;
  bench::arguments::fail("--preemption is never, run_to_parity or at_once, not " + name);
}

struct replay {
  pipeline program;
  simulation_options on;
  double from_us = 0, to_us = 0;  ///< equal: around the slowest message
  double before_us = 0, after_us = 0;
};

replay read(bench::arguments& args) {
  replay r;
  const std::uint32_t workers = args.count("workers", 2);
  const std::uint32_t processors = args.count("processors", workers);
  const std::uint32_t rate = args.count("rate", 100'000);
  r.on = bench::on_shared_machine(processors, workers, args.text("policy", "work_stealing"),
                                  args.number("seed", 1));
  r.on.pin_workers = args.number("pin", 0, 0, 1) != 0;
  r.on.worker_batch = args.number("worker_batch", 0, 0, 1) != 0;
  r.on.worker_slice = 1000.0 * static_cast<double>(args.number("worker_slice_us", 0, 0, 100'000));
  r.on.helper_slice = 1000.0 * static_cast<double>(args.number("helper_slice_us", 0, 0, 100'000));
  r.on.idle_spin = std::chrono::microseconds(args.number("idle_spin_us", 0, 0, 1'000'000));
  for (const auto& [name, price] :
       {std::pair{"fall_asleep_ns", &costs::fall_asleep},
        std::pair{"wake_call_ns", &costs::wake_call},
        std::pair{"wake_latency_ns", &costs::wake_latency},
        std::pair{"timer_late_ns", &costs::precise_timer_late},
        std::pair{"barrier_ns", &costs::barrier}, std::pair{"run_ns", &costs::run}})
    r.on.prices.*price = static_cast<double>(
        args.number(name, static_cast<std::uint64_t>(r.on.prices.*price), 0, 1'000'000));
  r.on.sharing->slice = 1000.0 * static_cast<double>(args.number("slice_us", 2800, 100, 100'000));
  r.on.sharing->tick = 1000.0 * static_cast<double>(args.number("tick_us", 4000, 10, 100'000));
  r.on.sharing->preemption = preemption_of(args.text("preemption", "run_to_parity"));
  r.program = shared_pipeline(args.count("actors", 12), rate, args.count("ms", 300));
  r.program.generator_apart = args.number("apart", 0, 0, 1) != 0;
  const std::uint64_t foreign = args.number("foreign", 0, 0, processors);
  const double busy = 1000.0 * static_cast<double>(args.number("foreign_busy_us", 0, 0, 1'000'000));
  const double idle =
      1000.0 * static_cast<double>(args.number("foreign_idle_us", 1000, 0, 1'000'000));
  for (std::uint64_t i = 0; i < foreign; ++i)
    r.program.foreign.push_back(
        {.busy = busy, .idle = idle, .unit = processors - 1 - static_cast<std::uint32_t>(i)});
  r.from_us = static_cast<double>(args.number("from_us", 0));
  r.to_us = static_cast<double>(args.number("to_us", 0));
  r.before_us = static_cast<double>(args.number("before_us", 100));
  r.after_us = static_cast<double>(args.number("after_us", 20));
  args.reject_unknown();
  return r;
}

}  // namespace

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  replay r = read(args);
  const pipeline_outcome o = run(r.program, r.on);
  if (!o.error.empty()) {
    std::fprintf(stderr, "simulator_replay: %s\n", o.error.c_str());
    return 1;
  }
  const auto slowest =
      std::max_element(o.latency_us.begin(), o.latency_us.end()) - o.latency_us.begin();
  const auto number = static_cast<std::size_t>(slowest);
  if (r.from_us >= r.to_us) {
    r.from_us = o.sent_us[number] - r.before_us;
    r.to_us = o.sent_us[number] + o.latency_us[number] + r.after_us;
  }
  event_log log(r.from_us * 1000, r.to_us * 1000);
  r.program.log = &log;
  static_cast<void>(run(r.program, r.on));
  std::fputs(log.text().c_str(), stdout);
  std::printf(
      "\nlatency in µs: mean %.1f, p50 %.1f, p99 %.1f, p99.9 %.1f, slowest %.1f (message %zu)\n"
      "processor time: workers %.2f %%, helper %.2f %% of one; workers waited %.2f %% for one\n"
      "parks %llu, wake-ups %llu, thefts %llu, exposed %llu, ticks %llu\n",
      o.mean_us(), o.percentile_us(0.5), o.percentile_us(0.99), o.percentile_us(0.999),
      o.latency_us[number], number + r.program.not_counted, 100 * o.busy_seconds / o.seconds,
      100 * o.helper_seconds / o.seconds, 100 * o.waited_seconds / o.seconds,
      static_cast<unsigned long long>(o.policy.parks),
      static_cast<unsigned long long>(o.policy.wakes),
      static_cast<unsigned long long>(o.policy.steals),
      static_cast<unsigned long long>(o.policy.exposed),
      static_cast<unsigned long long>(o.policy.ticks));
  return 0;
}
