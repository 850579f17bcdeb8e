// Signatures and protocols: what an actor understands and what it answers, as types.
//
// A protocol is a *set* of signatures `R(Args...)`: their order does not matter. It exists at compile time only; at run time a handle is one pointer
// and a message is known by the address of its content type's descriptor (paper 001 §4.2, §5.3).
//
// Results in a signature may be `R`, `result<R>`, `task<R>` or `response_promise<R>`: they are the same signature, because they answer with R.
#pragma once

#include <garrick/core/pack.hpp>

#include <type_traits>

namespace garrick::core {

template <class... Ts>
class result;
template <class... Ts>
class response_promise;
template <class R>
class task;
template <class... Ts>
class delegated;

/// What a handler's return type answers with: `response<Ts...>`; nothing for `void`.
template <class... Ts>
struct response {
  using content = content_of<Ts...>;
};

namespace detail {

template <class R>
struct response_of {
  using type = response<R>;
};
template <>
struct response_of<void> {
  using type = response<>;
};
template <>
struct response_of<unit> {
  using type = response<>;
};
template <class... Ts>
struct response_of<result<Ts...>> {
  using type = response<Ts...>;
};
template <>
struct response_of<result<void>> {
  using type = response<>;
};
template <class... Ts>
struct response_of<response_promise<Ts...>> {
  using type = response<Ts...>;
};
template <class... Ts>
struct response_of<delegated<Ts...>> {
  using type = response<Ts...>;
};
template <class R>
struct response_of<task<R>> : response_of<R> {};

/// One signature taken apart.
template <class Sig>
struct signature;
template <class R, class... Args>
struct signature<R(Args...)> {
  using content = content_of<std::decay_t<Args>...>;
  using answer = typename response_of<R>::type;
  using normal = std::pair<content, answer>;
  static constexpr std::size_t arity = sizeof...(Args);
};

template <class A, class B>
inline constexpr bool same_signature = std::is_same_v<typename signature<A>::content, typename signature<B>::content> &&
                                       std::is_same_v<typename signature<A>::answer, typename signature<B>::answer>;

template <class Sig>
struct no_answer {};

/// The response type of the signature whose content is `Content`; `void` where there is none.
template <class Content, class... Sigs>
struct find_answer {
  using type = void;
};
template <class Content, class Sig, class... Rest>
struct find_answer<Content, Sig, Rest...> {
  using type =
      typename std::conditional_t<std::is_same_v<Content, typename signature<Sig>::content>,
                                  std::type_identity<typename signature<Sig>::answer>, find_answer<Content, Rest...>>::type;
};

template <class... Sigs>
constexpr bool distinct_contents() {
  if constexpr (sizeof...(Sigs) < 2) {
    return true;
  } else {
    return []<class First, class... Rest>(std::type_identity<First>, std::type_identity<Rest>...) {
      return (!std::is_same_v<typename signature<First>::content, typename signature<Rest>::content> && ...) &&
             distinct_contents<Rest...>();
    }(std::type_identity<Sigs>{}...);
  }
}

}  // namespace detail

/// A set of signatures, for example `protocol<void(deposit), result<long>(withdraw), long(balance)>`.
template <class... Sigs>
struct protocol {
  static_assert(detail::distinct_contents<Sigs...>(), "garrick: a protocol has two signatures for one message");

  /// Does the protocol understand a message with this content?
  template <class Content>
  static constexpr bool accepts = (std::is_same_v<Content, typename detail::signature<Sigs>::content> || ...);

  /// `response<Ts...>` of that signature.
  template <class Content>
  using answer = typename detail::find_answer<Content, Sigs...>::type;

  template <class Sig>
  static constexpr bool has = (detail::same_signature<Sig, Sigs> || ...);
};

/// The protocol of a handle that may be sent anything.
struct any_protocol {
  template <class>
  static constexpr bool accepts = true;
};

namespace detail {

template <class Sub, class Super>
struct subset : std::false_type {};
template <class... Sub, class... Super>
struct subset<protocol<Sub...>, protocol<Super...>> : std::bool_constant<(protocol<Super...>::template has<Sub> && ...)> {};
template <>
struct subset<any_protocol, any_protocol> : std::true_type {};

}  // namespace detail

/// May a handle for `Super` be used where `Sub` is asked for?
template <class Sub, class Super>
concept subset_of = detail::subset<Sub, Super>::value;

}  // namespace garrick::core
