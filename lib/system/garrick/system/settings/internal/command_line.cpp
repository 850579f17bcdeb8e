// The command line's layer.
#include <algorithm>

#include "garrick/system/settings/internal/layers.hpp"

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

void add_option(CLI::App& app, const argument& o, assignments& found) {
  const auto take = [&o, &found](const std::string& text) {
    found.push_back({o.key, {raw_value::kind::untyped, text}, "argument --" + o.key});
  };
  CLI::Option* added = app.add_option_function<std::string>("--" + o.key, take, o.help);
  added->type_name(o.type);
  added->group(o.key.substr(0, o.key.find('.')));
}

/// The first argument that the parser did not know.
base::error refuse_leftover(const std::string& leftover, const std::vector<argument>& known) {
  const std::string where = "argument " + leftover.substr(0, leftover.find('='));
  const std::size_t begin = leftover.find_first_not_of('-');
  if (begin == 0 || begin == std::string::npos)
    return refuse(where, "unexpected: the program's own arguments come after --");
  std::vector<std::string> keys{"help", "config", "print-settings", "dump-config"};
  for (const argument& o : known) keys.push_back(o.key);
  const std::string name = leftover.substr(begin, leftover.find('=') - begin);
  if (base::error e = refuse_absent_part(where, name.substr(0, name.find('.')), keys)) return e;
  return unknown_key(where, "option", name, "--", keys);
}

}  // namespace

base::result<command_line> read_command_line(const std::string& program,
                                             std::vector<std::string> arguments,
                                             const std::vector<argument>& known) {
  command_line found;
  found.rest = take_rest(arguments);

  CLI::App app(
      "Settings may also come from a JSON file and from variables such as "
      "GARRICK_SCHEDULER_WORKERS.",
      program);
  app.allow_extras();
  app.set_help_flag("-h,--help", "Show this and leave");
  app.add_option("--config", found.file, "Read settings from this JSON file")->type_name("FILE");
  app.add_flag("--print-settings", found.list, "Say what each setting is and why, and leave");
  app.add_flag("--dump-config", found.dump, "Write the settings as JSON and leave");
  for (const argument& o : known) add_option(app, o, found.settings);
  try {
    std::ranges::reverse(arguments);  // as the parser wants them
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    found.help = app.help();
    return found;
  } catch (const CLI::ParseError& e) { return refuse("command line", e.what()); }
  if (const std::vector<std::string> unknown = app.remaining(); !unknown.empty())
    return refuse_leftover(unknown.front(), known);
  return found;
}

#endif

}  // namespace garrick::system::internal
