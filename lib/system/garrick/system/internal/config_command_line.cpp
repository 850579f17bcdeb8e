// The command line's layer.
#include <algorithm>

#include "garrick/system/internal/config_layers.hpp"

#if !defined(GARRICK_MINIMAL)
#include <CLI/CLI.hpp>
#endif

namespace garrick::system::internal {
namespace {

/// What comes after `--` is the program's; it is taken off here, so that no parser looks at it.
std::vector<std::string> take_rest(std::vector<std::string>& arguments) {
  const auto mark = std::ranges::find(arguments, "--");
  if (mark == arguments.end()) return {};
  std::vector<std::string> rest(mark + 1, arguments.end());
  arguments.erase(mark, arguments.end());
  return rest;
}

}  // namespace

#if defined(GARRICK_MINIMAL)

base::result<command_line> read_command_line(const config_sources& sources, const std::vector<option>&) {
  command_line found;
  std::vector<std::string> arguments = sources.arguments;
  found.rest = take_rest(arguments);
  if (!arguments.empty())
    return refuse("argument " + arguments.front(), "this build has no command line (GARRICK_MINIMAL): use the environment, and -- before the program's own");
  return found;
}

#else

namespace {

std::string describe(const option& o) {
  std::string text = o.help;
  if (!o.choices.empty()) {
    text += " (";
    for (const std::string& choice : o.choices) text += (&choice == &o.choices.front() ? "" : ", ") + choice;
    text += ")";
  }
  return text;
}

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

void add_option(CLI::App& app, const option& o, assignments& found) {
  const auto take = [&o, &found](const std::string& text) {
    found.push_back({o.key, {raw_value::kind::untyped, text}, "argument --" + o.key});
  };
  CLI::Option* added = app.add_option_function<std::string>("--" + o.key, take, describe(o));
  added->type_name(type_of(o.kind));
  added->group(o.key.substr(0, o.key.find('.')));
}

/// The first argument that the parser did not know.
base::error refuse_leftover(const std::string& argument, const std::vector<option>& table) {
  const std::string where = "argument " + argument.substr(0, argument.find('='));
  if (!argument.starts_with('-')) return refuse(where, "unexpected: the program's own arguments come after --");
  std::vector<std::string> keys{"help", "config", "dump-config"};
  for (const option& o : table) keys.push_back(o.key);
  const std::string name = argument.substr(argument.find_first_not_of('-') == std::string::npos ? 0 : argument.find_first_not_of('-'));
  return unknown_key(where, "option", name.substr(0, name.find('=')), "--", keys);
}

}  // namespace

base::result<command_line> read_command_line(const config_sources& sources, const std::vector<option>& table) {
  command_line found;
  std::vector<std::string> arguments = sources.arguments;
  found.rest = take_rest(arguments);

  CLI::App app("Settings may also come from a JSON file and from variables such as GARRICK_SCHEDULER_WORKERS.", sources.program);
  app.allow_extras();
  app.set_help_flag("-h,--help", "Show this and leave");
  app.add_option("--config", found.file, "Read settings from this JSON file")->type_name("FILE");
  app.add_flag("--dump-config", found.dump, "Write the settings as JSON and leave");
  for (const option& o : table) add_option(app, o, found.settings);
  try {
    std::ranges::reverse(arguments);  // as the parser wants them
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    found.help = app.help();
    return found;
  } catch (const CLI::ParseError& e) {
    return refuse("command line", e.what());
  }
  if (const std::vector<std::string> unknown = app.remaining(); !unknown.empty()) return refuse_leftover(unknown.front(), table);
  return found;
}

#endif

}  // namespace garrick::system::internal
