#include "text.hpp"

#include <algorithm>
#include <array>

namespace word_count {

namespace {

constexpr char32_t typographic_apostrophe = 0x2019;

struct decoded {
  char32_t code = 0;
  std::size_t bytes = 1;  ///< one for a byte that begins no valid sequence
  bool valid = false;
};

decoded decode(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1, true};
  const std::size_t length = first >= 0xf0 && first < 0xf5   ? 4
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xc2 && first < 0xe0 ? 2
                                                             : 0;
  if (length == 0 || at + length > text.size()) return {};
  char32_t code = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(at + i) & 0x3fu);
  }
  return {code, length, true};
}

// An intended approximation: Latin-1 signs, general punctuation, arrows, boxes, symbols, CJK
// punctuation and all characters beyond the first plane are not letters.
bool is_letter(const decoded& d) noexcept {
  if (!d.valid) return false;
  if (d.code < 0x80) return (d.code >= 'a' && d.code <= 'z') || (d.code >= 'A' && d.code <= 'Z');
  if (d.code < 0xc0) return d.code == 0xaa || d.code == 0xb5 || d.code == 0xba;
  if (d.code == 0xd7 || d.code == 0xf7) return false;
  return d.code < 0x2000 || (d.code > 0x2bff && d.code < 0x3000) ||
         (d.code > 0x303f && d.code < 0xfe00);
}

/// For each byte, true if it ends an address.
constexpr std::array<bool, 256> parts_addresses = [] {
  std::array<bool, 256> result{};
  for (std::size_t c = 0; c <= ' '; ++c) result[c] = true;
  for (const char c : std::string_view("\"'`()[]{}<>,;|*"))
    result[static_cast<unsigned char>(c)] = true;
  return result;
}();

bool is_address(std::string_view run) noexcept {
  std::size_t slashes = 0;
  bool dot_inside = false;
  for (std::size_t i = 0; i < run.size(); ++i) {
    const char before = i == 0 ? ' ' : run[i - 1];
    if (run[i] == '@' && i != 0 && i + 1 < run.size()) return true;
    if (run[i] == '/') {
      if (before == '/' && i > 1 && run[i - 2] == ':') return true;
      if (before != '/') ++slashes;  // "//like this" is a comment in a program
    }
    if (run[i] == '.' && i != 0 && i + 1 < run.size() && run[i + 1] != '.' && before != '.')
      dot_inside = true;
  }
  return slashes > 1 || (slashes == 1 && dot_inside);
}

}  // namespace

void blank_addresses(std::string& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t begin = at;
    while (at < text.size() && !parts_addresses[static_cast<unsigned char>(text[at])]) ++at;
    if (is_address(std::string_view(text).substr(begin, at - begin)))
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin),
                text.begin() + static_cast<std::ptrdiff_t>(at), ' ');
  }
}

bool looks_like_text(std::string_view head) noexcept {
  return std::all_of(head.begin(), head.end(), [](char c) {
    const auto b = static_cast<unsigned char>(c);
    return b >= ' ' || (b >= '\b' && b <= '\r') || b == 0x1b;
  });
}

bool next_word(std::string_view text, std::size_t& at, std::string& word) {
  word.clear();
  bool too_long = false;
  while (at < text.size()) {
    const decoded d = decode(text, at);
    const bool apostrophe = (d.code == '\'' || d.code == typographic_apostrophe) && !word.empty();
    if (is_letter(d) || apostrophe) {
      if (word.size() + d.bytes > longest_word) too_long = true;
      if (!too_long) {
        if (apostrophe)
          word.push_back('\'');
        else if (d.code < 0x80)
          word.push_back(
              static_cast<char>(d.code >= 'A' && d.code <= 'Z' ? d.code + ('a' - 'A') : d.code));
        else
          word.append(text.substr(at, d.bytes));
      }
      at += d.bytes;
      continue;
    }
    at += d.bytes;
    while (!word.empty() && word.back() == '\'') word.pop_back();
    if (!too_long && !word.empty()) return true;
    word.clear();
    too_long = false;
  }
  while (!word.empty() && word.back() == '\'') word.pop_back();
  return !too_long && !word.empty();
}

counts count_words(std::string_view text) {
  counts found;
  std::string word;
  for (std::size_t at = 0; next_word(text, at, word);) {
    if (const auto known = found.find(std::string_view(word)); known != found.end())
      ++known->second;
    else
      found.emplace(word, 1);
  }
  return found;
}

std::size_t characters(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::uint32_t part_of(std::string_view word, std::uint32_t parts) noexcept {
  std::uint64_t h = 0xcbf29ce484222325ull;
  for (const char c : word) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15ull;  // short words hardly change the upper half
  return static_cast<std::uint32_t>((h >> 32) % parts);
}

}  // namespace word_count
