// Atoms: names that are types and values, cost nothing to send, and print themselves (paper 001
// §4.3).
//
//   using plus = garrick::atom<"plus">;
//   using math = garrick::protocol<int(plus, int, int)>;
//   request(m, plus{}, 1, 2)
//
// Thread safety: constants.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace garrick::core {

/// A string literal as a template argument, of any length.
template <std::size_t N>
struct literal {
  char text[N]{};  ///< with its final zero
  /// Takes the literal's characters, at compile time.
  consteval literal(const char (&s)[N]) noexcept {
    for (std::size_t i = 0; i < N; ++i) text[i] = s[i];
  }
  /// Returns the text, without the final zero.
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {text, N - 1}; }
};

/// A name as a type of its own: two atoms are the same type exactly if their names are equal. It
/// has no state, so it costs nothing to send.
///
///     using plus = atom<"plus">;
///     send(math, plus{}, 1, 2);
template <literal Name>
struct atom {
  static constexpr std::string_view name = Name.view();  ///< the name
  /// Returns the name, for people.
  [[nodiscard]] std::string to_string() const { return std::string(name); }
  friend constexpr bool operator==(atom, atom) = default;
};

}  // namespace garrick::core
