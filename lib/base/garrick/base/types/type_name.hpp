// The name of a type as text, known at compile time and the same on GCC and clang for ordinary
// types.
//
// Names are for diagnostics and printing only; a name never decides a cast (message_type.hpp).
// Compilers differ in spacing, in the spelling of integer types, in `struct ` prefixes and in
// inline namespaces. All of that is made uniform here. Closures, and enumerators as template
// arguments, stay as the compiler spells them.
//
// Thread safety: constants.
#pragma once

#include <cstddef>
#include <string_view>

namespace garrick::base {
namespace detail {

struct name_span {
  const char* data;
  std::size_t size;
};

/// Returns the whole name of this function: "... [with T = X]" or "... [T = X]".
template <class T>
[[nodiscard]] consteval name_span name_with_type() noexcept {
  return {__PRETTY_FUNCTION__, sizeof(__PRETTY_FUNCTION__) - 1};
}

/// The place where the type begins in the text of `name_with_type`, the same for every type.
inline constexpr std::size_t type_begins = [] {
  const char* const text = name_with_type<int>().data;
  std::size_t at = 0;
  while (!(text[at] == 'T' && text[at + 1] == ' ' && text[at + 2] == '=' && text[at + 3] == ' '))
    ++at;
  return at + 4;
}();

/// Returns the compiler's spelling of T.
template <class T>
[[nodiscard]] consteval name_span raw_type_name() noexcept {
  constexpr name_span whole = name_with_type<T>();
  return {whole.data + type_begins, whole.size - type_begins - 1};
}

[[nodiscard]] constexpr bool is_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$';
}

/// Rewrites a compiler's spelling into ours. `N` leaves room for the additions: a space after each
/// comma or star.
template <std::size_t N>
struct name_writer {
  char text[N]{};
  std::size_t size = 0;

  // the words seen in a run that spells one arithmetic type
  bool in_number = false;
  bool is_unsigned = false;
  int longs = 0;
  std::string_view base{};

  constexpr void put(std::string_view piece) noexcept {
    if (piece.empty()) return;
    if (size != 0 && is_word(piece[0])) {
      const char last = text[size - 1];
      if (is_word(last) || last == '*' || last == '&' || last == '>') text[size++] = ' ';
    }
    for (const char c : piece) text[size++] = c;
  }

  /// Returns true if `word` may be part of an arithmetic type's spelling. Such a word is remembered
  /// instead of written.
  constexpr bool take_number_word(std::string_view word) noexcept {
    if (word == "long")
      ++longs;
    else if (word == "unsigned")
      is_unsigned = true;
    else if (word == "int" || word == "short" || word == "double")
      base = base == "short" ? base : word;
    else if (word == "char" && (in_number || is_unsigned))
      base = word;
    else if (word == "signed")
      base = "signed";
    else
      return false;
    in_number = true;
    return true;
  }

  constexpr void end_number() noexcept {
    if (!in_number) return;
    if (is_unsigned) put("unsigned");
    if (base == "signed") base = "int";
    for (int i = 0; i < longs; ++i) put("long");
    if (longs == 0 || base == "double") put(base.empty() ? std::string_view("int") : base);
    in_number = is_unsigned = false;
    longs = 0;
    base = {};
  }

  constexpr std::size_t word(std::string_view in, std::size_t at) noexcept {
    std::size_t end = at;
    while (end < in.size() && is_word(in[end])) ++end;
    std::string_view spelled = in.substr(at, end - at);
    if (spelled == "char" && base == "signed" && in_number) {
      put("signed");
      base = "char";
      return end;
    }
    if (take_number_word(spelled)) return end;
    end_number();
    const bool scoped = in.substr(end, 2) == "::";
    if (scoped && (spelled == "__cxx11" || spelled == "__1" || spelled == "_V2")) return end + 2;
    if (!scoped &&
        (spelled == "struct" || spelled == "class" || spelled == "enum" || spelled == "union"))
      return end;
    if ((spelled == "basic_string" || spelled == "basic_string_view") &&
        in.substr(end, 6) == "<char>") {
      put(spelled.substr(6));
      return end + 6;
    }
    if (spelled[0] >= '0' && spelled[0] <= '9')
      while (spelled.back() == 'u' || spelled.back() == 'U' || spelled.back() == 'l' ||
             spelled.back() == 'L')
        spelled.remove_suffix(1);
    put(spelled);
    return end;
  }

  constexpr explicit name_writer(name_span raw_name) noexcept {
    const std::string_view in(raw_name.data, raw_name.size);
    for (std::size_t at = 0; at < in.size();) {
      constexpr std::string_view gcc_anonymous = "{anonymous}";
      constexpr std::string_view clang_anonymous = "(anonymous namespace)";
      if (is_word(in[at])) {
        at = word(in, at);
        continue;
      }
      if (in[at] == ' ') {
        ++at;
        continue;
      }
      end_number();
      if (in.substr(at, gcc_anonymous.size()) == gcc_anonymous) {
        put("(anonymous)");
        at += gcc_anonymous.size();
      } else if (in.substr(at, clang_anonymous.size()) == clang_anonymous) {
        put("(anonymous)");
        at += clang_anonymous.size();
      } else {
        put(in.substr(at, 1));
        if (in[at++] == ',') text[size++] = ' ';
      }
    }
    end_number();
  }
};

template <class T>
inline constexpr name_writer<raw_type_name<T>().size * 2 + 16> written_type_name{
    raw_type_name<T>()};

}  // namespace detail

/// The name of T with its namespaces, a constant.
///
///     type_name<std::vector<long>>;                          // "std::vector<long>"
template <class T>
inline constexpr std::string_view type_name{detail::written_type_name<T>.text,
                                            detail::written_type_name<T>.size};

/// T's name in logs, dead letters and test failures, unless a specialisation of this variable gives
/// a more readable one.
template <class T>
inline constexpr std::string_view shown_name = type_name<T>;

}  // namespace garrick::base
