// Puts the layers together: which key sets what, whether a value fits, and what an error says.
//
// All layers are read and checked first; variables change only when everything is valid.
#include "garrick/system/settings/load.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "garrick/base/platform/assert.hpp"
#include "garrick/system/settings/internal/layers.hpp"

namespace garrick::system {

using base::result;
using base::setting;
using base::setting_kind;
using base::setting_table;
using base::setting_value;
using internal::assignment;
using internal::raw_value;

namespace {

// --- names ---

std::string section_of(std::string_view key) { return std::string(key.substr(0, key.find('.'))); }

std::string variable_of(std::string_view key) {
  std::string name = "GARRICK_";
  for (const char c : key)
    name += c == '.' ? '_' : (c >= 'a' && c <= 'z') ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

std::vector<std::string> keys_of(const setting_table& table) {
  std::vector<std::string> keys;
  for (const setting& row : table.rows()) keys.emplace_back(row.key);
  return keys;
}

/// "NET" of "GARRICK_NET_PORT", in lower case.
std::string section_of_variable(std::string_view name) {
  std::string section;
  for (const char c : name.substr(std::string_view("GARRICK_").size())) {
    if (c == '_') break;
    section += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return section;
}

// --- layers ---

/// Variables that are meant for tests. They set nothing here, but a program under test may load its
/// settings while they are set.
constexpr std::array<std::string_view, 3> variables_of_tests{"GARRICK_SEED", "GARRICK_SEEDS",
                                                             "GARRICK_TORTURE"};

struct environment_layer {
  internal::assignments settings;
  std::string file;
};

result<environment_layer> read_environment(const setting_layers& layers,
                                           const setting_table& table) {
  environment_layer found;
  for (const std::string& entry : layers.environment) {
    if (!entry.starts_with("GARRICK_")) continue;
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const std::string name = entry.substr(0, equals);
    const std::string value = equals < entry.size() ? entry.substr(equals + 1) : std::string();
    const std::string where = "environment variable " + name;
    if (name == "GARRICK_CONFIG") {
      if (value.empty())
        return internal::refuse(where, "it wants the name of a file, not an empty text");
      found.file = value;
      continue;
    }
    if (std::ranges::count(variables_of_tests, name) != 0) continue;
    const auto known = std::ranges::find_if(
        table.rows(), [&](const setting& row) { return variable_of(row.key) == name; });
    if (known == table.rows().end()) {
      if (base::error e =
              internal::refuse_absent_part(where, section_of_variable(name), keys_of(table)))
        return e;
      std::vector<std::string> names{"GARRICK_CONFIG"};
      for (const setting& row : table.rows()) names.push_back(variable_of(row.key));
      return internal::unknown_key(where, "variable", name, "", names);
    }
    found.settings.push_back({std::string(known->key), {raw_value::kind::untyped, value}, where});
  }
  return found;
}

/// JSON's type must be the setting's; text from other layers may be anything.
bool type_fits(const setting& row, const raw_value& value) {
  using kind = raw_value::kind;
  if (value.type == kind::untyped) return true;
  switch (row.target.kind()) {
    case setting_kind::boolean: return value.type == kind::boolean;
    case setting_kind::count:
      return value.type == kind::integer || (value.type == kind::text && value.text == "unlimited");
    case setting_kind::integer: return value.type == kind::integer;
    case setting_kind::real: return value.type == kind::integer || value.type == kind::real;
    case setting_kind::text:
    case setting_kind::choice:
    case setting_kind::time: return value.type == kind::text;
  }
  return false;
}

/// What the value is in JSON, for errors; text from other layers has no type.
std::string_view type_name(raw_value::kind type) {
  switch (type) {
    case raw_value::kind::boolean: return "boolean";
    case raw_value::kind::integer:
    case raw_value::kind::real: return "number";
    case raw_value::kind::text: return "text";
    default: return {};
  }
}

/// What every layer has set so far. A later layer wins over an earlier one.
class builder {
 public:
  explicit builder(const setting_table& table) : table_(table) {}

  /// Checks one setting and remembers it.
  [[nodiscard]] result<void> take(const assignment& a) {
    if (a.value.type == raw_value::kind::section) return take_section(a);
    const setting* const row = table_.find(a.key);
    if (row == nullptr) return no_such_key(a);
    if (!type_fits(*row, a.value))
      return internal::refuse(a.where, wrong_type(*row, a.value.text, type_name(a.value.type)).why);
    const auto value = parse(*row, a.value.text);
    if (!value) return internal::refuse(a.where, wrong_type(*row, a.value.text).why);
    if (const auto refused = check(*row, *value)) return internal::refuse(a.where, refused->why);
    found_[row->key] = {*value, a.where};
    return {};
  }

  [[nodiscard]] result<void> take_all(const internal::assignments& all) {
    for (const assignment& a : all)
      if (auto taken = take(a); !taken) return taken;
    return {};
  }

  /// Writes the variables: what no layer has set gets its default, whatever an earlier load has
  /// left there. Values that contradict each other are refused, and nothing changes.
  [[nodiscard]] result<void> write() const {
    std::vector<setting_value> before;
    for (const setting& row : table_.rows()) before.push_back(value_of(row));
    for (const setting& row : table_.rows()) {
      const auto found = found_.find(row.key);
      store(row, found == found_.end() ? table_.default_of(row) : found->second.first);
    }
    const auto refused = table_.first_refused();
    if (!refused) return {};
    for (std::size_t i = 0; i < before.size(); ++i) store(table_.rows()[i], before[i]);
    return internal::refuse(
        source_of(found_.contains(refused->key) ? refused->key : refused->other), refused->why);
  }

  /// Every key with its value, which `write` has written, and its source.
  [[nodiscard]] std::vector<setting_report> report() const {
    std::vector<setting_report> list;
    for (const setting& row : table_.rows())
      list.push_back(
          {std::string(row.key), to_text(row, value_of(row)), std::string(source_of(row.key))});
    return list;
  }

 private:
  [[nodiscard]] std::string_view source_of(std::string_view key) const {
    const auto found = found_.find(key);
    return found == found_.end() ? "default" : std::string_view(found->second.second);
  }

  [[nodiscard]] result<void> take_section(const assignment& a) const {
    if (table_.has_section(a.key)) return {};
    if (table_.find(a.key) != nullptr)
      return internal::refuse(a.where, "the key '" + a.key + "' wants a value, not a section");
    if (base::error e = internal::refuse_absent_part(a.where, a.key, keys_of(table_))) return e;
    std::vector<std::string> sections;
    for (const setting& row : table_.rows()) sections.push_back(section_of(row.key));
    return internal::unknown_key(a.where, "section", a.key, "", sections);
  }

  [[nodiscard]] result<void> no_such_key(const assignment& a) const {
    if (table_.has_section(a.key))
      return internal::refuse(
          a.where, "'" + a.key + "' is a section: { \"" + a.key + "\": { \"key\": value } }");
    const std::vector<std::string> keys = keys_of(table_);
    if (base::error e = internal::refuse_absent_part(a.where, section_of(a.key), keys)) return e;
    return internal::unknown_key(a.where, "key", a.key, "", keys);
  }

  const setting_table& table_;
  /// value and source by key
  std::map<std::string_view, std::pair<setting_value, std::string>> found_;
};

// --- what the table says in other forms ---

/// The text, which is UTF-8, with quotes and escapes as JSON has them.
std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
      quoted += escape.data();
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

/// All variables as a file that can be read again.
std::string dump(const setting_table& table) {
  std::map<std::string, std::vector<const setting*>> sections;
  for (const setting& row : table.rows()) sections[section_of(row.key)].push_back(&row);
  const auto json = [](const setting& row) {
    const setting_kind kind = row.target.kind();
    std::string text = to_text(row, value_of(row));
    const bool bare = kind == setting_kind::boolean || kind == setting_kind::real ||
                      kind == setting_kind::integer ||
                      (kind == setting_kind::count && text != "unlimited");
    return bare ? text : json_text(text);
  };
  std::string text = "{\n";
  for (const auto& [section, members] : sections) {
    text += "  \"" + section + "\": {\n";
    for (const setting* row : members)
      text += "    \"" + std::string(row->key.substr(section.size() + 1)) + "\": " + json(*row) +
              (row == members.back() ? "\n" : ",\n");
    text += section == sections.rbegin()->first ? "  }\n" : "  },\n";
  }
  return text + "}\n";
}

const char* type_of(setting_kind kind) {
  switch (kind) {
    case setting_kind::boolean: return "BOOL";
    case setting_kind::count:
    case setting_kind::integer: return "NUMBER";
    case setting_kind::real: return "REAL";
    case setting_kind::text:
    case setting_kind::choice: return "TEXT";
    case setting_kind::time: return "TIME";
  }
  return "";
}

std::vector<internal::argument> arguments_for(const setting_table& table) {
  std::vector<internal::argument> all;
  for (const setting& row : table.rows()) {
    const std::string initial = to_text(row, table.default_of(row));
    all.push_back({std::string(row.key),
                   std::string(row.help) + ": " + expectation(row) +
                       (initial.empty() ? "" : "; default " + initial),
                   type_of(row.target.kind())});
  }
  return all;
}

}  // namespace

// --- the whole ---

setting_layers setting_layers::from_main(int argc, const char* const* argv) {
  setting_layers layers;
  if (argc > 0) layers.program = argv[0];
  for (int i = 1; i < argc; ++i) layers.arguments.emplace_back(argv[i]);
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry)
    layers.environment.emplace_back(*entry);
  return layers;
}

result<loaded_settings> load_settings(const setting_layers& layers) {
  loaded_settings out;
  setting_table table;
  add_settings(table, out.system);
  if (layers.own != nullptr) table.add_all(*layers.own);
  for (const setting& row : table.rows()) {
    const auto refused = check(row, table.default_of(row));
    GARRICK_ASSERT(!refused, ("a default is not in its range: " + refused->why).c_str());
  }

  auto line = internal::read_command_line(layers.program, layers.arguments, arguments_for(table));
  if (!line) return line.error();
  out.rest = std::move(line->rest);
  if (!line->help.empty()) {
    out.print = std::move(line->help);
    return out;
  }
  auto environment = read_environment(layers, table);
  if (!environment) return environment.error();

  builder build(table);
  std::string file = !line->file.empty() ? line->file : environment->file;
  if (file.empty()) file = layers.file;
  if (!file.empty()) {
    auto json = internal::read_json(file);
    if (!json) return json.error();
    if (auto taken = build.take_all(*json); !taken) return taken.error();
  }
  if (auto taken = build.take_all(environment->settings); !taken) return taken.error();
  if (auto taken = build.take_all(line->settings); !taken) return taken.error();
  if (auto written = build.write(); !written) return written.error();

  out.list = build.report();
  for (const setting_report& r : out.list)
    if (r.source != "default") out.system.loaded.push_back(r);
  if (line->dump) out.print = dump(table);
  if (line->list) out.print = to_text(out.list);
  return out;
}

loaded_settings load_settings_or_exit(int argc, const char* const* argv, const setting_table* own) {
  setting_layers layers = setting_layers::from_main(argc, argv);
  layers.own = own;
  auto loaded = load_settings(layers);
  if (!loaded) {
    std::fprintf(stderr, "%s: %s\n", layers.program.c_str(), loaded.error().to_string().c_str());
    std::exit(2);
  }
  if (!loaded->print.empty()) {
    const bool written = std::fputs(loaded->print.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
    if (!written) {
      const std::string why = std::generic_category().message(errno);
      std::fprintf(stderr, "%s: the output is incomplete: %s\n", layers.program.c_str(),
                   why.c_str());
    }
    std::exit(written ? 0 : 1);
  }
  return *std::move(loaded);
}

}  // namespace garrick::system
