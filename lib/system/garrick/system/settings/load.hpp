// Settings in layers: defaults < file (JSON) < environment (GARRICK_...) < command line.
//
// Every setting has one key, such as `mailbox.soft_limit`, in every layer:
//
//     {"mailbox": {"soft_limit": 2000}}          in a file
//     GARRICK_MAILBOX_SOFT_LIMIT=2000            in the environment
//     --mailbox.soft_limit=2000                  on the command line
//
// The option --config names the file; without it, the variable GARRICK_CONFIG does; without both,
// the program does.
//
// No mistake is ignored: a misspelt key, a value of the wrong type or out of range, and a key of a
// part that the program does not use are errors. The error names the key, its source (file:line,
// variable or argument), its requirement and, for a misspelt key, the nearest key. `--help` lists
// the keys, `--print-settings` their values and sources, `--dump-config` writes the values as a
// file that can be read again. Arguments after `--` belong to the program. Lengths of time carry a
// unit: "50us", "1.5 s".
//
// A program that never calls `load_settings` links neither the JSON parser nor that of the command
// line.
//
// Thread safety: call it once, from main.
//
// Example:
//
//     std::uint32_t clients = 10;
//     garrick::base::setting_table mine;
//     mine.add({"chat.clients", &clients, {1, 1000}, "clients", "How many are started"});
//     auto loaded = garrick::system::load_settings_or_exit(argc, argv, &mine);
//     garrick::actor_system system(loaded.system);
#pragma once

#include <string>
#include <vector>

#include "garrick/base/settings/setting_table.hpp"
#include "garrick/base/values/result.hpp"
#include "garrick/system/settings/settings.hpp"

namespace garrick::system {

/// The sources of settings. The members may be filled by hand; `from_main` takes them from the
/// process.
struct setting_layers {
  std::string program = "program";  ///< for --help
  /// the file to read if neither --config nor GARRICK_CONFIG names another, at most 1 MiB; empty:
  /// none
  std::string file{};
  /// "NAME=value"; only names that begin with GARRICK_ are looked at
  std::vector<std::string> environment{};
  std::vector<std::string> arguments{};  ///< without the program's name
  /// The keys of the program, and of the parts that it uses besides the system: each part has an
  /// `add_settings` for its keys. The variables change only if all values are valid. A variable
  /// that no layer sets then gets its default, which is its value when its row was added.
  const base::setting_table* own = nullptr;

  /// Returns the process's arguments and environment, and no file.
  [[nodiscard]] static setting_layers from_main(int argc, const char* const* argv);
};

/// The result of a load.
struct loaded_settings {
  settings system;  ///< for the actor system's constructor
  /// every key, the program's own last
  std::vector<setting_report> list;
  /// not empty: the command line had --help, --print-settings or --dump-config; print this text and
  /// exit
  std::string print;
  std::vector<std::string> rest;  ///< the program's own arguments: those after `--`
};

/// Reads and checks all layers, then fills the variables of `layers.own`. Returns the settings, or
/// the error `errc::invalid_setting` with the place, the mistake and the remedy; after an error no
/// variable has changed. Reads the file, so it may block. The defaults of `layers.own` must be in
/// their ranges.
[[nodiscard]] base::result<loaded_settings> load_settings(const setting_layers& layers);

/// For main: reads all layers and returns the settings. If the command line asks for a text, prints
/// it and exits with 0, or with 1 if it cannot be written. On an error, prints it and exits with 2.
[[nodiscard]] loaded_settings load_settings_or_exit(int argc, const char* const* argv,
                                                    const base::setting_table* own = nullptr);

}  // namespace garrick::system
