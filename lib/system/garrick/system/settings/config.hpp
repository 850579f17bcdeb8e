// Configuration in layers: defaults < file (JSON) < environment (GARRICK_...) < command line.
//
// Every setting has one key, such as `mailbox.soft_limit`, in every layer:
//
//     {"mailbox": {"soft_limit": 2000}}   in the file of --config, GARRICK_CONFIG or the program
//     GARRICK_MAILBOX_SOFT_LIMIT=2000     in the environment
//     --mailbox.soft_limit=2000           on the command line
//
// Nothing is ignored: a misspelt key, a value of the wrong type or out of range is an error that
// names the key, its source (file:line, variable or argument) and, for a misspelt one, the nearest
// key. `--help` lists the keys, `--dump-config` writes the result as a file that can be read again.
// What comes after `--` belongs to the program. Lengths of time carry a unit: "50us", "1.5s".
//
// A program that never calls `load_config` links neither parser.
//
// Thread safety: call it once, from main.
//
// Example:
//
//     int clients = 10;
//     garrick::system::config_options mine;
//     mine.add("chat.clients", clients, "clients to start");
//     auto config = garrick::system::load_config_or_exit(argc, argv, &mine);
//     garrick::system::actor_system system(config.system);
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/values/result.hpp"
#include "garrick/system/settings/options.hpp"

namespace garrick::system {

enum class option_kind : std::uint8_t {
  boolean,  ///< bool: true, false
  count,    ///< std::uint32_t; "unlimited" where the largest value is allowed
  integer,  ///< std::int64_t
  real,     ///< double
  text,     ///< std::string, perhaps one of some choices
  time,     ///< base::duration, with a unit
};

/// One key and the variable that it sets.
struct option {
  std::string key;
  std::string help;
  option_kind kind;
  void* target;
  /// smallest number allowed; nanoseconds for a time
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();  ///< largest
  std::vector<std::string> choices{};                            ///< empty: any text
};

/// Keys of the program's own, of the form `section.name` in lower case letters, digits and
/// underscores. The variables must live until `load_config` returns; what they hold before is the
/// default; they change only if the whole configuration is valid.
class config_options {
 public:
  void add(std::string key, bool& target, std::string help);
  void add(std::string key, std::uint32_t& target, std::string help, std::uint32_t low = 0,
           std::uint32_t high = 0xffff'ffff);
  void add(std::string key, std::int64_t& target, std::string help,
           std::int64_t low = std::numeric_limits<std::int64_t>::min(),
           std::int64_t high = std::numeric_limits<std::int64_t>::max());
  void add(std::string key, double& target, std::string help);
  void add(std::string key, std::string& target, std::string help,
           std::vector<std::string> choices = {});
  void add(std::string key, base::duration& target, std::string help, base::duration low = {},
           base::duration high = base::duration::infinite());

  [[nodiscard]] const std::vector<option>& all() const noexcept { return all_; }

 private:
  void add(option o);
  std::vector<option> all_;
};

struct config {
  options system;  ///< for the actor system's constructor
  /// not empty: the command line asked for --help or --dump-config; print this and leave
  std::string print;
  std::vector<std::string> rest;  ///< the program's own arguments: what came after `--`
};

/// Where to look. The members may be filled by hand; `from_main` takes them from the process.
struct config_sources {
  std::string program = "program";  ///< for --help
  /// read if neither --config nor GARRICK_CONFIG names another; empty: none
  std::string file{};
  /// "NAME=value"; only names that begin with GARRICK_ are looked at
  std::vector<std::string> environment{};
  std::vector<std::string> arguments{};  ///< without the program's name
  config_options* own = nullptr;         ///< the program's own keys

  [[nodiscard]] static config_sources from_main(int argc, const char* const* argv);
};

/// The configuration, or an error `config_invalid` that says what to do.
[[nodiscard]] base::result<config> load_config(const config_sources& sources);

/// For main: reads everything; prints what --help or --dump-config ask for and exits with 0; prints
/// an error and exits with 2.
[[nodiscard]] config load_config_or_exit(int argc, const char* const* argv,
                                         config_options* own = nullptr);

}  // namespace garrick::system
