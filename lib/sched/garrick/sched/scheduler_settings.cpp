// The rows of the scheduler's settings, and the check of the settings of a pool.
#include <garrick/sched/scheduler_settings.hpp>

#include <garrick/base/concurrency/parker.hpp>
#include <garrick/base/platform/platform.hpp>
#include <garrick/base/settings/setting_table.hpp>
#include <garrick/sched/parking/sleepers.hpp>
#include <garrick/sched/places/affinity.hpp>
#include <garrick/sched/places/topology.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace garrick::sched {

namespace {

static_assert(most_workers == sleepers<base::real_atomics, base::parker>::max_workers);

constexpr std::array<std::string_view, 5> pins{"automatic", "unit", "cache", "node", "system"};
constexpr std::array<std::string_view, 3> neighbourhoods{"cache", "node", "system"};

std::string why_no_machine(const std::string& text) {
  if (text.empty()) return {};
  const auto described = topology::synthetic(text);
  return described ? std::string() : std::string(described.error().detail());
}

}  // namespace

std::string why_no_affinity(const std::string& text) {
  const auto groups = affinity::parse(text, base::platform::usable_processors());
  return groups ? std::string() : std::string(groups.error().detail());
}

void add_settings(base::setting_table& table, scheduler_settings& s) {
  using base::note;
  using range = base::setting_range;
  table.add({"scheduler.workers",
             &s.workers,
             {0, most_workers},
             "threads",
             note("Worker threads; 0: as many as the process may use cores"),
             note("sched/worker_pool.hpp")});
  table.add({"scheduler.quantum",
             &s.quantum,
             {1, unlimited},
             "messages",
             note("Messages that an actor handles at most before others have their turn"),
             note("sched/policies")});
  table.add({"scheduler.idle_spin",
             &s.idle_spin,
             {base::duration(), longest_idle_spin},
             "",
             note("How long a worker looks for work before it sleeps"),
             note("sched/policies")});
  table.add({"scheduler.best_effort",
             &s.best_effort,
             {},
             "",
             note("Go on with fewer workers if some threads cannot be created, or unbound"),
             note("sched/worker_pool.hpp")});
  table.add({"scheduler.affinity", &s.affinity, range::must_be(affinity_form, &why_no_affinity), "",
             note("Processors of worker threads, group by group"), note("sched/pool_places.cpp")});
  table.add({"scheduler.pin", &s.pin, pins, "", note("Where a worker thread stays"),
             note("sched/pool_places.cpp")});
  table.add({"scheduler.neighbours", &s.neighbours, neighbourhoods, "",
             note("The part that near workers share, for locality_guided"),
             note("sched/pool_places.cpp")});
  table.add({"scheduler.thread_name", &s.thread_name, range::at_most_bytes(longest_thread_name), "",
             note("Name of the worker threads, before their number"),
             note("sched/worker_pool.hpp")});
  table.add({"scheduler.machine", &s.machine,
             range::must_be("a synthetic machine, such as \"numa:2 core:4 pu:1\"", &why_no_machine),
             "", note("For tests: a machine instead of this one"), note("sched/pool_places.cpp")});
}

scheduler_settings checked(scheduler_settings settings) {
  base::setting_table table;
  add_settings(table, settings);
  if (const auto refused = table.first_refused()) throw std::invalid_argument(refused->why);
  if (settings.workers == 0)
    settings.workers = std::min(base::platform::usable_cores(), most_workers);
  return settings;
}

}  // namespace garrick::sched
