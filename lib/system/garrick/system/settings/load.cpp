// Puts the layers together. All of them are read and checked first; variables change only when all
// values are valid.
#include "garrick/system/settings/load.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <system_error>
#include <utility>

#include "garrick/base/platform/assert.hpp"
#include "garrick/system/settings/internal/environment.hpp"
#include "garrick/system/settings/internal/layered_values.hpp"
#include "garrick/system/settings/internal/layers.hpp"
#include "garrick/system/settings/internal/names.hpp"

namespace garrick::system {

using base::result;
using base::setting;
using base::setting_kind;
using base::setting_table;

namespace {

// --- the table in other forms ---

/// Returns the text, which is UTF-8, with quotes and escapes as JSON has them.
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

/// Returns all variables as a file that can be read again.
std::string dump(const setting_table& table) {
  std::map<std::string, std::vector<const setting*>> sections;
  for (const setting& row : table.rows()) sections[internal::section_of(row.key)].push_back(&row);
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
  layers.environment = internal::environment_of_process();
  return layers;
}

result<loaded_settings> load_settings(const setting_layers& layers) {
  loaded_settings out;
  setting_table table;
  add_settings(table, out.system);
  if (layers.own != nullptr) table.add_all(*layers.own);
  internal::reserve_variables(table);
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
  auto environment = internal::read_environment(layers.environment, table);
  if (!environment) return environment.error();

  internal::layered_values found(table);
  std::string file = !line->file.empty() ? line->file : environment->file;
  if (file.empty()) file = layers.file;
  if (!file.empty()) {
    auto json = internal::read_json(file);
    if (!json) return json.error();
    if (auto taken = found.take_all(*json); !taken) return taken.error();
  }
  if (auto taken = found.take_all(environment->settings); !taken) return taken.error();
  if (auto taken = found.take_all(line->settings); !taken) return taken.error();
  if (auto written = found.write(); !written) return written.error();

  out.list = found.report();
  out.system.loaded = internal::without_defaults(out.list);
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
