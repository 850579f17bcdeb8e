#include "garrick/net/printable.hpp"

#include <algorithm>

#include "garrick/base/platform/assert.hpp"

namespace garrick::net {
namespace {

constexpr std::string_view ellipsis = "...";

constexpr unsigned char byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// Returns the number of bytes of the first character of `text`. Returns 0 if that is a control
/// character or no UTF-8.
std::size_t character_size(std::string_view text) {
  const unsigned char first = byte_at(text, 0);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i != size; ++i)
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  const unsigned char second = byte_at(text, 1);
  if (first == 0xc2 && second < 0xa0) return 0;  // C1, which terminals obey
  // An encoding longer than need be, half of a UTF-16 pair, or beyond the last character.
  const bool is_wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
                        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return is_wrong ? 0 : size;
}

void put_escaped(std::string& to, unsigned char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  to += '\\';
  if (c == '\n') {
    to += 'n';
  } else if (c == '\t') {
    to += 't';
  } else {
    to += 'x';
    to += digits[c >> 4];
    to += digits[c & 15];
  }
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  GARRICK_ASSERT(most >= 8, "an escaped byte and the dots have room");
  std::string shown;
  shown.reserve(std::min(text.size(), most));
  std::size_t cut = 0;  // the end of the last character behind which the dots have room
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 0)
      put_escaped(shown, byte_at(text, 0));
    else
      shown += text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
    if (shown.size() > most) {
      shown.resize(cut);
      return shown += ellipsis;
    }
    if (shown.size() + ellipsis.size() <= most) cut = shown.size();
  }
  return shown;
}

}  // namespace garrick::net
