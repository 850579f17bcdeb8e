// The isolation check of answers. Messages are checked where they are sent (send.hpp).
//
// Problem: an answer's type is named in many places: by a protocol's signature, by a request of a
// wildcard handle, by a promise, by a case of a behavior. Each of these names `checked_answer`, so
// none of them lets a pointer or a view through, and the error is one of a few lines.
//
// Private: installed because templates need it.
//
// Thread safety: compile time only.
#pragma once

#include <garrick/base/types/sendable.hpp>
#include <garrick/core/protocol/protocol.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace garrick::core::detail {

/// What in an answer, a response<Ts...>, is not owned.
template <class Answer>
struct not_owned_of {
  using type = base::detail::nothing_found;
};
template <class... Ts>
struct not_owned_of<response<Ts...>> : base::detail::search_arguments<Ts...> {};

/// Does an answer own all that it refers to?
template <class Answer>
inline constexpr bool owned_answer =
    std::is_same_v<typename not_owned_of<Answer>::type, base::detail::nothing_found>;

struct in_answer {
  static constexpr std::string_view name = "answer";
};

template <class... Signature>
std::type_identity<base::detail::can_be_sent> report_of_answer(base::detail::nothing_found);
template <class... Signature, class T, class Reason, std::size_t... Path>
std::type_identity<base::detail::cannot_be_sent<base::detail::path_of<in_answer, Path...>(), T,
                                                Reason, Signature...>>
    report_of_answer(base::detail::found<T, Reason, Path...>);

/// `checked_answer<Answer>::reported` is an error that names the path in the answer, the type, the
/// reason and the signature, if there is one, unless the answer is owned. An alias, so that the
/// compiler's backtrace is short.
template <class Answer, class... Signature>
using checked_answer =
    typename decltype(report_of_answer<Signature...>(typename not_owned_of<Answer>::type()))::type;

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
