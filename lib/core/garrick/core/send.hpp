// Sending: from anywhere to a handle, checked against the receiver's protocol and the isolation
// rule at compile time.
//
// Requires a non-empty handle (an empty one throws std::logic_error). Guarantees that the message
// arrives, in order per sender, receiver and priority and in causal order, or becomes a dead letter
// with a reason. Blocks only to slow a sender, while the receiver can run but is over its soft
// limit; the wait is bounded (docs/internals/overload.md). Thread safety: any thread.
#pragma once

#include <garrick/base/types/first_failure.hpp>
#include <garrick/base/types/sendable.hpp>
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/protocol/pack.hpp>
#include <garrick/core/protocol/protocol.hpp>
#include <garrick/core/ref.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace garrick::core {

/// A handle to several actors (router.hpp). A send or request through it goes to one of them, or to
/// all.
template <class R>
concept router_handle = requires { typename R::garrick_router; };

namespace detail {

/// Throws; `operation` is the refused operation, such as "a send".
[[noreturn, gnu::cold]] void throw_empty_handle(const char* operation = "a send");

/// Pushes if there is room; otherwise returns the reason.
[[nodiscard]] base::error send_if_room(cell& to, envelope_ptr e) noexcept;
[[nodiscard]] bool run_if_it_waits(cell& c) noexcept;
void lose(cell& receiver, envelope_ptr e, base::error why) noexcept;

/// True for a message value (message.hpp) as the only argument. It is not a content of its own: the
/// message that it holds is sent.
template <class... Args>
concept message_value = sizeof...(Args) == 1 &&
                        (requires { typename std::remove_cvref_t<Args>::garrick_message; } && ...);

/// Any type that is not a handle. Only for errors: its conversion is worse than every other choice,
/// so a user's own `send` that fits is called.
struct not_a_handle {
  template <class T>
    requires(base::detail::complete<T> && !std::is_base_of_v<handle, T> && !router_handle<T>)
  not_a_handle(const T& /*no handle*/) {}
};
struct anything {
  anything() = default;
  template <class T>
  anything(const T& /*unused*/) {}
};
template <bool Reached>
struct sent_to_no_handle : base::detail::failed_check {
  static_assert(!Reached,
                "garrick: send(to, ...) sends to a handle: to a ref, an any_ref or a router");
};
template <bool Reached>
struct asked_no_handle : base::detail::failed_check {
  static_assert(!Reached,
                "garrick: request(to, ...) and delegate(to, ...) take a handle first, a ref or a "
                "router: inside its own actor that is self(), and a weak_ref's is lock()");
};
/// The parameter type for braces without a type. All other arguments prefer another overload.
struct braced {
  template <class... Ts>
  braced(const Ts&... /*unused*/) {}
};

template <class P>
struct message_in_braces : base::detail::failed_check {
  static_assert(std::is_void_v<P>,
                "garrick: braces alone have no type: name the message's, as in send(to, "
                "deposit{500})");
};

/// The content type of a message with these arguments, and its first part that is not owned.
template <class... Args>
struct message_of {
  using type = content_of<std::decay_t<Args>...>;
  using not_owned = typename base::detail::search_arguments<std::decay_t<Args>...>::type;
};
template <class M>
  requires message_value<M>
struct message_of<M> {
  using type = typename std::remove_cvref_t<M>::garrick_message;
  using not_owned = base::detail::nothing_found;
};

/// True if a message's part can be made of this argument: false if the argument would be copied but
/// can only be moved.
template <class Arg>
inline constexpr bool can_be_part = [] {
  if constexpr (base::detail::complete<std::decay_t<Arg>>)
    return std::is_constructible_v<std::decay_t<Arg>, Arg>;
  else
    return false;
}();
/// True if the message can be made of these arguments.
template <class... Args>
inline constexpr bool can_be_made_from = (can_be_part<Args> && ...);

/// The alignment of a message, if the compiler can know it; otherwise 0.
template <class Content>
inline constexpr std::size_t alignment_of = [] {
  if constexpr (base::detail::complete<Content>)
    return alignof(Content);
  else
    return std::size_t{0};
}();
template <class... Ts>
inline constexpr std::size_t alignment_of<pack<Ts...>> = [] {
  if constexpr ((base::detail::complete<Ts> && ...))
    return alignof(pack<Ts...>);
  else
    return std::size_t{0};
}();

// Each of these names one failure: its name and arguments are the error text. They are apart from
// the class that uses them, since clang does not know the members of a class with a failed
// assertion.
template <class Receiver, class Message>
struct receiver_does_not_understand : base::detail::failed_check {
  static_assert(Receiver::template accepts<Message>,
                "garrick: this message is not in the receiver's protocol");
};
template <class Receiver, class Message, class Meant>
struct message_has_another_type : base::detail::failed_check {
  static_assert(std::is_same_v<Message, Meant>,
                "garrick: this message is not in the receiver's protocol, but it converts to one "
                "that is: types must match exactly, so make it of the right types, as in "
                "send(to, long(x)) or send(to, std::string(x))");
};
template <bool Made, class... Args>
struct argument_must_be_moved : base::detail::failed_check {
  static_assert(
      Made, "garrick: an argument can be moved only, not copied: std::move it into the message");
};
template <class... Args>
struct argument_cannot_be_moved : base::detail::failed_check {
  static constexpr bool can = (can_be_part<std::decay_t<Args>> && ...);
  static_assert(can,
                "garrick: an argument can be neither moved nor copied, and a message must be: send "
                "its parts, or a std::unique_ptr to it");
};
template <class Message, bool Fits = false>
struct message_is_over_aligned : base::detail::failed_check {
  static_assert(Fits, "garrick: a message type may be aligned to 32 bytes at most");
};
template <class Message>
using alignment_check =
    base::detail::unless<alignment_of<Message> <= 32, message_is_over_aligned<Message>>;

template <class From, class To>
inline constexpr bool converts = std::is_convertible_v<From, To>;
template <class... From, class... To>
  requires(sizeof...(From) == sizeof...(To))
inline constexpr bool converts<pack<From...>, pack<To...>> =
    (std::is_convertible_v<From, To> && ...);

/// The error for a message that is not in the protocol. If it converts to a message of the
/// protocol, the error says so: for example, an int is sent, and the receiver takes a long.
template <class P, class Message>
struct misunderstood {
  using type = receiver_does_not_understand<P, Message>;
};
template <class... Sigs, class Message>
struct misunderstood<protocol<Sigs...>, Message> {
  static constexpr std::size_t meant =
      first_true({converts<Message, typename signature<Sigs>::content>..., true});
  static auto choose() {
    if constexpr (meant < sizeof...(Sigs))
      return std::type_identity<message_has_another_type<
          protocol<Sigs...>, Message, typename signature<type_at<meant, Sigs...>>::content>>{};
    else
      return std::type_identity<receiver_does_not_understand<protocol<Sigs...>, Message>>{};
  }
  using type = typename decltype(choose())::type;
};

/// The check of a message's content. If the receiver does not understand the message, that is the
/// only error; otherwise the error names a part that is not owned.
template <class P, class Message, class NotOwned>
struct content_check {
  using type = base::detail::report<NotOwned>;
};
template <class P, class Message, class NotOwned>
  requires(!P::template accepts<Message>)
struct content_check<P, Message, NotOwned> : misunderstood<P, Message> {};

/// The error for arguments from which the message cannot be made. No error if an earlier check has
/// reported one.
template <class NotOwned, class... Args>
consteval auto check_of_making() {
  if constexpr (!std::is_same_v<NotOwned, base::detail::nothing_found> || can_be_made_from<Args...>)
    return std::type_identity<base::detail::passed_check>{};
  else if constexpr ((can_be_part<std::decay_t<Args>> && ...))
    return std::type_identity<argument_must_be_moved<false, Args...>>{};
  else
    return std::type_identity<argument_cannot_be_moved<Args...>>{};
}

/// Every check of one send, done once for each pair of protocol and message. The functions that
/// send name this class first: a failure is then one short error, and the rest of the function
/// compiles.
template <class P, class... Args>
struct checked_message {
  using type = typename message_of<Args...>::type;
  using not_owned = typename message_of<Args...>::not_owned;
  static constexpr bool fits =
      P::template accepts<type> && can_be_made_from<Args...> && alignment_of<type> <= 32;

  static_assert(
      base::detail::first_failure<typename content_check<P, type, not_owned>::type,
                                  typename decltype(check_of_making<not_owned, Args...>())::type,
                                  alignment_check<type>>::reported);
};
/// An actor's class in the place of P has no checks: `ref` has reported that it is not a protocol.
template <actor_for_protocol P, class... Args>
struct checked_message<P, Args...> {
  using type = typename message_of<Args...>::type;
  static constexpr bool fits = false;
};
/// The checks of a message that is built in place.
template <class P, class Message>
struct checked_in_place {
  static constexpr bool fits = P::template accepts<Message> && alignment_of<Message> <= 32;

  using not_owned = typename base::detail::search_arguments<Message>::type;
  static_assert(base::detail::first_failure<typename content_check<P, Message, not_owned>::type,
                                            alignment_check<Message>>::reported);
};
template <actor_for_protocol P, class Message>
struct checked_in_place<P, Message> {
  static constexpr bool fits = false;
};

template <class Content, class... Args>
[[nodiscard]] envelope* make_message_envelope(Args&&... args) {
  if constexpr (!can_be_made_from<Args...> || alignment_of<Content> > 32)
    return nullptr;  // checked_message has reported the reason
  else if constexpr (message_value<Args...>)
    return envelope_of(std::forward<Args>(args)...);  // message.hpp
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
/// The same for an operation other than a send.
inline cell& target_of(const handle& to, const char* operation) {
  cell* const c = handle_access::get(to);
  if (c == nullptr) [[unlikely]]
    throw_empty_handle(operation);
  return *c;
}

}  // namespace detail

/// Sends a message of normal priority, made of the arguments.
///
/// Messages of one sender reach one receiver in their order, and causal order holds. If the
/// receiver has ended, the message is a dead letter (`not_handled`). If its mailbox is over the
/// soft limit and the receiver can run, the call waits for it or, on a worker, runs it in place for
/// a batch; the wait is bounded. At the hard limit the message is a dead letter (`overload`).
///
/// Costs one block from a thread-local pool. Errors: throws std::logic_error for an empty handle,
/// std::bad_alloc, and any exception of copying the arguments; then the message was not sent.
/// Thread safety: any thread, in an actor or not.
///
///     send(account, deposit{500});
///     send(math, plus{}, 1, 2);  // a message of three parts
template <class P, class... Args>
[[gnu::hot]] void send(const ref<P>& to, Args&&... args) {
  using content = typename detail::checked_message<P, Args...>::type;
  cell& c = detail::target_of(to);
  envelope* const e = detail::make_message_envelope<content>(std::forward<Args>(args)...);
  e->sender_id = detail::running_id();
  c.deliver(e);
}

/// This overload refuses a first argument that is not a handle.
template <bool Reached = true>
void send(detail::not_a_handle, detail::anything = {}, detail::anything = {}, detail::anything = {},
          detail::anything = {}) {
  static_assert(detail::sent_to_no_handle<Reached>::reported);
}
/// This overload refuses a message in braces without a type.
template <class P>
void send(const ref<P>&, detail::braced) {
  static_assert(detail::message_in_braces<P>::reported);
}

/// Like `send`, with urgent priority: the message overtakes normal mail that waits in the receiver.
/// After eight urgent messages in a row, one normal message is handled.
template <class P, class... Args>
void send_urgent(const ref<P>& to, Args&&... args) {
  using content = typename detail::checked_message<P, Args...>::type;
  cell& c = detail::target_of(to);
  envelope* const e = detail::make_message_envelope<content>(std::forward<Args>(args)...);
  e->sender_id = detail::running_id();
  c.deliver_urgent(e);
}

/// Sends if the receiver has room: below its bound or, without one, its soft limit. Never waits.
///
/// Returns the error `overload` or `not_handled` if the message was not sent; such a message is not
/// a dead letter, since the sender has the error. A full mailbox of the policy `drop_newest` is not
/// an error: the message is dropped, as the receiver asked, and is a dead letter. Throws as `send`.
/// Thread safety: any thread.
///
///     if (error why = try_send(sink, sample{x})) skipped_ += 1;
template <class P, class... Args>
[[nodiscard]] base::error try_send(const ref<P>& to, Args&&... args) {
  using content = typename detail::checked_message<P, Args...>::type;
  cell& c = detail::target_of(to);
  return detail::send_if_room(
      c, envelope_ptr(detail::make_message_envelope<content>(std::forward<Args>(args)...)));
}

/// Runs the actor now, inside the caller, if it waits for its turn: for a batch at most, as a send
/// does for a full mailbox. For a handler that has just sent messages which its receiver should
/// handle before the handler continues.
///
/// Returns true if the actor ran. Returns false, without an effect, if the actor is idle, or is
/// running already, perhaps further down this stack; if the caller is not a handler on one of the
/// actor's workers; if the stack has no room for another run; or if in-place runs are switched off
/// for the system, the actor or this scope. Throws std::logic_error for an empty handle.
///
///     send(index, entry);
///     if (run_in_place(index)) ++indexed_at_once_;
template <class P>
bool run_in_place(const ref<P>& who) {
  return detail::run_if_it_waits(detail::target_of(who, "run_in_place"));
}

/// Makes a message for `receiver` a dead letter with the reason `why`, which is counted and
/// reported to subscribers and probes. For code that carries messages by itself, such as a
/// connection or a queue, and has to give one up. The sender is the actor that calls. The arguments
/// make the message as in `send`. Throws as `send`. Thread safety: any thread.
///
///     report_dead_letter(printer, make_error(errc::overload, "spool"), page{text});
template <class P, class... Args>
void report_dead_letter(const ref<P>& receiver, base::error why, Args&&... args) {
  using content = typename detail::checked_message<P, Args...>::type;
  cell& c = detail::target_of(receiver, "report_dead_letter");
  envelope_ptr e(detail::make_message_envelope<content>(std::forward<Args>(args)...));
  e->sender_id = detail::running_id();
  detail::lose(c, std::move(e), std::move(why));
}

/// As long as it lives, keeps the sends of this thread from waiting for their receivers and from
/// running them in place. For threads that others wait for, such as those of sockets, devices and
/// clocks.
///
/// A mailbox over its soft limit still takes the message, up to its hard limit. A mailbox with a
/// bound follows its policy, and treats `wait` as `reject`. `try_send` tells such a thread to hold
/// back. Scopes nest.
///
///     const no_wait_scope scope;
///     for (packet& p : arrived) send(decoder, std::move(p));
class no_wait_scope {
 public:
  no_wait_scope() noexcept { ++base::this_thread.no_wait; }
  ~no_wait_scope() { --base::this_thread.no_wait; }
  no_wait_scope(const no_wait_scope&) = delete;
  no_wait_scope& operator=(const no_wait_scope&) = delete;
};

/// As long as it lives, keeps the sends of this thread from running their receivers in place. For
/// code that holds a lock across a send, since the receiver's handlers may want it, too. A send may
/// still wait for a full receiver, for a bounded time. Scopes nest.
///
///     const no_in_place_scope scope;
///     const std::lock_guard guard(mutex_);  send(sink, x);
class no_in_place_scope {
 public:
  no_in_place_scope() noexcept { ++base::this_thread.no_in_place; }
  ~no_in_place_scope() { --base::this_thread.no_in_place; }
  no_in_place_scope(const no_in_place_scope&) = delete;
  no_in_place_scope& operator=(const no_in_place_scope&) = delete;
};

}  // namespace garrick::core
