// Numbers and text: the parts of printing that need no template.
#include "garrick/base/types/print.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace garrick::base::detail {
namespace {

constinit thread_local print_limit* innermost = nullptr;

template <class N>
void put_number(std::string& out, N x) {
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), x);
  put(out, {digits.data(), static_cast<std::size_t>(end.ptr - digits.data())});
}

/// Takes the incomplete bytes of a character in UTF-8 off the end of `out`, after its first `begin`
/// bytes. Returns their number.
std::size_t drop_half_character(std::string& out, std::size_t begin) noexcept {
  std::size_t n = 0;  // bytes looked at, from the end back
  while (n < 4 && out.size() - begin > n) {
    const auto byte = static_cast<unsigned char>(out[out.size() - ++n]);
    if ((byte & 0xc0) == 0x80) continue;
    const std::size_t length = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (length <= n) return 0;
    out.resize(out.size() - n);
    return n;
  }
  return 0;
}

/// Writes one character of a quoted text so that it stays on one line.
void put_escaped(std::string& out, char character, char quote) {
  switch (character) {
    case '\n': return put(out, "\\n");
    case '\t': return put(out, "\\t");
    case '\r': return put(out, "\\r");
    case '\0': return put(out, "\\0");
    case '\\': return put(out, "\\\\");
    default: break;
  }
  if (character == quote) {
    const std::array<char, 2> escaped{'\\', character};
    put(out, {escaped.data(), 2});
  } else if (static_cast<unsigned char>(character) < 0x20 || character == 0x7f) {
    std::array<char, 8> hex;
    std::snprintf(hex.data(), hex.size(), "\\x%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(character)));
    put(out, hex.data());
  } else {
    put(out, {&character, 1});
  }
}

}  // namespace

print_limit::print_limit(std::string& out, std::size_t limit) noexcept
    : out_(out),
      begin_(out.size()),
      end_(out.size() + std::min(limit, out.max_size() - out.size())),
      outer_(innermost) {
  innermost = this;
}

print_limit::~print_limit() { innermost = outer_; }

print_limit* print_limit::of(const std::string& out) noexcept {
  print_limit* scope = innermost;
  while (scope != nullptr && &scope->out_ != &out) scope = scope->outer_;
  return scope;
}

void print_limit::tell() {
  if (!full_) return;
  const auto count = [](std::uint64_t n, const char* what) {
    return std::to_string(n) + what + (n == 1 ? "" : "s");
  };
  std::string missing;
  if (bytes_ != 0) missing = count(bytes_, " byte");
  if (bytes_ != 0 && elements_ != 0) missing += " and ";
  if (elements_ != 0) missing += count(elements_, " element");
  out_ += "… (" + missing + " left out)";
}

bool is_full(const std::string& out) noexcept {
  const print_limit* const scope = print_limit::of(out);
  return scope != nullptr && scope->full_;
}

void leave_out(const std::string& out, std::uint64_t elements) noexcept {
  if (print_limit* const scope = print_limit::of(out)) scope->elements_ += elements;
}

void put(std::string& out, std::string_view text) {
  print_limit* const scope = print_limit::of(out);
  if (scope == nullptr) [[likely]] {
    out += text;
    return;
  }
  const std::size_t room = scope->full_ ? 0 : scope->end_ - out.size();
  const std::string_view fits = text.substr(0, room);
  out += fits;
  if (fits.size() == text.size()) return;
  scope->bytes_ += text.size() - fits.size();
  if (!scope->full_) scope->bytes_ += drop_half_character(out, scope->begin_);
  scope->full_ = true;
}

void separate(std::string& out, bool& first) {
  if (!first) put(out, ", ");
  first = false;
}

void print_boolean(std::string& out, bool x) { put(out, x ? "true" : "false"); }
void print_signed(std::string& out, std::int64_t x) { put_number(out, x); }
void print_unsigned(std::string& out, std::uint64_t x) { put_number(out, x); }
void print_floating(std::string& out, double x) { put_number(out, x); }
void print_long_double(std::string& out, long double x) { put_number(out, x); }

void print_character(std::string& out, char32_t character) {
  put(out, "'");
  if (character < 0x80) {
    put_escaped(out, static_cast<char>(character), '\'');
  } else {
    std::array<char, 16> hex;
    std::snprintf(hex.data(), hex.size(), "\\u%04x", static_cast<unsigned>(character));
    put(out, hex.data());
  }
  put(out, "'");
}

void print_text(std::string& out, std::string_view text) {
  put(out, "\"");
  for (std::size_t i = 0; i != text.size(); ++i) {
    if (is_full(out)) {
      put(out, text.substr(i));  // only counted
      break;
    }
    put_escaped(out, text[i], '"');
  }
  put(out, "\"");
}

void print_enumerator(std::string& out, std::string_view name, std::int64_t x) {
  put(out, "(");
  put(out, name);
  put(out, ")");
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
    put(out, u.name);
    return;
  }
  put_number(out, count * static_cast<double>(numerator) / static_cast<double>(denominator));
  put(out, "s");
}

void print_opaque(std::string& out, std::string_view name) {
  put(out, "<");
  put(out, name);
  put(out, ">");
}

}  // namespace garrick::base::detail
