#include <garrick/sched/scheduler.hpp>

#include <garrick/base/platform/platform.hpp>
#include <garrick/sched/parking/sleepers.hpp>
#include <garrick/sched/places/affinity.hpp>
#include <garrick/sched/policies/comparison/polling.hpp>
#include <garrick/sched/policies/locality_guided.hpp>
#include <garrick/sched/policies/work_sharing.hpp>
#include <garrick/sched/policies/work_stealing.hpp>
#include <garrick/sched/worker_pool.hpp>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

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

namespace {

/// The pool of the policy among `Policies` that has this name; null if none has it, and `known`
/// lists their names.
template <class... Policies>
std::unique_ptr<scheduler> make_one_of(scheduler_options& options, std::string& known) {
  std::unique_ptr<scheduler> made;
  const auto look_at = [&]<class Policy>(std::type_identity<Policy>) {
    known += (known.empty() ? "\"" : ", \"") + std::string(Policy::name) + "\"";
    if (options.policy == Policy::name)
      made = std::make_unique<worker_pool<Policy>>(std::move(options));
    return made != nullptr;
  };
  static_cast<void>((look_at(std::type_identity<Policies>()) || ...));
  return made;
}

}  // namespace

std::unique_ptr<scheduler> make_scheduler(const scheduler_options& options) {
  scheduler_options final_options = checked(options);
  std::string known;
#if defined(GARRICK_MINIMAL)
  auto made = make_one_of<work_stealing<>, work_sharing<>>(final_options, known);
#else
  auto made = make_one_of<work_stealing<>, locality_guided<>, work_sharing<>, polling_default,
                          polling_custom, polling_aggressive, polling_new>(final_options, known);
#endif
  if (made == nullptr) reject("policy", "\"" + options.policy + "\"", "known are " + known);
  return made;
}

}  // namespace garrick::sched
