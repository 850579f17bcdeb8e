// The isolation check of the types that a protocol names: messages and answers. Messages are also
// checked where they are sent (send.hpp), since a wildcard handle has no protocol.
//
// Problem: an answer's type is named in many places: by a protocol's signature, by a request of a
// wildcard handle, by a promise, by a case of a behavior; a message's type by signatures and cases.
// Each of these names `checked_answer` or `checked_content`, so none of them lets a pointer or a
// view through, and the error is one of a few lines.
//
// A handle, too, names a protocol, but perhaps before its messages are defined: a message may hold
// a handle that takes the message. A check of a class that is only declared would fix its result
// for the whole program. So `looked_at` refuses only types of which the name alone tells enough,
// such as pointers and views. All others are checked where an actor is spawned or a message is
// sent.
//
// Private: installed because templates need it.
//
// Thread safety: compile time only.
#pragma once

#include <garrick/base/types/first_failure.hpp>
#include <garrick/base/types/sendable.hpp>
#include <garrick/core/protocol/protocol.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace garrick::core::detail {

/// `type` is the first part of an answer, response<Ts...>, that the answer does not own, or
/// `nothing_found`.
template <class Answer>
struct not_owned_of {
  using type = base::detail::nothing_found;
};
template <class... Ts>
struct not_owned_of<response<Ts...>> : base::detail::search_arguments<Ts...> {};

/// True if an answer owns all that it refers to.
template <class Answer>
inline constexpr bool owned_answer =
    std::is_same_v<typename not_owned_of<Answer>::type, base::detail::nothing_found>;

/// `type` is the first part of a message with this content that the message does not own, or
/// `nothing_found`.
template <class Content>
struct not_owned_in : base::detail::search_arguments<Content> {};
template <class... Ts>
struct not_owned_in<pack<Ts...>> : base::detail::search_arguments<Ts...> {};
template <>
struct not_owned_in<unit> {
  using type = base::detail::nothing_found;
};

/// True if a message with this content owns all that it refers to.
template <class Content>
inline constexpr bool owned_content =
    std::is_same_v<typename not_owned_in<Content>::type, base::detail::nothing_found>;

struct in_answer {
  static constexpr std::string_view name = "answer";
};

template <class Root, class... Signature>
std::type_identity<base::detail::passed_check> report_with(base::detail::nothing_found);
template <class Root, class... Signature, class T, class Reason, std::size_t... Path>
std::type_identity<
    base::detail::cannot_be_sent<base::detail::path_of<Root, Path...>(), T, Reason, Signature...>>
    report_with(base::detail::found<T, Reason, Path...>);

template <class Kind>
inline constexpr bool is_refused = false;
template <class Reason>
inline constexpr bool is_refused<base::detail::refused<Reason>> = true;

/// Unless the answer is owned, `checked_answer<Answer>::reported` is an error that names the path
/// in the answer, the type, the reason and, if one is given, the signature. An alias, so that the
/// compiler's backtrace is short.
template <class Answer, class... Signature>
using checked_answer = typename decltype(report_with<in_answer, Signature...>(
    typename not_owned_of<Answer>::type()))::type;
/// The same for a message with this content.
template <class Content, class... Signature>
using checked_content = typename decltype(report_with<base::detail::in_message, Signature...>(
    typename not_owned_in<Content>::type()))::type;

/// Returns true for a policy among the arguments of a standard template. Policies are not checked:
/// that would define a std::hash before a user specializes it.
consteval bool is_policy(std::string_view name) {
  return base::detail::is_one_of(name,
                                 "char_traits allocator default_delete less greater equal_to hash");
}
/// Returns true if T's name alone tells that a T is not owned: T is *plainly shared*.
template <class T>
consteval bool is_plainly_shared();
/// True if an argument of a standard template, such as the element type of a container, is plainly
/// shared.
template <class Kind>
inline constexpr bool has_shared_part = false;
template <class... Parts>
inline constexpr bool has_shared_part<base::detail::made_of<Parts...>> =
    (is_plainly_shared<Parts>() || ...);
template <class... Parts>
inline constexpr bool has_shared_part<base::detail::points_to<Parts...>> =
    (is_plainly_shared<Parts>() || ...);
template <class... Parts>
inline constexpr bool has_shared_part<base::detail::shares<Parts...>> =
    (is_plainly_shared<Parts>() || ...);

template <class T>
consteval bool is_plainly_shared() {
  if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T> ||
                std::is_reference_v<T>) {
    return true;
  } else if constexpr (!std::is_class_v<T>) {
    return false;
  } else {
    constexpr std::string_view name = base::detail::standard_name<T>();
    if constexpr (name.empty() || is_policy(name)) {
      return false;  // a user's class; or a policy
    } else {
      using kind = typename base::detail::wrapped<T>::type;
      if constexpr (is_refused<kind>)
        return !base::is_sendable<T>;  // a view, a std::function; or an empty class, which is owned
      else
        return has_shared_part<kind>;
    }
  }
}
/// True if T's name alone tells that a T is not owned. Needs no complete class.
template <class T>
inline constexpr bool plainly_shared = is_plainly_shared<T>();

/// True if a part of a signature's message or answer is plainly shared.
template <class Content>
inline constexpr bool content_plainly_shared = plainly_shared<Content>;
template <class... Ts>
inline constexpr bool content_plainly_shared<pack<Ts...>> =
    any_true({plainly_shared<Ts>..., false});
template <class Answer>
inline constexpr bool answer_plainly_shared = false;
template <class... Ts>
inline constexpr bool answer_plainly_shared<response<Ts...>> =
    any_true({plainly_shared<Ts>..., false});

/// Returns the report of the first signature with a plainly shared message or, if there is none, of
/// the first with a plainly shared answer; otherwise passed_check.
template <class... Sigs>
consteval auto find_plainly_shared() {
  constexpr std::size_t content =
      first_true({content_plainly_shared<typename signature<Sigs>::content>..., true});
  constexpr std::size_t answer =
      first_true({answer_plainly_shared<typename signature<Sigs>::answer>..., true});
  if constexpr (content < sizeof...(Sigs)) {
    using first = type_at<content, Sigs...>;
    return std::type_identity<checked_content<typename signature<first>::content, first>>{};
  } else if constexpr (answer < sizeof...(Sigs)) {
    using first = type_at<answer, Sigs...>;
    return std::type_identity<checked_answer<typename signature<first>::answer, first>>{};
  } else {
    return std::type_identity<base::detail::passed_check>{};
  }
}

/// Always true. Its use makes the compiler check the protocol, so a wrong one is refused where a
/// handle or an actor is first declared with it, and not only where a message is sent.
template <class P>
inline constexpr bool looked_at = true;
template <class... Sigs>
inline constexpr bool looked_at<protocol<Sigs...>> =
    sizeof(protocol<Sigs...>) != 0 && decltype(find_plainly_shared<Sigs...>())::type::reported;

/// The answer to a message of this content, as response<Ts...>; void if there is none.
template <class P, class Content>
struct answer_to {
  using type = void;
};
template <class... Sigs, class Content>
struct answer_to<protocol<Sigs...>, Content> {
  using type = typename protocol<Sigs...>::template answer<Content>;
};

}  // namespace garrick::core::detail
