// The content of a message with several arguments, and the rule that turns argument types into a
// content type.
//
// Thread safety: values.
#pragma once

#include <garrick/base/types/type_name.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace garrick::core {

/// Several arguments as one content. It is a type of its own, so that a message of a tuple and a
/// message of the tuple's parts stay different.
template <class... Ts>
struct pack {
  std::tuple<Ts...> values;  ///< the arguments, decayed
};

/// The content of a message without arguments, and of a response that returns nothing.
struct unit {
  friend constexpr bool operator==(unit, unit) = default;
};

namespace detail {

template <class... Ts>
struct content_for {
  using type = pack<Ts...>;
};
template <class T>
struct content_for<T> {
  using type = T;
};
template <>
struct content_for<> {
  using type = unit;
};

}  // namespace detail

/// `T` for one argument, `pack<Ts...>` for several, `unit` for none.
///
///     static_assert(std::is_same_v<content_of<int, std::string>, pack<int, std::string>>);
template <class... Ts>
using content_of = typename detail::content_for<Ts...>::type;

namespace detail {

/// The name of a pack, such as "(int, std::string)".
template <class... Ts>
struct pack_name {
  static constexpr std::size_t size = sizeof...(Ts) * 2 + (base::type_name<Ts>.size() + ... + 0);
  char text[size]{'('};

  constexpr pack_name() noexcept {
    std::size_t at = 1;
    for (const std::string_view name : {base::type_name<Ts>...}) {
      if (at != 1) {
        text[at++] = ',';
        text[at++] = ' ';
      }
      for (const char c : name) text[at++] = c;
    }
    text[at] = ')';
  }
};
template <class... Ts>
inline constexpr pack_name<Ts...> written_pack_name{};

}  // namespace detail

}  // namespace garrick::core

template <class First, class Second, class... Ts>
inline constexpr std::string_view
    garrick::base::shown_name<garrick::core::pack<First, Second, Ts...>>{
        garrick::core::detail::written_pack_name<First, Second, Ts...>.text,
        garrick::core::detail::pack_name<First, Second, Ts...>::size};
