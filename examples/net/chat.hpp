// The meaning of a chat's line. The first line of a member is its name.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

/// The wish of a member.
struct chat_line {
  enum class kind { say, who, quit, wrong };
  kind what = kind::wrong;
  std::string_view text;  ///< the text; of wrong, the mistake
};

inline constexpr std::size_t longest_name = 20;

/// 1 to `longest_name` letters and digits.
[[nodiscard]] inline bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_name &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
         });
}

/// The text lies in the line. Any line has a meaning. Control characters are refused: they would
/// command the terminals of all the others.
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
