// The command line's layer.
//
// CLI11 writes the help. The arguments are parsed here, since CLI11 accepts no empty text, splits a
// text in brackets, and has other error messages.
#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "garrick/system/settings/internal/layers.hpp"

#if !defined(GARRICK_MINIMAL)
#include <CLI/CLI.hpp>
#endif

namespace garrick::system::internal {
namespace {

/// Removes and returns the arguments after `--`, which belong to the program and are not parsed.
std::vector<std::string> take_rest(std::vector<std::string>& arguments) {
  const auto mark = std::ranges::find(arguments, "--");
  if (mark == arguments.end()) return {};
  std::vector<std::string> rest(mark + 1, arguments.end());
  arguments.erase(mark, arguments.end());
  return rest;
}

}  // namespace

#if defined(GARRICK_MINIMAL)

base::result<command_line> read_command_line(const std::string&, std::vector<std::string> arguments,
                                             const std::vector<argument>&) {
  command_line found;
  found.rest = take_rest(arguments);
  if (!arguments.empty())
    return refuse("argument " + arguments.front(),
                  "this build has no command line (GARRICK_MINIMAL): use the environment, and -- "
                  "before the program's own");
  return found;
}

#else

namespace {

std::string help_of(const std::string& program, const std::vector<argument>& known) {
  CLI::App app(
      "Settings may also come from a JSON file and from variables such as "
      "GARRICK_SCHEDULER_WORKERS.",
      program);
  app.set_help_flag("-h,--help", "Show this and leave");
  app.add_option("--config", "Read settings from this JSON file")->type_name("FILE");
  app.add_flag("--print-settings")
      ->description("Print each setting, its value and its source, and leave");
  app.add_flag("--dump-config")->description("Write the settings as JSON and leave");
  for (const argument& o : known)
    app.add_option("--" + o.key, o.help)
        ->type_name(o.type)
        ->group(o.key.substr(0, o.key.find('.')));
  return app.help();
}

/// Returns the refusal of an argument that is not an option.
base::error refuse_unknown(const std::string& text, const std::vector<argument>& known) {
  const std::string where = "argument " + text.substr(0, text.find('='));
  const std::size_t begin = text.find_first_not_of('-');
  if (begin == 0 || begin == std::string::npos)
    return refuse(where, "unexpected: the program's own arguments come after --");
  std::vector<std::string> keys{"help", "config", "print-settings", "dump-config"};
  for (const argument& o : known) keys.push_back(o.key);
  const std::string name = text.substr(begin, text.find('=') - begin);
  if (std::ranges::count(keys, name) != 0)
    return refuse(where, "an option begins with two dashes: --" + name);
  if (base::error e = refuse_absent_part(where, name.substr(0, name.find('.')), keys)) return e;
  return unknown_key(where, "option", text.substr(0, text.find('=')), "--", keys);
}

}  // namespace

base::result<command_line> read_command_line(const std::string& program,
                                             std::vector<std::string> arguments,
                                             const std::vector<argument>& known) {
  command_line found;
  found.rest = take_rest(arguments);
  std::set<std::string, std::less<>> seen;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& text = arguments[i];
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::string where = "argument " + name;
    if (name == "-h" || name == "--help") {
      if (equals != text.npos) return refuse(where, "it takes no value");
      found.help = help_of(program, known);
      return found;
    }
    const bool flag = name == "--print-settings" || name == "--dump-config";
    const auto option =
        std::ranges::find_if(known, [&](const argument& o) { return name == "--" + o.key; });
    if (!flag && name != "--config" && option == known.end()) return refuse_unknown(text, known);
    if (!seen.insert(name).second) return refuse(where, "it is there twice");
    if (flag) {
      if (equals != text.npos) return refuse(where, "it takes no value");
      (name == "--dump-config" ? found.dump : found.list) = true;
      continue;
    }
    // `--key=value` or `--key value`; in the second form the value must not begin with `--`, so
    // that a forgotten value is noticed
    const bool separate = equals == text.npos;
    if (separate && (i + 1 == arguments.size() || arguments[i + 1].starts_with("--")))
      return refuse(where, "its value is missing: " + name + "=VALUE");
    std::string value = separate ? arguments[++i] : text.substr(equals + 1);
    if (option != known.end())
      found.settings.push_back({option->key, {raw_value::kind::untyped, std::move(value)}, where});
    else if (value.empty())
      return refuse(where, "it wants the name of a file, not an empty text");
    else
      found.file = std::move(value);
  }
  return found;
}

#endif

}  // namespace garrick::system::internal
