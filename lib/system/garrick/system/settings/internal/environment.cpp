#include "garrick/system/settings/internal/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "garrick/system/settings/internal/layered_values.hpp"
#include "garrick/system/settings/internal/names.hpp"

namespace garrick::system::internal {

namespace {

constexpr std::string_view variable_prefix = "GARRICK_";
constexpr std::string_view file_variable = "GARRICK_CONFIG";

/// Variables for tests. They are no settings, but may be set while a program under test loads its
/// settings.
constexpr std::array<std::string_view, 3> variables_of_tests{"GARRICK_SEED", "GARRICK_SEEDS",
                                                             "GARRICK_TORTURE"};

/// Names that programs have reserved, sorted. Never destroyed: a system may be made during the
/// process's exit.
struct reserved_names {
  std::mutex lock;
  std::vector<std::string> names;
};
reserved_names& reserved() {
  static auto* const all = new reserved_names;
  return *all;
}

[[noreturn]] void refuse_system(const base::error& why) {
  throw std::invalid_argument(std::string(why.detail()));
}

}  // namespace

std::vector<std::string> environment_of_process() {
  std::vector<std::string> entries;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry)
    if (std::string_view(*entry).starts_with(variable_prefix)) entries.emplace_back(*entry);
  return entries;
}

base::result<environment_layer> read_environment(const std::vector<std::string>& entries,
                                                 const base::setting_table& table,
                                                 const std::vector<std::string>& reserved_here) {
  environment_layer found;
  for (const std::string& entry : entries) {
    if (!entry.starts_with(variable_prefix)) continue;
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const std::string name = entry.substr(0, equals);
    const std::string value = equals < entry.size() ? entry.substr(equals + 1) : std::string();
    const std::string where = "environment variable " + name;
    if (name == file_variable) {
      if (value.empty()) return refuse(where, "it wants the name of a file, not an empty text");
      found.file = value;
      continue;
    }
    if (std::ranges::count(variables_of_tests, name) != 0) continue;
    const auto known = std::ranges::find_if(
        table.rows(), [&](const base::setting& row) { return variable_of(row.key) == name; });
    if (known == table.rows().end()) {
      if (std::ranges::count(reserved_here, name) != 0) continue;
      if (base::error e = refuse_absent_part(where, section_of_variable(name), keys_of(table)))
        return e;
      std::vector<std::string> names{std::string(file_variable)};
      for (const base::setting& row : table.rows()) names.push_back(variable_of(row.key));
      return unknown_key(where, "variable", name, "", names);
    }
    found.settings.push_back({std::string(known->key), {raw_value::kind::untyped, value}, where});
  }
  return found;
}

void reserve_variables(const base::setting_table& own) {
  reserved_names& all = reserved();
  const std::lock_guard guard(all.lock);
  all.names.emplace_back(file_variable);
  for (const base::setting& row : own.rows()) all.names.push_back(variable_of(row.key));
  std::ranges::sort(all.names);
  const auto repeated = std::ranges::unique(all.names);
  all.names.erase(repeated.begin(), repeated.end());
}

settings settings_of(const std::vector<std::string>& entries,
                     const std::vector<std::string>& reserved_here) {
  settings values;
  if (entries.empty()) return values;
  base::setting_table table;
  add_settings(table, values);
  const auto layer = read_environment(entries, table, reserved_here);
  if (!layer) refuse_system(layer.error());
  if (!layer->file.empty() && !std::ranges::binary_search(reserved_here, file_variable))
    refuse_system(refuse("environment variable " + std::string(file_variable),
                         "this program reads no file: it makes its system without load_settings"));
  layered_values found(table);
  if (auto taken = found.take_all(layer->settings); !taken) refuse_system(taken.error());
  if (auto written = found.write(); !written) refuse_system(written.error());
  values.loaded = without_defaults(found.report());
  return values;
}

settings settings_of_environment() {
  std::vector<std::string> names;
  {
    const std::lock_guard guard(reserved().lock);
    names = reserved().names;
  }
  return settings_of(environment_of_process(), names);
}

}  // namespace garrick::system::internal
