// Atoms: names that are types and values, cost nothing to send, and print themselves (paper 001
// §4.3).
//
//   using plus = garrick::atom<"plus">;
//   using math = garrick::protocol<int(plus, int, int)>;
//   request(m, plus{}, 1, 2)
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace garrick::core {

/// A string literal as a template argument. No limit of length.
template <std::size_t N>
struct literal {
  char text[N]{};
  consteval literal(const char (&s)[N]) noexcept {
    for (std::size_t i = 0; i < N; ++i) text[i] = s[i];
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {text, N - 1}; }
};

template <literal Name>
struct atom {
  static constexpr std::string_view name = Name.view();
  [[nodiscard]] std::string to_string() const { return std::string(name); }
  friend constexpr bool operator==(atom, atom) = default;
};

}  // namespace garrick::core
