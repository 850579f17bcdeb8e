// The commands of a small store of texts, one in each line:
//
//   set KEY TEXT…    get KEY    del KEY    count    quit
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

/// The meaning of a line.
struct command {
  enum class kind { set, get, del, count, quit, wrong };
  kind what = kind::wrong;
  std::string_view key;   ///< for set, get and del
  std::string_view text;  ///< for set; for a wrong line, the mistake
};

/// A key has 1 to this many letters, digits and characters of "_-.:/".
inline constexpr std::size_t longest_key = 64;

[[nodiscard]] inline bool is_key(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-.:/").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= longest_key && std::all_of(text.begin(), text.end(), fits);
}

/// Returns the meaning of any line; its texts refer to the line.
[[nodiscard]] inline command parse_command(std::string_view line) {
  using enum command::kind;
  const auto refused = [](std::string_view why) { return command{wrong, {}, why}; };
  const auto next_word = [&line] {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
  };
  const std::string_view name = next_word();
  if (name == "count" || name == "quit") {
    if (!line.empty()) return refused("nothing may follow count or quit");
    return {name == "count" ? count : quit, {}, {}};
  }
  if (name != "set" && name != "get" && name != "del")
    return refused("say set KEY TEXT, get KEY, del KEY, count or quit");
  const std::string_view key = next_word();
  if (!is_key(key)) return refused("a key has 1 to 64 letters, digits or _-.:/");
  if (name == "set") {
    if (line.empty()) return refused("set needs a text");
    return {set, key, line};
  }
  if (!line.empty()) return refused("nothing may follow the key");
  return {name == "get" ? get : del, key, {}};
}
