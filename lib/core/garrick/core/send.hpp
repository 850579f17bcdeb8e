// Sending: from anywhere to a handle, checked against the receiver's protocol and the isolation rule at compile time.
//
// Requires: a non-empty handle (an empty one throws std::logic_error). Guarantees: the message arrives, in order per sender, receiver and priority and in causal order, or
// becomes a dead letter with a reason. Thread safety: any thread. Blocks only to slow a sender whose receiver can run but is over its soft limit
// (bounded; see docs/decisions/0001-hot-path.md, Flat memory).
#pragma once

#include <garrick/base/sendable.hpp>
#include <garrick/core/cell.hpp>
#include <garrick/core/pack.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/core/signature.hpp>

#include <type_traits>
#include <utility>

namespace garrick::core {

class message;

/// A handle to several actors (router.hpp): everything that sends picks one of them, or all.
template <class R>
concept router_handle = requires { typename R::garrick_router; };

namespace detail {

[[noreturn]] void throw_empty_handle();

/// Pushes if there is room; frees `e` and says why if not.
[[nodiscard]] base::error send_if_room(cell& to, envelope* e) noexcept;

/// Instantiated where a message does not fit: its name and arguments are the error text.
template <class Receiver, class Message>
struct receiver_does_not_understand {
  static_assert(Receiver::template accepts<Message>, "garrick: this message is not in the receiver's protocol");
};

/// A message value (message.hpp) as the only argument is not a content of its own: what it holds is sent.
template <class... Args>
concept message_value = sizeof...(Args) == 1 && (requires { typename std::remove_cvref_t<Args>::garrick_message; } && ...);

template <class Sequence, class... Args>
struct sendable_arguments;
template <std::size_t... I, class... Args>
struct sendable_arguments<std::index_sequence<I...>, Args...> {
  // The place of an argument is the first step of the path in the error message, if there are several.
  static constexpr bool checked = (base::check_sendable<Args, I>(), ..., true);
};
template <class Arg>
struct sendable_arguments<std::index_sequence<0>, Arg> {
  static constexpr bool checked = (base::check_sendable<Arg>(), true);
};

/// The content type of a message with these arguments, checked to be sendable.
template <class... Args>
struct message_of {
  using type = content_of<std::decay_t<Args>...>;
  static constexpr bool checked = sendable_arguments<std::index_sequence_for<Args...>, std::decay_t<Args>...>::checked;
};
template <class M>
  requires message_value<M>
struct message_of<M> {
  using type = typename std::remove_cvref_t<M>::garrick_message;
  static constexpr bool checked = true;
};

/// Every check of one send, done once per (protocol, message).
template <class P, class... Args>
struct checked_message {
  using type = typename message_of<Args...>::type;
  static constexpr bool sendable = message_of<Args...>::checked;
  static constexpr bool fits = sizeof(receiver_does_not_understand<P, type>) != 0;
  static_assert(sendable && fits);
};

/// An envelope that shares what `m` holds. Defined in message.cpp.
[[nodiscard]] envelope* envelope_of(const message& m);

template <class Content, class... Args>
[[nodiscard]] envelope* make_message_envelope(Args&&... args) {
  if constexpr (message_value<Args...>)
    return envelope_of(args...);
  else if constexpr (sizeof...(Args) > 1)
    return make_envelope<Content>(std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...));
  else
    return make_envelope<Content>(std::forward<Args>(args)...);
}

inline cell& target_of(const handle& to) {
  cell* const c = handle_access::get(to);
  if (c == nullptr) [[unlikely]]
    throw_empty_handle();
  return *c;
}

}  // namespace detail

/// Sends a message of normal priority.
template <class P, class... Args>
void send(const ref<P>& to, Args&&... args) {
  using content = typename detail::checked_message<P, Args...>::type;
  cell& c = detail::target_of(to);
  envelope* const e = detail::make_message_envelope<content>(std::forward<Args>(args)...);
  e->sender_id = detail::running_id();
  c.deliver(e);
}

/// Sends a message of urgent priority: it overtakes normal mail, but leaves every ninth turn to it.
template <class P, class... Args>
void send_urgent(const ref<P>& to, Args&&... args) {
  using content = typename detail::checked_message<P, Args...>::type;
  cell& c = detail::target_of(to);
  envelope* const e = detail::make_message_envelope<content>(std::forward<Args>(args)...);
  e->sender_id = detail::running_id();
  c.deliver_urgent(e);
}

/// Sends if the receiver has room (below its bound or, without one, its soft limit) and never waits. Otherwise the error: `overload` or `receiver_gone`, and
/// there is no dead letter, since the sender knows.
template <class P, class... Args>
[[nodiscard]] base::error try_send(const ref<P>& to, Args&&... args) {
  using content = typename detail::checked_message<P, Args...>::type;
  cell& c = detail::target_of(to);
  return detail::send_if_room(c, detail::make_message_envelope<content>(std::forward<Args>(args)...));
}

/// While it lives, no send on this thread runs its receiver in place; for code that holds a lock across a send.
class no_in_place_scope {
 public:
  no_in_place_scope() noexcept { ++base::this_thread.no_in_place; }
  ~no_in_place_scope() { --base::this_thread.no_in_place; }
  no_in_place_scope(const no_in_place_scope&) = delete;
  no_in_place_scope& operator=(const no_in_place_scope&) = delete;
};

}  // namespace garrick::core
