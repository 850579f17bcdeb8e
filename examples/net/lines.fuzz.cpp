// However a stream is cut into pieces, the splitter gives the same lines, and the kept bytes stay
// below the limit. Each line is then parsed as a command of the store and a line of the chat, and
// the result can be written back.
//
// The first byte is the longest line, the second the size of the pieces; with 0, the bytes
// themselves are the sizes, in turn.
#include "lines.hpp"

#include <garrick/base/platform/assert.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chat.hpp"
#include "key_value.hpp"

namespace {

constexpr std::string_view too_long = "\n";  // no line contains this

/// All lines of a whole stream.
std::vector<std::string> lines_of(std::string_view text, std::size_t longest) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view one = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (one.ends_with('\r') && (end != one.npos || one.size() == longest + 1)) one.remove_suffix(1);
    if (one.size() > longest)
      all.emplace_back(too_long);
    else if (end != one.npos)
      all.emplace_back(one);
  }
  return all;
}

void check_command(std::string_view line) {
  const command c = parse_command(line);
  std::string again;
  switch (c.what) {
    case command::kind::count: again = "count"; break;
    case command::kind::quit: again = "quit"; break;
    case command::kind::get: again = "get "; break;
    case command::kind::del: again = "del "; break;
    case command::kind::set: again = "set "; break;
    case command::kind::wrong:
      GARRICK_ASSERT(!c.text.empty() && c.key.empty(), "a refusal says why, and no more");
      return;
  }
  const bool has_key = again.ends_with(' ');
  GARRICK_ASSERT(has_key == is_key(c.key), "a key");
  again += c.key;
  if (c.what == command::kind::set) again.append(" ").append(c.text);
  GARRICK_ASSERT(c.text.empty() == (c.what != command::kind::set), "set has a text");
  GARRICK_ASSERT(again == line || again + ' ' == line, "a command is another one");
}

void check_chat(std::string_view line) {
  const chat_line c = parse_chat_line(line);
  const bool is_clean = std::none_of(line.begin(), line.end(), [](char b) {
    return static_cast<unsigned char>(b) < 0x20 || b == 0x7f;
  });
  switch (c.what) {
    case chat_line::kind::say:
      GARRICK_ASSERT(c.text == line && is_clean && line[0] != '/', "a line that others see");
      break;
    case chat_line::kind::who: GARRICK_ASSERT(line == "/who", "/who"); break;
    case chat_line::kind::quit: GARRICK_ASSERT(line == "/quit", "/quit"); break;
    case chat_line::kind::wrong: GARRICK_ASSERT(!c.text.empty(), "a refusal says why"); break;
  }
  if (is_name(line)) GARRICK_ASSERT(line.size() <= longest_name && is_clean, "a name");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t longest = data[0];
  const std::string_view stream(reinterpret_cast<const char*>(data) + 2, size - 2);
  line_splitter lines(longest);
  std::vector<std::string> all;
  for (std::string_view left = stream; !left.empty();) {
    const std::size_t piece = data[1] == 0 ? static_cast<std::uint8_t>(left[0]) + 1u : data[1];
    lines.feed(left.substr(0, piece), [&](const line& l) {
      GARRICK_ASSERT(!l.too_long || l.text.empty(), "a line that is too long has no text");
      all.emplace_back(l.too_long ? too_long : l.text);
      if (l.too_long) return;
      check_command(l.text);
      check_chat(l.text);
    });
    left.remove_prefix(std::min(piece, left.size()));
    GARRICK_ASSERT(lines.kept() <= longest + 1, "more is kept than a line may have");
  }
  GARRICK_ASSERT(all == lines_of(stream, longest), "the lines depend on how the stream is cut");
  GARRICK_ASSERT(lines.is_within_line() == (!stream.empty() && !stream.ends_with('\n')),
                 "the last line has ended");
  return 0;
}
