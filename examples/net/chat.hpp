// Parses the lines of a chat. The first line of a member is its name.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

/// The meaning of a member's line.
struct chat_line {
  enum class kind { say, who, quit, wrong };
  kind what = kind::wrong;
  std::string_view text;  ///< the text; for a wrong line, the mistake
};

inline constexpr std::size_t longest_name = 20;

/// Returns true for 1 to `longest_name` letters and digits.
[[nodiscard]] inline bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_name &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
         });
}

/// Returns the meaning of a line, with a text that refers to the line. A line with control
/// characters is wrong: they would control the terminals of all other members.
[[nodiscard]] inline chat_line parse_chat_line(std::string_view line) {
  using enum chat_line::kind;
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
  };
  if (line.empty()) return {wrong, "say something, /who or /quit"};
  if (std::any_of(line.begin(), line.end(), is_control)) return {wrong, "no control characters"};
  if (line == "/who") return {who, {}};
  if (line == "/quit") return {quit, {}};
  if (line.front() == '/') return {wrong, "there are /who and /quit"};
  return {say, line};
}
