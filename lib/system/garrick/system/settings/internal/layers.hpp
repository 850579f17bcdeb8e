// The parts that the layers share: settings as they were found, before they are checked; the
// refusals; and the readers of the file and of the command line.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "garrick/base/values/result.hpp"

namespace garrick::system::internal {

/// A value as its layer gave it: the environment and the command line know only text.
struct raw_value {
  enum class kind : std::uint8_t { untyped, boolean, integer, real, text, section, other };
  kind type = kind::untyped;
  std::string text;  ///< as written
};

struct assignment {
  std::string key;
  raw_value value;
  std::string where;  ///< "garrick.json:3", "environment variable GARRICK_...", "argument --..."
};

using assignments = std::vector<assignment>;

/// The facts about a key that the command line's parser needs.
struct argument {
  std::string key;
  std::string help;
  const char* type;  ///< for the help text: "NUMBER"
};

struct command_line {
  assignments settings;
  std::string file;  ///< the value of --config
  bool dump = false;
  bool list = false;  ///< --print-settings
  std::string help;   ///< not empty: the text for --help
  std::vector<std::string> rest;
};

/// Returns the key that is most like `word`, as a whole or in its last part. Returns an empty text
/// if no key is so similar that it was probably meant.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& keys);

[[nodiscard]] base::error refuse(std::string_view where, std::string_view why);
/// Returns the refusal of a name, which is shown as it was typed. `prefix` is "--" if the names are
/// options for `keys`; otherwise it is empty.
[[nodiscard]] base::error unknown_key(std::string_view where, std::string_view what,
                                      std::string_view typed, std::string_view prefix,
                                      const std::vector<std::string>& keys);

/// Returns the refusal of a key in the section of a part that a program need not use, such as net.
/// Returns no error if `section` belongs to no such part, or contains one of `keys`.
[[nodiscard]] base::error refuse_absent_part(std::string_view where, std::string_view section,
                                             const std::vector<std::string>& keys);

[[nodiscard]] base::result<assignments> read_json(const std::string& path);
[[nodiscard]] base::result<command_line> read_command_line(const std::string& program,
                                                           std::vector<std::string> arguments,
                                                           const std::vector<argument>& known);

}  // namespace garrick::system::internal
