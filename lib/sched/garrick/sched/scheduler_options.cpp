// Checks the options of a worker pool, setting by setting.
#include <garrick/sched/scheduler_options.hpp>

#include <garrick/base/concurrency/parker.hpp>
#include <garrick/base/platform/platform.hpp>
#include <garrick/sched/parking/sleepers.hpp>
#include <garrick/sched/places/affinity.hpp>
#include <garrick/sched/places/topology.hpp>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace garrick::sched {

namespace {

constexpr std::uint32_t most_workers = sleepers<base::real_atomics, base::parker>::max_workers;
constexpr std::uint32_t most_spin_us = 1'000'000;

[[noreturn]] void reject(const std::string& setting, const std::string& value,
                         const std::string& allowed) {
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

void check_one_of(const char* setting, const std::string& value,
                  std::initializer_list<std::string_view> known) {
  std::string allowed = "known are";
  for (const std::string_view k : known) {
    if (value == k) return;
    allowed += " \"" + std::string(k) + "\"";
  }
  reject(setting, "\"" + value + "\"", allowed);
}

void check_places(const scheduler_options& options) {
  check_one_of("pin", options.pin, {"automatic", "unit", "cache", "node", "system"});
  check_one_of("neighbours", options.neighbours, {"cache", "node", "system"});
  if (const auto a = affinity::parse(options.affinity, base::platform::usable_processors()); !a)
    throw std::invalid_argument("setting scheduler.affinity: " + a.error().to_string());
  if (options.machine.empty()) return;
  if (const auto t = topology::synthetic(options.machine); !t)
    throw std::invalid_argument("setting scheduler.machine: " + t.error().to_string());
}

}  // namespace

scheduler_options checked(scheduler_options options) {
  check_options(options);
  check_places(options);
  if (options.workers == 0)
    options.workers = std::min(base::platform::usable_cores(), most_workers);
  return options;
}

}  // namespace garrick::sched
