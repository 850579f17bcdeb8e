#include <garrick/sched/scheduler.hpp>

#include <garrick/base/platform.hpp>
#include <garrick/sched/sleepers.hpp>
#include <garrick/sched/work_sharing.hpp>
#include <garrick/sched/work_stealing.hpp>
#include <garrick/sched/worker_pool.hpp>

#include <stdexcept>
#include <string>

namespace garrick::sched {

namespace {

constexpr std::uint32_t most_workers = sleepers<base::real_atomics, base::parker>::max_workers;
constexpr std::uint32_t most_spin_us = 1'000'000;

[[noreturn]] void reject(const std::string& setting, const std::string& value, const std::string& allowed) {
  throw std::invalid_argument("setting scheduler." + setting + " is " + value + "; " + allowed);
}

void check_options(const scheduler_options& options) {
  if (options.workers > most_workers)
    reject("workers", std::to_string(options.workers),
           "allowed are 1 to " + std::to_string(most_workers) + ", or 0 for one per usable core");
  if (options.quantum == 0) reject("quantum", "0", "a run must be allowed at least one message");
  if (options.idle_spin_us > most_spin_us)
    reject("idle_spin_us", std::to_string(options.idle_spin_us),
           "allowed are 0 to " + std::to_string(most_spin_us) + " microseconds");
}

}  // namespace

scheduler_options checked(scheduler_options options) {
  check_options(options);
  if (options.workers == 0) options.workers = std::min(base::platform::usable_cores(), most_workers);
  return options;
}

std::unique_ptr<scheduler> make_scheduler(const scheduler_options& options) {
  scheduler_options final_options = checked(options);
  if (options.policy == work_stealing<>::name) return std::make_unique<worker_pool<work_stealing<>>>(std::move(final_options));
  if (options.policy == work_sharing<>::name) return std::make_unique<worker_pool<work_sharing<>>>(std::move(final_options));
  reject("policy", "\"" + options.policy + "\"", "known are \"work_stealing\" and \"work_sharing\"");
}

}  // namespace garrick::sched
