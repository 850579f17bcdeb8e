// Version 1's reading of values: reads one by the words of its type (tools/wire/decode.py has them)
// and prints it. It stays as it is, and shares nothing with the product, as version_1.hpp.
#pragma once

#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "net/version_1.hpp"

namespace version_1 {

/// A type: a name, with parts if it has some. An aggregate's name is "{".
struct type {
  std::string name;
  std::vector<type> parts;
};

/// Reads the words of a type.
class words {
 public:
  explicit words(std::string_view text) : left_(text) {}
  type whole() {
    type t = one();
    skip();
    if (!left_.empty()) throw not_understood("words behind a type");
    return t;
  }

 private:
  void skip() {
    while (!left_.empty() && left_[0] == ' ') left_.remove_prefix(1);
  }
  bool next_is(char c) {
    skip();
    if (left_.empty() || left_[0] != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  type one() {
    if (next_is('{')) return {"{", many('}')};
    std::size_t n = 0;
    while (n != left_.size() &&
           (std::isalnum(static_cast<unsigned char>(left_[n])) != 0 || left_[n] == '_'))
      ++n;
    const std::string name(left_.substr(0, n));
    if (name.empty()) throw not_understood("no type");
    left_.remove_prefix(n);
    if (next_is('<')) return {name, many('>')};
    return known(name);
  }
  std::vector<type> many(char end) {
    std::vector<type> parts;
    while (!next_is(end)) {
      parts.push_back(one());
      next_is(',');
    }
    return parts;
  }
  /// The library's own aggregates.
  static type known(const std::string& name) {
    if (name == "kill_order") return words("{error, bool}").whole();
    if (name == "resolve_order") return words("{string, schema}").whole();
    if (name == "spawn_order") return words("{string, vector<u8>, schema}").whole();
    if (name == "schema")
      return words("{vector<{u8, string, u64, vector<u32>}>, vector<{string, u32, vector<u32>}>}")
          .whole();
    return {name, {}};
  }

  std::string_view left_;
};

inline std::string quoted(const std::string& text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string all = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 32)
      all += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
    else
      all += c;
  }
  return all + "'";
}

template <class Real, class Bits>
std::string real_of(Bits bits) {
  Real x = 0;
  static_assert(sizeof x == sizeof bits);
  std::memcpy(&x, &bits, sizeof x);
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

inline bool flag(reader& in) {
  const std::uint64_t x = in.fixed(1);
  if (x > 1) throw not_understood("a flag");
  return x == 1;
}

inline std::string simple(const std::string& name, reader& in) {
  if (name == "bool") return flag(in) ? "true" : "false";
  if (name == "char") return quoted(std::string(1, static_cast<char>(in.fixed(1))));
  if (name == "u8") return std::to_string(in.fixed(1));
  if (name == "i8") return std::to_string(static_cast<std::int8_t>(in.fixed(1)));
  if (name == "u16" || name == "char16") return std::to_string(in.fixed(2));
  if (name == "i16") return std::to_string(static_cast<std::int16_t>(in.fixed(2)));
  if (name == "u32" || name == "char32") return std::to_string(in.fixed(4));
  if (name == "i32") return std::to_string(static_cast<std::int32_t>(in.fixed(4)));
  if (name == "u64") return std::to_string(in.varint());
  if (name == "i64") return std::to_string(in.zigzag());
  if (name == "f32") return real_of<float>(static_cast<std::uint32_t>(in.fixed(4)));
  if (name == "f64") return real_of<double>(in.fixed(8));
  if (name == "string") return quoted(in.text());
  if (name != "duration") throw not_understood("a type called " + name);
  const std::int64_t ns = in.zigzag();
  return ns == std::numeric_limits<std::int64_t>::max() ? "infinite" : std::to_string(ns) + " ns";
}

inline std::string error(reader& in) {
  reader fields = in.part();
  const std::string category = fields.text();
  const std::uint64_t code = fields.fixed(4);
  const std::string about = fields.text();
  const std::string own = fields.text();
  if (!fields.at_end()) throw not_understood("an error with something behind it");
  if (category.empty()) return "no error";
  return "error " + std::to_string(code) + " of " + quoted(category) + ": " + quoted(about) + ": " +
         quoted(own);
}

std::string value(const type& t, reader& in);

inline std::string aggregate(const type& t, reader& in) {
  reader fields = in.part();
  std::string all;
  for (const type& part : t.parts)
    all += (all.empty() ? "" : ", ") + (fields.at_end() ? "(default)" : value(part, fields));
  if (!fields.at_end()) all += ", (" + std::to_string(fields.left()) + " bytes more)";
  return "{" + all + "}";
}

/// Values behind each other; of a map each with its key in front.
inline std::string sequence(const type& t, std::uint64_t count, reader& in) {
  std::string all;
  for (std::uint64_t i = 0; i != count; ++i) {
    all += i == 0 ? "" : ", ";
    all += value(t.parts[0], in);
    if (t.name == "map") all += ": " + value(t.parts[1], in);
  }
  return all;
}

/// The next value, of this type, as text.
inline std::string value(const type& t, reader& in) {
  if (t.name == "{") return aggregate(t, in);
  if (t.name == "error") return error(in);
  if (t.name == "vector") return "[" + sequence(t, in.varint(), in) + "]";
  if (t.name == "set" || t.name == "multiset" || t.name == "map")
    return "<" + sequence(t, in.varint(), in) + ">";
  if (t.name == "array") return "[" + sequence(t, std::stoull(t.parts[1].name), in) + "]";
  if (t.name == "tuple") {
    std::string all;
    for (const type& part : t.parts) all += (all.empty() ? "" : ", ") + value(part, in);
    return "(" + all + ")";
  }
  if (t.name == "optional") return flag(in) ? value(t.parts[0], in) : "nothing";
  if (t.name == "variant") {
    const std::uint64_t which = in.varint();
    if (which >= t.parts.size()) throw not_understood("an alternative");
    return std::to_string(which) + ": " + value(t.parts[which], in);
  }
  return simple(t.name, in);
}

}  // namespace version_1
