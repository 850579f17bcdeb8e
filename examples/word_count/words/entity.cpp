#include "entity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace word_count {

namespace {

/// U+00C0 to U+00FF in order. The two signs among the letters have no name here.
constexpr std::array<std::string_view, 64> latin{
    "Agrave", "Aacute", "Acirc",  "Atilde", "Auml",   "Aring",  "AElig", "Ccedil",
    "Egrave", "Eacute", "Ecirc",  "Euml",   "Igrave", "Iacute", "Icirc", "Iuml",
    "ETH",    "Ntilde", "Ograve", "Oacute", "Ocirc",  "Otilde", "Ouml",  "",
    "Oslash", "Ugrave", "Uacute", "Ucirc",  "Uuml",   "Yacute", "THORN", "szlig",
    "agrave", "aacute", "acirc",  "atilde", "auml",   "aring",  "aelig", "ccedil",
    "egrave", "eacute", "ecirc",  "euml",   "igrave", "iacute", "icirc", "iuml",
    "eth",    "ntilde", "ograve", "oacute", "ocirc",  "otilde", "ouml",  "",
    "oslash", "ugrave", "uacute", "ucirc",  "uuml",   "yacute", "thorn", "yuml"};
constexpr std::uint32_t first_latin = 0xc0;

std::string utf8(std::uint32_t code) {
  const auto rest = [&](unsigned shift) {
    return static_cast<char>(0x80 | ((code >> shift) & 0x3f));
  };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | (code >> 6)), rest(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | (code >> 12)), rest(6), rest(0)};
  return {static_cast<char>(0xf0 | (code >> 18)), rest(12), rest(6), rest(0)};
}

}  // namespace

std::string decoded_entity(std::string_view name) {
  if (name.starts_with('#')) {
    const bool hex = name.size() > 1 && (name[1] == 'x' || name[1] == 'X');
    const std::string_view digits = name.substr(hex ? 2 : 1);
    std::uint32_t code = 0;
    const auto [end, trouble] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, hex ? 16 : 10);
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (trouble != std::errc{} || end != digits.data() + digits.size() || code == 0 ||
        code > 0x10ffff || surrogate)
      return " ";
    return utf8(code);
  }
  if (name.empty()) return " ";
  if (name == "apos" || name == "rsquo") return "'";
  if (name == "shy" || name == "zwj" || name == "zwnj") return {};
  const auto* const known = std::find(latin.begin(), latin.end(), name);
  return known == latin.end()
             ? " "
             : utf8(first_latin + static_cast<std::uint32_t>(known - latin.begin()));
}

}  // namespace word_count
