// The content of a message with several arguments, and the rule that turns argument types into a content type.
#pragma once

#include <tuple>
#include <type_traits>

namespace garrick::core {

/// Several arguments as one content. An own type, so that `send(a, std::tuple{1, 2})` and `send(a, 1, 2)` stay different messages.
template <class... Ts>
struct pack {
  std::tuple<Ts...> values;
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
template <class... Ts>
using content_of = typename detail::content_for<Ts...>::type;

}  // namespace garrick::core
