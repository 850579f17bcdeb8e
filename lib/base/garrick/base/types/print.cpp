// Numbers and text: the parts of printing that need no template.
#include "garrick/base/types/print.hpp"

#include <array>
#include <charconv>
#include <cstdio>

namespace garrick::base::detail {
namespace {

template <class N>
void put_number(std::string& out, N x) {
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), x);
  out.append(digits.data(), end.ptr);
}

/// Writes one character of a quoted text so that it stays on one line.
void put_escaped(std::string& out, char character, char quote) {
  switch (character) {
    case '\n': out += "\\n"; return;
    case '\t': out += "\\t"; return;
    case '\r': out += "\\r"; return;
    case '\0': out += "\\0"; return;
    case '\\': out += "\\\\"; return;
    default: break;
  }
  if (character == quote) {
    out += '\\';
    out += character;
  } else if (static_cast<unsigned char>(character) < 0x20 || character == 0x7f) {
    std::array<char, 8> hex;
    std::snprintf(hex.data(), hex.size(), "\\x%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(character)));
    out += hex.data();
  } else {
    out += character;
  }
}

}  // namespace

void put(std::string& out, std::string_view text) { out += text; }

void separate(std::string& out, bool& first) {
  if (!first) out += ", ";
  first = false;
}

void print_boolean(std::string& out, bool x) { out += x ? "true" : "false"; }
void print_signed(std::string& out, std::int64_t x) { put_number(out, x); }
void print_unsigned(std::string& out, std::uint64_t x) { put_number(out, x); }
void print_floating(std::string& out, double x) { put_number(out, x); }
void print_long_double(std::string& out, long double x) { put_number(out, x); }

void print_character(std::string& out, char32_t character) {
  out += '\'';
  if (character < 0x80) {
    put_escaped(out, static_cast<char>(character), '\'');
  } else {
    std::array<char, 16> hex;
    std::snprintf(hex.data(), hex.size(), "\\u%04x", static_cast<unsigned>(character));
    out += hex.data();
  }
  out += '\'';
}

void print_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char character : text) put_escaped(out, character, '"');
  out += '"';
}

void print_enumerator(std::string& out, std::string_view name, std::int64_t x) {
  out += '(';
  out += name;
  out += ')';
  put_number(out, x);
}

void print_duration(std::string& out, double count, std::intmax_t numerator,
                    std::intmax_t denominator) {
  struct unit {
    std::intmax_t numerator, denominator;
    std::string_view name;
  };
  static constexpr std::array<unit, 7> units{{{1, 1'000'000'000, "ns"},
                                              {1, 1'000'000, "us"},
                                              {1, 1000, "ms"},
                                              {1, 1, "s"},
                                              {60, 1, "min"},
                                              {3600, 1, "h"},
                                              {86400, 1, "d"}}};
  for (const unit& u : units) {
    if (u.numerator != numerator || u.denominator != denominator) continue;
    put_number(out, count);
    out += u.name;
    return;
  }
  put_number(out, count * static_cast<double>(numerator) / static_cast<double>(denominator));
  out += 's';
}

void print_opaque(std::string& out, std::string_view name) {
  out += '<';
  out += name;
  out += '>';
}

}  // namespace garrick::base::detail
