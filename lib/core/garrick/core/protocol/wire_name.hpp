// The wire names of this room's types that occur in messages: atoms, packs of arguments, protocols.
//
//   wire_name<atom<"plus">>                      // "\"plus\""
//   wire_name<pack<int, std::string>>            // "(i32, std::string)"
//   wire_name<protocol<void(long), int(char)>>   // "garrick::protocol<i32(char), void(i64)>"
//
// A protocol is a set, so its signatures are sorted: two programs that list them in different order
// have one name for it. Results that answer alike (`R`, `result<R>`, `task<R>`) have one name.
//
// Thread safety: constants.
#pragma once

#include <garrick/base/types/wire_name.hpp>
#include <garrick/core/protocol/atom.hpp>
#include <garrick/core/protocol/pack.hpp>
#include <garrick/core/protocol/protocol.hpp>

#include <array>
#include <cstddef>
#include <string_view>

namespace garrick::core::detail {

template <class Out, class... Ts>
constexpr void put_arguments(Out& out, pack<Ts...>*) {
  base::detail::put_types(out, base::detail::type_pack<Ts...>{});
}
template <class Out>
constexpr void put_arguments(Out&, unit*) {}
template <class Out, class T>
constexpr void put_arguments(Out& out, T*) {
  base::detail::write_wire_name<T>(out);
}

/// The text of a signature: "i32(\"plus\", i32, i32)", "(i32, char)(std::string)".
template <class Sig>
struct named_signature {
  template <class... Rs, class Out>
  static constexpr void put_answer(Out& out, response<Rs...>*) {
    if constexpr (sizeof...(Rs) == 0)
      out.put("void");
    else if constexpr (sizeof...(Rs) == 1)
      base::detail::put_types(out, base::detail::type_pack<Rs...>{});
    else
      base::detail::write_wire_name<pack<Rs...>>(out);
  }
  template <class Out>
  static constexpr void write(Out& out) {
    put_answer(out, static_cast<typename signature<Sig>::answer*>(nullptr));
    out.put("(");
    put_arguments(out, static_cast<typename signature<Sig>::content*>(nullptr));
    out.put(")");
  }
  template <class... Rs>
  [[nodiscard]] static bool answer_is_portable(response<Rs...>*) noexcept {
    return (base::detail::is_portable<Rs>() && ...);
  }
  [[nodiscard]] static bool is_portable() noexcept {
    return base::detail::is_portable<typename signature<Sig>::content>() &&
           answer_is_portable(static_cast<typename signature<Sig>::answer*>(nullptr));
  }
};

template <std::size_t N>
constexpr void sort_names(std::array<std::string_view, N>& names) {
  for (std::size_t i = 1; i < N; ++i)
    for (std::size_t k = i; k != 0 && names[k] < names[k - 1]; --k) {
      const std::string_view smaller = names[k];
      names[k] = names[k - 1];
      names[k - 1] = smaller;
    }
}

template <class... Sigs>
consteval bool have_distinct_wire_names() {
  std::array<std::string_view, sizeof...(Sigs)> names{
      base::wire_name<typename signature<Sigs>::content>...};
  sort_names(names);
  for (std::size_t i = 1; i < names.size(); ++i)
    if (names[i] == names[i - 1]) return false;
  return true;
}

}  // namespace garrick::core::detail

template <class Sig>
struct garrick::base::wire_name_rule<garrick::core::detail::named_signature<Sig>>
    : garrick::core::detail::named_signature<Sig> {};

/// An atom is its text, in quotation marks.
template <garrick::core::literal Name>
struct garrick::base::wire_name_rule<garrick::core::atom<Name>> {
  /// Appends the name to `out`.
  template <class Out>
  static constexpr void write(Out& out) {
    constexpr std::string_view text = garrick::core::atom<Name>::name;
    out.put("\"");
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '"' || text[i] == '\\') out.put("\\");
      out.put(text.substr(i, 1));
    }
    out.put("\"");
  }
  /// Returns has_portable_wire_name of the type.
  [[nodiscard]] static bool is_portable() noexcept { return true; }
};

/// No arguments: empty parentheses.
template <>
struct garrick::base::wire_name_rule<garrick::core::unit> {
  /// Appends the name to `out`.
  template <class Out>
  static constexpr void write(Out& out) {
    out.put("()");
  }
  /// Returns has_portable_wire_name of the type.
  [[nodiscard]] static bool is_portable() noexcept { return true; }
};

/// Several arguments: their names in parentheses.
template <class... Ts>
struct garrick::base::wire_name_rule<garrick::core::pack<Ts...>> {
  /// Appends the name to `out`.
  template <class Out>
  static constexpr void write(Out& out) {
    out.put("(");
    detail::put_types(out, detail::type_pack<Ts...>{});
    out.put(")");
  }
  /// Returns has_portable_wire_name of the type.
  [[nodiscard]] static bool is_portable() noexcept {
    return detail::are_portable(detail::type_pack<Ts...>{});
  }
};

/// A protocol: its signatures in the order of their names.
template <class... Sigs>
struct garrick::base::wire_name_rule<garrick::core::protocol<Sigs...>> {
  /// Appends the name to `out`.
  template <class Out>
  static constexpr void write(Out& out) {
    if (!garrick::core::detail::have_distinct_wire_names<Sigs...>())
      out.refuse(detail::no_wire_name::two_messages_alike);
    std::array<std::string_view, sizeof...(Sigs)> names{
        wire_name<garrick::core::detail::named_signature<Sigs>>...};
    garrick::core::detail::sort_names(names);
    out.put("garrick::protocol<");
    detail::separator<Out> next(out);
    for (const std::string_view name : names) {
      next();
      out.put(name);
    }
    out.put(">");
  }
  /// Returns has_portable_wire_name of the type.
  [[nodiscard]] static bool is_portable() noexcept {
    return (garrick::core::detail::named_signature<Sigs>::is_portable() && ...);
  }
};
