// Puts the layers together: which key sets what, whether a value fits, and what an error says.
//
// All layers are read and checked first; variables change only when everything is valid.
#include "garrick/system/settings/config.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>

#include "garrick/base/platform/assert.hpp"
#include "garrick/base/types/print.hpp"
#include "garrick/sched/shipped_policies.hpp"
#include "garrick/system/settings/internal/config_layers.hpp"

namespace garrick::system {

using base::duration;
using base::errc;
using base::result;
using internal::assignment;
using internal::raw_value;

// --- keys ---

void config_options::add(std::string key, bool& target, std::string help) {
  add(option{std::move(key), std::move(help), option_kind::boolean, &target});
}
void config_options::add(std::string key, std::uint32_t& target, std::string help,
                         std::uint32_t low, std::uint32_t high) {
  add(option{std::move(key), std::move(help), option_kind::count, &target, low, high});
}
void config_options::add(std::string key, std::int64_t& target, std::string help, std::int64_t low,
                         std::int64_t high) {
  add(option{std::move(key), std::move(help), option_kind::integer, &target, low, high});
}
void config_options::add(std::string key, double& target, std::string help) {
  add(option{std::move(key), std::move(help), option_kind::real, &target});
}
void config_options::add(std::string key, std::string& target, std::string help,
                         std::vector<std::string> choices) {
  option o{std::move(key), std::move(help), option_kind::text, &target};
  o.choices = std::move(choices);
  add(std::move(o));
}
void config_options::add(std::string key, duration& target, std::string help, duration low,
                         duration high) {
  add(option{std::move(key), std::move(help), option_kind::time, &target, low.count(),
             high.count()});
}

void config_options::add(option o) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  GARRICK_ASSERT(std::ranges::all_of(o.key, fits) && std::ranges::count(o.key, '.') == 1 &&
                     o.key.front() != '.' && o.key.back() != '.',
                 "a key has the form section.name, in lower case letters, digits and underscores");
  GARRICK_ASSERT(
      std::ranges::none_of(all_, [&](const option& other) { return other.key == o.key; }),
      "this key exists already");
  all_.push_back(std::move(o));
}

namespace {

constexpr std::uint32_t unlimited = 0xffff'ffff;

/// In the order of the enumeration.
constexpr std::array<const char*, 5> log_levels{"debug", "info", "warning", "error", "off"};

/// The system's settings in the form in which they are configured.
struct settings {
  options system;
  duration idle_spin = duration::microseconds(system.idle_spin_us);
  duration full_wait = duration::nanoseconds(system.limits.full_wait_ns);
  std::string log_level = log_levels[static_cast<std::size_t>(system.log)];

  [[nodiscard]] options take() const;
};

options settings::take() const {
  options out = system;
  out.idle_spin_us = static_cast<std::uint32_t>(idle_spin.count() / 1000);
  out.limits.full_wait_ns = full_wait.count();
  const auto level = std::ranges::find(log_levels, log_level);
  out.log = static_cast<enum log_level>(level - log_levels.begin());
  return out;
}

/// The names of the policies that this build contains.
std::vector<std::string> available_policies() {
  std::vector<std::string> names;
  for (const sched::shipped_policy& policy : sched::shipped_policies())
    if (policy.is_available()) names.emplace_back(policy.name);
  return names;
}

/// Every key of the system itself.
void add_system_keys(config_options& table, settings& s) {
  options& o = s.system;
  table.add("scheduler.policy", o.policy, "How workers share work", available_policies());
  table.add("scheduler.workers", o.workers,
            "Worker threads; 0: as many as the process may use cores", 0, 1024);
  table.add("scheduler.quantum", o.limits.quantum,
            "Messages that an actor handles at most before others have their turn", 1, unlimited);
  table.add("scheduler.idle_spin", s.idle_spin, "How long a worker looks for work before it sleeps",
            {}, duration::seconds(1));
  table.add("scheduler.best_effort", o.best_effort,
            "Go on with fewer workers if some threads cannot be created, or unbound");
  table.add("scheduler.affinity", o.affinity,
            "Processors of worker threads, group by group: \"<0> <2-4> <1,5>\"");
  table.add("scheduler.pin", o.pin, "Where a worker thread stays",
            {"automatic", "unit", "cache", "node", "system"});
  table.add("scheduler.neighbours", o.neighbours,
            "Who is near, for locality_guided: who shares this", {"cache", "node", "system"});
  table.add("scheduler.thread_name", o.thread_name,
            "Name of the worker threads, before their number");
  table.add("mailbox.soft_limit", o.limits.soft_limit,
            "Messages in a mailbox above which senders are slowed", 1, 32'000);
  table.add("mailbox.hard_limit", o.limits.hard_limit,
            "Messages above which new ones become dead letters", 1, unlimited);
  table.add("mailbox.in_place", o.limits.in_place,
            "A sending worker may run a receiver that is full");
  table.add("mailbox.in_place_batch", o.limits.in_place_batch, "Messages that it runs at most", 1,
            unlimited);
  table.add("mailbox.full_wait", s.full_wait,
            "Longest wait of a send for a full receiver that makes no progress", {},
            duration::seconds(60));
  table.add("requests.outstanding_limit", o.limits.outstanding_limit,
            "Requests of one actor that wait for a response", 1, unlimited);
  table.add("requests.detect_cycles", o.limits.detect_request_cycles,
            "Report actors that wait for each other in a circle");
  table.add("detached.threads", o.detached_threads,
            "Threads for detached and blocking actors at most", 0, 1'000'000);
  table.add("detached.affinity", o.affinity_detached,
            "Processors of the threads of detached actors, group by group");
  table.add("detached.affinity_blocking", o.affinity_blocking,
            "Processors of the threads of blocking actors, group by group");
  table.add("dead_letters.backlog", o.dead_letter_backlog,
            "Dead letters that may wait for a subscriber; more are only counted", 1, unlimited);
  table.add("watchdog.after", o.watchdog_after, "Report a handler that runs longer; 0s: never");
  table.add("watchdog.report_stack_overflow", o.report_stack_overflow,
            "Name the actor whose handler overflowed the stack");
  table.add("shutdown.deadline", o.shutdown_deadline,
            "How long the end of the system waits for its actors");
  table.add("log.level", s.log_level, "What is logged", {log_levels.begin(), log_levels.end()});
}

// --- values ---

/// A value that has been checked; which member counts is the option's kind.
struct checked_value {
  bool boolean = false;
  std::int64_t number = 0;  // nanoseconds for a time
  double real = 0;
  std::string text;
};

template <class N>
std::optional<N> parse_number(std::string_view text) {
  N value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::optional<duration> parse_time(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 7> units{
      {{"ns", 1},
       {"us", 1000},
       {"ms", 1'000'000},
       {"s", 1'000'000'000},
       {"min", 60'000'000'000},
       {"h", 3'600'000'000'000},
       {"d", 86'400'000'000'000}}};
  if (text == "infinite") return duration::infinite();
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = parse_number<double>(text.substr(0, digits));
  std::string_view unit = text.substr(digits);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const auto known =
      std::ranges::find(units, unit, &std::pair<std::string_view, std::int64_t>::first);
  if (!number || known == units.end()) return {};
  if (const auto whole = parse_number<std::int64_t>(text.substr(0, digits)))
    return duration::nanoseconds(1) * known->second * *whole;
  const double ns = *number * static_cast<double>(known->second);
  return ns < 9e18 ? duration::nanoseconds(static_cast<std::int64_t>(ns)) : duration::infinite();
}

std::string limit_text(const option& o, std::int64_t limit) {
  if (o.kind == option_kind::time) return duration::nanoseconds(limit).to_string();
  if (o.kind == option_kind::count && limit == unlimited) return "unlimited";
  return std::to_string(limit);
}

std::string list(const std::vector<std::string>& choices) {
  std::string text;
  for (const std::string& choice : choices) text += (text.empty() ? "" : ", ") + choice;
  return text;
}

/// What the key wants, for an error.
std::string expectation(const option& o) {
  switch (o.kind) {
    case option_kind::boolean: return "true or false";
    case option_kind::count:
      return "a whole number from " + limit_text(o, o.low) + " to " + limit_text(o, o.high);
    case option_kind::integer:
      return "a whole number from " + limit_text(o, o.low) + " to " + limit_text(o, o.high);
    case option_kind::real: return "a number";
    case option_kind::time:
      return "a time with a unit, such as \"50ms\", from " + limit_text(o, o.low) + " to " +
             limit_text(o, o.high);
    case option_kind::text: break;
  }
  return o.choices.empty() ? "text" : "one of " + list(o.choices);
}

/// JSON's type must be the key's; text from other layers may be anything.
bool type_fits(const option& o, const raw_value& value) {
  using kind = raw_value::kind;
  if (value.type == kind::untyped) return true;
  switch (o.kind) {
    case option_kind::boolean: return value.type == kind::boolean;
    case option_kind::count:
      return value.type == kind::integer || (value.type == kind::text && value.text == "unlimited");
    case option_kind::integer: return value.type == kind::integer;
    case option_kind::real: return value.type == kind::integer || value.type == kind::real;
    case option_kind::text:
    case option_kind::time: return value.type == kind::text;
  }
  return false;
}

std::optional<checked_value> check(const option& o, const raw_value& value) {
  if (!type_fits(o, value)) return {};
  checked_value out;
  switch (o.kind) {
    case option_kind::boolean:
      out.boolean = value.text == "true";
      return out.boolean || value.text == "false" ? std::optional(out) : std::nullopt;
    case option_kind::real: {
      const auto number = parse_number<double>(value.text);
      out.real = number.value_or(0);
      return number ? std::optional(out) : std::nullopt;
    }
    case option_kind::text:
      out.text = value.text;
      return o.choices.empty() || std::ranges::count(o.choices, value.text) != 0
                 ? std::optional(out)
                 : std::nullopt;
    case option_kind::count:
    case option_kind::integer: {
      const bool no_limit = o.kind == option_kind::count && value.text == "unlimited";
      const auto number = no_limit ? std::optional<std::int64_t>(unlimited)
                                   : parse_number<std::int64_t>(value.text);
      if (!number || *number < o.low || *number > o.high) return {};
      out.number = *number;
      return out;
    }
    case option_kind::time: {
      const auto time = parse_time(value.text);
      if (!time || time->count() < o.low || time->count() > o.high) return {};
      out.number = time->count();
      return out;
    }
  }
  return {};
}

void store(const option& o, const checked_value& value) {
  switch (o.kind) {
    case option_kind::boolean: *static_cast<bool*>(o.target) = value.boolean; return;
    case option_kind::count:
      *static_cast<std::uint32_t*>(o.target) = static_cast<std::uint32_t>(value.number);
      return;
    case option_kind::integer: *static_cast<std::int64_t*>(o.target) = value.number; return;
    case option_kind::real: *static_cast<double*>(o.target) = value.real; return;
    case option_kind::text: *static_cast<std::string*>(o.target) = value.text; return;
    case option_kind::time:
      *static_cast<duration*>(o.target) = duration::nanoseconds(value.number);
      return;
  }
}

/// The variable's value as JSON.
std::string show(const option& o) {
  switch (o.kind) {
    case option_kind::boolean: return *static_cast<const bool*>(o.target) ? "true" : "false";
    case option_kind::count: return std::to_string(*static_cast<const std::uint32_t*>(o.target));
    case option_kind::integer: return std::to_string(*static_cast<const std::int64_t*>(o.target));
    case option_kind::real: return base::to_string(*static_cast<const double*>(o.target));
    case option_kind::text: return base::to_string(*static_cast<const std::string*>(o.target));
    case option_kind::time: return '"' + static_cast<const duration*>(o.target)->to_string() + '"';
  }
  return {};
}

// --- layers ---

std::string variable_of(std::string_view key) {
  std::string name = "GARRICK_";
  for (const char c : key)
    name += c == '.' ? '_' : (c >= 'a' && c <= 'z') ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

struct environment_layer {
  internal::assignments settings;
  std::string file;
};

result<environment_layer> read_environment(const config_sources& sources,
                                           const std::vector<option>& table) {
  environment_layer found;
  for (const std::string& entry : sources.environment) {
    if (!entry.starts_with("GARRICK_")) continue;
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const std::string name = entry.substr(0, equals);
    const std::string value = equals < entry.size() ? entry.substr(equals + 1) : std::string();
    if (name == "GARRICK_CONFIG") {
      found.file = value;
      continue;
    }
    const std::string where = "environment variable " + name;
    const auto known =
        std::ranges::find_if(table, [&](const option& o) { return variable_of(o.key) == name; });
    if (known == table.end()) {
      std::vector<std::string> names{"GARRICK_CONFIG"};
      for (const option& o : table) names.push_back(variable_of(o.key));
      return internal::unknown_key(where, "variable", name, "", names);
    }
    found.settings.push_back({known->key, {raw_value::kind::untyped, value}, where});
  }
  return found;
}

/// The table of keys, and what each layer has set so far.
class builder {
 public:
  explicit builder(const config_options* own) {
    add_system_keys(keys_, settings_);
    table_ = keys_.all();
    if (own == nullptr) return;
    for (const option& o : own->all()) {
      GARRICK_ASSERT(find(o.key) == table_.end(),
                     "a key of the program has the name of one of the system's");
      table_.push_back(o);
    }
  }
  builder(const builder&) = delete;
  builder& operator=(const builder&) = delete;

  [[nodiscard]] const std::vector<option>& table() const noexcept { return table_; }

  /// Checks one setting and lets it win over earlier ones.
  [[nodiscard]] result<void> take(const assignment& a) {
    const auto known = find(a.key);
    if (a.value.type == raw_value::kind::section) return take_section(a);
    if (known == table_.end()) return no_such_key(a);
    const auto value = check(*known, a.value);
    if (!value)
      return internal::refuse(a.where, "the key '" + a.key + "' wants " + expectation(*known) +
                                           ", not '" + a.value.text + "'");
    const auto index = static_cast<std::size_t>(known - table_.begin());
    values_[index] = *value;
    sources_[a.key] = a.where;
    return {};
  }

  [[nodiscard]] result<void> take_all(const internal::assignments& all) {
    for (const assignment& a : all)
      if (auto taken = take(a); !taken) return taken;
    return {};
  }

  /// Changes the variables, the system's first: they are ours and may still be refused together.
  [[nodiscard]] result<options> finish() {
    const std::size_t ours = keys_.all().size();
    for (const auto& [index, value] : values_)
      if (index < ours) store(table_[index], value);
    const options out = settings_.take();
    if (out.limits.hard_limit < out.limits.soft_limit)
      return internal::refuse(
          sources_.contains("mailbox.hard_limit") ? sources_["mailbox.hard_limit"]
                                                  : sources_["mailbox.soft_limit"],
          "the key 'mailbox.hard_limit' must not be below 'mailbox.soft_limit'");
    for (const auto& [index, value] : values_)
      if (index >= ours) store(table_[index], value);
    return out;
  }

  /// All variables, as a file that can be read again.
  [[nodiscard]] std::string dump() const {
    std::map<std::string, std::vector<const option*>> sections;
    for (const option& o : table_) sections[o.key.substr(0, o.key.find('.'))].push_back(&o);
    std::string text = "{\n";
    for (const auto& [section, members] : sections) {
      text += "  \"" + section + "\": {\n";
      for (const option* o : members)
        text += "    \"" + o->key.substr(section.size() + 1) + "\": " + show(*o) +
                (o == members.back() ? "\n" : ",\n");
      text += section == sections.rbegin()->first ? "  }\n" : "  },\n";
    }
    return text + "}\n";
  }

 private:
  [[nodiscard]] std::vector<option>::const_iterator find(std::string_view key) const {
    return std::ranges::find(table_, key, &option::key);
  }

  [[nodiscard]] std::vector<std::string> all_keys() const {
    std::vector<std::string> keys;
    for (const option& o : table_) keys.push_back(o.key);
    return keys;
  }

  [[nodiscard]] bool is_section(std::string_view key) const {
    return std::ranges::any_of(table_, [&](const option& o) {
      return o.key.starts_with(key) && o.key.substr(key.size()).starts_with('.');
    });
  }

  [[nodiscard]] result<void> take_section(const assignment& a) const {
    if (is_section(a.key)) return {};
    if (find(a.key) != table_.end())
      return internal::refuse(a.where, "the key '" + a.key + "' wants a value, not a section");
    std::vector<std::string> sections;
    for (const option& o : table_) sections.push_back(o.key.substr(0, o.key.find('.')));
    return internal::unknown_key(a.where, "section", a.key, "", sections);
  }

  [[nodiscard]] result<void> no_such_key(const assignment& a) const {
    if (is_section(a.key))
      return internal::refuse(
          a.where, "'" + a.key + "' is a section: { \"" + a.key + "\": { \"key\": value } }");
    return internal::unknown_key(a.where, "key", a.key, "", all_keys());
  }

  settings settings_;
  config_options keys_;
  std::vector<option> table_;
  std::map<std::size_t, checked_value> values_;  // by index in the table
  std::map<std::string, std::string> sources_;   // by key: who set it last
};

}  // namespace

// --- the whole ---

namespace {

const char* type_of(option_kind kind) {
  switch (kind) {
    case option_kind::boolean: return "BOOL";
    case option_kind::count:
    case option_kind::integer: return "NUMBER";
    case option_kind::real: return "REAL";
    case option_kind::text: return "TEXT";
    case option_kind::time: return "TIME";
  }
  return "";
}

std::vector<internal::argument> arguments_for(const std::vector<option>& table) {
  std::vector<internal::argument> all;
  for (const option& o : table) {
    std::string help = o.help;
    if (!o.choices.empty()) help += " (" + list(o.choices) + ")";
    all.push_back({o.key, std::move(help), type_of(o.kind)});
  }
  return all;
}

}  // namespace

config_sources config_sources::from_main(int argc, const char* const* argv) {
  config_sources sources;
  if (argc > 0) sources.program = argv[0];
  for (int i = 1; i < argc; ++i) sources.arguments.emplace_back(argv[i]);
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry)
    sources.environment.emplace_back(*entry);
  return sources;
}

result<config> load_config(const config_sources& sources) {
  builder build(sources.own);
  auto line =
      internal::read_command_line(sources.program, sources.arguments, arguments_for(build.table()));
  if (!line) return line.error();
  config out;
  out.rest = line->rest;
  if (!line->help.empty()) {
    out.print = line->help;
    return out;
  }
  auto environment = read_environment(sources, build.table());
  if (!environment) return environment.error();

  std::string file = !line->file.empty() ? line->file : environment->file;
  if (file.empty()) file = sources.file;
  if (!file.empty()) {
    auto json = internal::read_json(file);
    if (!json) return json.error();
    if (auto taken = build.take_all(*json); !taken) return taken.error();
  }
  if (auto taken = build.take_all(environment->settings); !taken) return taken.error();
  if (auto taken = build.take_all(line->settings); !taken) return taken.error();

  auto system = build.finish();
  if (!system) return system.error();
  out.system = *std::move(system);
  if (line->dump) out.print = build.dump();
  return out;
}

config load_config_or_exit(int argc, const char* const* argv, config_options* own) {
  config_sources sources = config_sources::from_main(argc, argv);
  sources.own = own;
  auto loaded = load_config(sources);
  if (!loaded) {
    std::fprintf(stderr, "%s: %s\n", sources.program.c_str(), loaded.error().to_string().c_str());
    std::exit(2);
  }
  if (!loaded->print.empty()) {
    std::fputs(loaded->print.c_str(), stdout);
    std::exit(0);
  }
  return *std::move(loaded);
}

}  // namespace garrick::system
