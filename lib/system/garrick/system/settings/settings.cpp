// The rows of the system's own settings, the check whether a system can be built with them, and the
// origin of each value: the default, the code or a loader.
#include "garrick/system/settings/settings.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "garrick/base/settings/setting_table.hpp"
#include "garrick/sched/shipped_policies.hpp"

namespace garrick::system {

namespace {

/// The names of `log_level`, in the order of the enumeration.
constexpr std::array<std::string_view, 5> log_levels{"debug", "info", "warning", "error", "off"};

constexpr const char* from_default = "default";
constexpr const char* from_code = "code";

}  // namespace

void add_settings(base::setting_table& table, settings& s) {
  using base::note;
  using range = base::setting_range;
  constexpr base::duration zero;
  constexpr base::duration infinite = base::duration::infinite();
  const range affinity = range::must_be(sched::affinity_form, &sched::why_no_affinity);
  sched::add_policy_setting(table, s.scheduler.policy);
  sched::add_settings(table, s.scheduler);
  core::add_settings(table, s.mailbox, s.requests);
  table.add({"detached.threads",
             &s.detached.threads,
             {0, most_detached_threads},
             "threads",
             note("Threads for detached and blocking actors at most; 0: none"),
             note("system/threads/detached_pool.cpp")});
  table.add({"detached.affinity", &s.detached.affinity, affinity, "",
             note("Processors of the threads of detached actors, group by group"),
             note("system/system_core.cpp")});
  table.add({"detached.affinity_blocking", &s.detached.affinity_blocking, affinity, "",
             note("Processors of the threads of blocking actors, group by group"),
             note("system/system_core.cpp")});
  table.add({"dead_letters.backlog",
             &s.dead_letters.backlog,
             {1, sched::unlimited},
             "messages",
             note("Dead letters that may wait for a subscriber; more are only counted"),
             note("system/diagnosis/dead_letters.cpp")});
  table.add({"memory.keep",
             &s.memory.keep,
             {0, sched::unlimited},
             "MiB",
             note("Free memory that stays for the next burst; more goes back to the system"),
             note("system/threads/memory_keeper.cpp")});
  table.add({"watchdog.after",
             &s.watchdog.after,
             {zero, infinite},
             "",
             note("Report a handler that runs longer; 0s: never"),
             note("system/diagnosis/watchdog.cpp")});
  table.add({"watchdog.report_stack_overflow",
             &s.watchdog.report_stack_overflow,
             {},
             "",
             note("Name the actor whose handler overflowed the stack"),
             note("system/system_core.cpp")});
  table.add({"shutdown.deadline",
             &s.shutdown.deadline,
             {zero, infinite},
             "",
             note("How long the end of the system waits for its actors, twice"),
             note("system/actor_system.cpp")});
  table.add({"log.level", &s.log.level, log_levels, "", note("The least severity that is logged"),
             note("system/diagnosis/log.cpp")});
}

namespace {

/// Returns the source of a row's value: the loader's, unless the program has changed the value
/// since.
std::string source_of(const base::setting& row, const settings& values) {
  const std::string value = to_text(row, value_of(row));
  for (const setting_report& found : values.loaded)
    if (found.key == row.key && found.value == value) return found.source;
  settings fresh;
  base::setting_table defaults;
  add_settings(defaults, fresh);
  return value_of(row) == value_of(*defaults.find(row.key)) ? from_default : from_code;
}

}  // namespace

std::string why_refused(const settings& values) {
  settings copy = values;
  base::setting_table table;
  add_settings(table, copy);
  const auto refused = table.first_refused();
  if (!refused) return {};
  const std::string source = source_of(*table.find(refused->key), values);
  const bool blameless = source == from_default && !refused->other.empty();
  return (blameless ? source_of(*table.find(refused->other), values) : source) + ": " +
         refused->why;
}

std::vector<setting_report> list_settings(const settings& values) {
  settings copy = values;
  base::setting_table table;
  add_settings(table, copy);
  std::vector<setting_report> list;
  for (const base::setting& row : table.rows())
    list.push_back({std::string(row.key), to_text(row, value_of(row)), source_of(row, values)});
  return list;
}

std::string to_text(const std::vector<setting_report>& list) {
  std::size_t widest_key = 0;
  std::size_t widest_value = 0;
  for (const setting_report& r : list) {
    widest_key = std::max(widest_key, r.key.size());
    widest_value = std::max(widest_value, r.value.size());
  }
  std::string text;
  for (const setting_report& r : list)
    text.append(r.key)
        .append(widest_key + 2 - r.key.size(), ' ')
        .append(r.value)
        .append(widest_value + 2 - r.value.size(), ' ')
        .append(r.source)
        .append("\n");
  return text;
}

}  // namespace garrick::system
