// Signatures and protocols: the messages that an actor understands, and its answers, as types.
//
// A protocol is a *set* of signatures `R(Args...)`: their order does not matter. It exists at
// compile time only; at run time a handle is one pointer and a message is known by the address of
// its content type's descriptor (paper 001 §4.2, §5.3).
//
// Results in a signature may be `R`, `result<R>`, `task<R>` or `response_promise<R>`: they are the
// same signature, because they answer with R.
//
// Thread safety: compile time only.
#pragma once

#include <garrick/base/types/first_failure.hpp>
#include <garrick/core/protocol/pack.hpp>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace garrick::core {

template <class... Ts>
class result;
template <class... Ts>
class response_promise;
template <class R>
class task;
template <class... Ts>
class delegated;

/// The answer of a handler, with values of the types Ts; `response<>` if the handler returns void.
template <class... Ts>
struct response {
  using content = content_of<Ts...>;  ///< the type of the answer's content
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

/// The parts of a signature.
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
inline constexpr bool same_signature =
    std::is_same_v<typename signature<A>::content, typename signature<B>::content> &&
    std::is_same_v<typename signature<A>::answer, typename signature<B>::answer>;

template <class Sig>
struct no_answer {};

// Long protocols: no fold expressions and no recursion over signatures, since compilers nest both
// and allow 256 and 900 levels.

/// A longer protocol would compile slowly and be hard to read: split the actor.
inline constexpr std::size_t most_signatures = 512;

constexpr std::size_t first_true(std::initializer_list<bool> list) noexcept {
  std::size_t at = 0;
  for (const bool b : list) {
    if (b) return at;
    ++at;
  }
  return at;
}
constexpr bool any_true(std::initializer_list<bool> list) noexcept {
  return first_true(list) != list.size();
}
constexpr bool all_true(std::initializer_list<bool> list) noexcept {
  for (const bool b : list)
    if (!b) return false;
  return true;
}

template <std::size_t I, class T>
struct indexed {
  using type = T;
};
template <class Sequence, class... Ts>
struct indexed_list;
template <std::size_t... I, class... Ts>
struct indexed_list<std::index_sequence<I...>, Ts...> : indexed<I, Ts>... {};
template <std::size_t I, class T>
indexed<I, T> pick_indexed(const indexed<I, T>*);
template <std::size_t I, class... Ts>
using type_at = typename decltype(pick_indexed<I>(
    static_cast<indexed_list<std::index_sequence_for<Ts...>, Ts...>*>(nullptr)))::type;

/// Finds the response type of the signature with this content; `void` if there is none.
template <class Content, class... Sigs>
consteval auto find_answer() {
  constexpr std::size_t at =
      first_true({std::is_same_v<Content, typename signature<Sigs>::content>...});
  if constexpr (at < sizeof...(Sigs))
    return std::type_identity<typename signature<type_at<at, Sigs...>>::answer>{};
  else
    return std::type_identity<void>{};
}

template <class T, std::size_t I>
indexed<I, T> pick_typed(const indexed<I, T>*);

/// True if the list holds this type exactly once: the index cannot be deduced if there are two.
/// (Comparing the addresses of a variable template's instances would do as well, but is not a
/// constant expression for GCC with `-fsanitize=null`.)
template <class T, class List>
concept once_in = requires(const List* list) { pick_typed<T>(list); };

template <class List, class... Contents>
inline constexpr bool each_once = all_true({once_in<Contents, List>...});

template <class... Sigs>
consteval bool distinct_contents() {
  return each_once<
      indexed_list<std::index_sequence_for<Sigs...>, typename signature<Sigs>::content...>,
      typename signature<Sigs>::content...>;
}

}  // namespace detail

/// The messages that an actor understands, and its answers: a set of signatures `R(Args...)`.
/// Requires at most 512 signatures, and no two with the same arguments; otherwise it does not
/// compile. Their order does not matter. `R`, `result<R>`, `task<R>` and `response_promise<R>` are
/// the same answer. A protocol exists at compile time only.
///
///     using account = protocol<void(deposit), result<long>(withdraw), long(balance)>;
template <class... Sigs>
struct protocol {
  /// True if the protocol understands a message with this content.
  template <class Content>
  static constexpr bool accepts =
      detail::any_true({std::is_same_v<Content, typename detail::signature<Sigs>::content>...});

  /// The answer to a message with this content, as `response<Ts...>`; `void` if there is no such
  /// signature.
  template <class Content>
  using answer = typename decltype(detail::find_answer<Content, Sigs...>())::type;

  /// True if the protocol has this signature.
  template <class Sig>
  static constexpr bool has = detail::any_true({detail::same_signature<Sig, Sigs>...});

  // Last: clang leaves out the code behind a failed assertion, and complains of the missing names.
  static_assert(sizeof...(Sigs) <= detail::most_signatures,
                "garrick: a protocol has at most 512 signatures");
  static_assert(detail::distinct_contents<Sigs...>(),
                "garrick: a protocol has two signatures for one message");
};

/// The protocol of a handle that accepts every message.
struct any_protocol {
  /// True for every content.
  template <class>
  static constexpr bool accepts = true;
};

namespace detail {

template <class Sub, class Super>
struct subset : std::false_type {};
template <class... Sub, class... Super>
struct subset<protocol<Sub...>, protocol<Super...>>
    : std::bool_constant<all_true({protocol<Super...>::template has<Sub>...})> {};
template <>
struct subset<any_protocol, any_protocol> : std::true_type {};

}  // namespace detail

/// True if a handle for `Super` may be used where a handle for `Sub` is required.
template <class Sub, class Super>
concept subset_of = detail::subset<Sub, Super>::value;

namespace detail {

/// True for an actor's class. Not `actor_class`, which must not look into a class that is being
/// defined, such as one that holds a `ref` of itself.
template <class P>
inline constexpr bool has_mark_of_actors = requires { typename P::garrick_actor; };
template <class... Sigs>
inline constexpr bool has_mark_of_actors<protocol<Sigs...>> = false;
/// Holds for an actor's class in the place of its protocol.
template <class P>
concept actor_for_protocol = has_mark_of_actors<P>;

/// Instantiated only to fail. A class of its own: if an assertion fails in a class, clang treats
/// that class as broken, and every class with such a member.
template <class P, bool Is = false>
struct this_is_no_protocol : base::detail::failed_check {
  static_assert(Is,
                "garrick: this is no protocol<...>: a handle names the actor's protocol, as in "
                "ref<calculator> of `using calculator = protocol<...>`, and not its class");
};

/// True if a handle for Q converts implicitly to one for another protocol P. A handle for an
/// actor's class, which is an error that has been reported, converts in both directions, so that
/// there is no second error.
template <class Q, class P>
inline constexpr bool understands_more =
    subset_of<P, Q> || actor_for_protocol<P> || actor_for_protocol<Q>;
// Each copy of a handle asks this, so a protocol is not compared with itself.
template <class P>
inline constexpr bool understands_more<P, P> = false;
/// True if a wildcard handle is made of a handle for Q.
template <class Q, class P>
inline constexpr bool gives_up_check =
    std::is_same_v<P, any_protocol> && !std::is_same_v<Q, any_protocol>;
template <class Q, class P>
inline constexpr bool can_become = understands_more<Q, P> || gives_up_check<Q, P>;

}  // namespace detail

}  // namespace garrick::core
