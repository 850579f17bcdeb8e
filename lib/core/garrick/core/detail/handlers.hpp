// The compiler's checks of an actor's class before it may be spawned, and their error texts.
//
// Problem: a class is checked against its protocol deep inside templates, and compilers print the
// whole way there. So all checks are in `checked_actor`, which every spawning function names first.
// A check that fails is an error of a few lines, which names the actor and the signatures. Nothing
// after it is instantiated.
//
// Private: installed because templates need it.
//
// Thread safety: compile time only.
#pragma once

#include <garrick/base/platform/diagnostics.hpp>
#include <garrick/base/types/first_failure.hpp>
#include <garrick/base/values/exit_reason.hpp>
#include <garrick/core/detail/actor_class.hpp>
#include <garrick/core/detail/by_value.hpp>
#include <garrick/core/detail/invoke.hpp>
#include <garrick/core/detail/isolation.hpp>
#include <garrick/core/life/signals.hpp>
#include <garrick/core/protocol/protocol.hpp>
#include <garrick/core/receive_timeout.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace garrick::core::detail {

/// `a.on(xs...)` as a function object, so that overload resolution decides.
template <class A>
struct on_caller {
  A& a;
  // B delays the lookup of `on` until the call. So for an actor without any `on` this operator is
  // not viable, which is no error here.
  template <class... Ts, class B = A>
  auto operator()(Ts&&... xs) const -> decltype(std::declval<B&>().on(std::forward<Ts>(xs)...)) {
    return static_cast<B&>(a).on(std::forward<Ts>(xs)...);
  }
};

/// True if a handler's return type R can become `Answer`.
template <class R, class Answer>
inline constexpr bool answers = false;
template <class R, class... Ts>
inline constexpr bool answers<R, response<Ts...>> = [] {
  using plain = std::remove_cvref_t<R>;
  using own = typename response_of<plain>::type;
  if constexpr (std::is_same_v<own, response<Ts...>> || std::is_same_v<plain, base::error> ||
                std::is_same_v<own, response<refused_delegation>>)
    return true;
  else if constexpr (requires { typename plain::garrick_response; })
    return false;  // it converts to all types, in order to report why it is not a value
  else if constexpr (std::is_void_v<R> || is_task<plain> || is_promise<plain> ||
                     is_core_result<plain> || is_base_result<plain>)
    return requires {
      requires is_base_result<plain> && std::is_same_v<plain, base::result<Ts...>>;
    } || (is_promise<plain> && sizeof...(Ts) == 0) ||
           (sizeof...(Ts) == 0 && std::is_same_v<plain, base::result<void>>);
  else if constexpr (sizeof...(Ts) == 1 && (std::is_arithmetic_v<Ts> && ...))
    // a number that may lose its value is not an answer
    return (requires(R&& r) { Ts{std::forward<R>(r)}; } && ...);
  else
    return sizeof...(Ts) == 1 && (std::is_convertible_v<R, Ts> && ...);
}();

/// Represents a number of type T and converts to T alone. So a handler that accepts it takes a T,
/// and not a number to which a T would be converted silently.
template <class T>
struct exact_value {
  template <class U>
    requires std::is_same_v<U, T>
  operator U() const noexcept;
};
/// Like `exact_value`, for handlers that take a reference.
template <class T>
struct exact_reference {
  template <class U>
    requires std::is_same_v<U, T>
  operator U&() const noexcept;
};
template <template <class> class Probe, class T>
using exact_argument = std::conditional_t<std::is_arithmetic_v<T>, Probe<T>, T>;

/// False if a handler fits only because C++ converts numbers silently, as from an int to
/// on(double).
template <class F, class Content>
inline constexpr bool handles_exactly = handles<F, exact_argument<exact_value, Content>> ||
                                        handles<F, exact_argument<exact_reference, Content>>;
template <class F, class... Ts>
inline constexpr bool handles_exactly<F, pack<Ts...>> =
    handles<F, pack<exact_argument<exact_value, Ts>...>> ||
    handles<F, pack<exact_argument<exact_reference, Ts>...>>;

template <class F, class Content>
using handler_result = decltype(call_owned<Content>(std::declval<F&>(), std::declval<Content&>()));

/// The handler of an actor for one signature.
template <class Actor, class Signature>
struct handler_of {
  using content = typename signature<Signature>::content;
  using answer = typename signature<Signature>::answer;
  static constexpr bool exists = [] {
    if constexpr (requires { typename Actor::garrick_generic_handlers; })
      return handles<on_caller<Actor>, content>;
    else
      return handles<on_caller<Actor>, content> && handles_exactly<on_caller<Actor>, content>;
  }();
  static constexpr bool right_result = [] {
    if constexpr (exists)
      return answers<handler_result<on_caller<Actor>, content>, answer>;
    else
      return true;
  }();
  static constexpr bool borrows = [] {
    if constexpr (exists && !requires { typename Actor::garrick_generic_handlers; })
      return on_borrows<Actor, handler_result<on_caller<Actor>, content>, content>;
    else
      return false;
  }();
};

/// `a.skips(xs...)` as a function object, so that overload resolution decides.
template <class A>
struct skips_caller {
  A& a;
  template <class... Ts, class B = A>
  auto operator()(Ts&&... xs) const
      -> decltype(static_cast<bool>(std::declval<B&>().skips(std::forward<Ts>(xs)...))) {
    return static_cast<bool>(static_cast<B&>(a).skips(std::forward<Ts>(xs)...));
  }
};

/// True if class A may skip messages with this content.
template <class A, class Content>
inline constexpr bool may_skip = content_access<Content>::template reads<skips_caller<A>> &&
                                 handles_exactly<skips_caller<A>, Content>;
// No object of the next two classes is ever made.
GARRICK_NO_VIRTUAL_DESTRUCTORS_BEGIN
struct hook_names {
  void on_start();
  void on_exit();
  void skips();
};
/// In this class a hook's name is ambiguous if A has a member of that name, even a private one.
template <class A>
struct with_hook_names : A, hook_names {};
GARRICK_NO_VIRTUAL_DESTRUCTORS_END

/// Holds if A has a member of the name skips, so that each signature has to be checked.
template <class A>
concept names_skips = std::is_final_v<A> || !requires { &with_hook_names<A>::skips; };

/// True if A may skip some message of P. False for a protocol without a list of signatures.
template <class A, class P>
inline constexpr bool skips_some = false;
template <names_skips A, class... Sigs>
inline constexpr bool skips_some<A, protocol<Sigs...>> =
    any_true({may_skip<A, typename signature<Sigs>::content>...});

// Compilers print the names and arguments of these four, so they are part of the error's text.
template <class Actor, class... Signatures>
struct no_handler : base::detail::failed_check {
  static constexpr bool none = sizeof...(Signatures) == 0;  // it never is
  static_assert(none,
                "garrick: the actor has no public handler on(...) that fits, or several that fit "
                "alike, for these signatures of its protocol");
};
template <class Actor, class... Signatures>
struct wrong_result : base::detail::failed_check {
  static constexpr bool none = sizeof...(Signatures) == 0;  // it never is
  static_assert(none,
                "garrick: the handlers on(...) for these signatures of the protocol return "
                "something else, and "
                "one that delegates returns auto or a result<T>");
};
template <class Actor, class... Signatures>
struct coroutine_takes_references : base::detail::failed_check {
  static constexpr bool none = sizeof...(Signatures) == 0;  // it never is
  static_assert(none,
                "garrick: the handlers on(...) for these signatures return a task, and the message "
                "is gone at their first wait: take each part of it by value, on(M m) instead of "
                "on(const M& m)");
};
template <class Actor, class... Signatures>
struct answer_is_over_aligned : base::detail::failed_check {
  static constexpr bool none = sizeof...(Signatures) == 0;  // it never is
  static_assert(none,
                "garrick: the answers of these signatures are too wide: a message type may be "
                "aligned to 32 bytes at most");
};

/// Holds for an actor that may have behaviors and no `on`: dynamic_actor, typed_actor and classes
/// derived from them.
template <class Actor>
concept uses_behaviors = requires { typename Actor::garrick_uses_behaviors; };

/// The handlers of an actor for its whole protocol. This first form is for a protocol without a
/// list of signatures: there is nothing to check.
template <class Actor, class P>
struct handlers_of {
  static constexpr bool by_behavior = true;
  static constexpr bool fit = true;
  using first_fault = base::detail::passed_check;
};
template <class Actor, class... Sigs>
struct handlers_of<Actor, protocol<Sigs...>> {
  using mask = std::array<bool, sizeof...(Sigs)>;
  static constexpr bool by_behavior =
      uses_behaviors<Actor> &&
      !any_true({handles<on_caller<Actor>, typename signature<Sigs>::content>...});
  static constexpr mask lacking{(!by_behavior && !handler_of<Actor, Sigs>::exists)...};
  static constexpr mask lying{(!by_behavior && !handler_of<Actor, Sigs>::right_result)...};
  static constexpr mask borrowed{(!by_behavior && handler_of<Actor, Sigs>::borrows)...};
  static constexpr mask too_wide{(alignof(typename signature<Sigs>::answer::content) > 32)...};
  static constexpr mask lent_message{!owned_content<typename signature<Sigs>::content>...};
  static constexpr mask lent_answer{!owned_answer<typename signature<Sigs>::answer>...};

  static consteval std::size_t count(const mask& of) {
    std::size_t n = 0;
    for (const bool b : of) n += b ? 1 : 0;
    return n;
  }
  static consteval std::size_t nth(const mask& of, std::size_t n) {
    std::size_t at = 0;
    while (!of[at] || n-- != 0) ++at;
    return at;
  }
  enum which { lacking_ones, lying_ones, borrowing_ones, too_wide_ones };
  static consteval const mask& mask_of(which w) {
    return w == lacking_ones     ? lacking
           : w == lying_ones     ? lying
           : w == borrowing_ones ? borrowed
                                 : too_wide;
  }
  template <template <class, class...> class Report, which Which, std::size_t... N>
  static std::type_identity<Report<Actor, type_at<nth(mask_of(Which), N), Sigs...>...>> report(
      std::index_sequence<N...>);
  template <template <class, class...> class Report, which Which>
  using reported =
      base::detail::unless<count(mask_of(Which)) == 0,
                           typename decltype(report<Report, Which>(
                               std::make_index_sequence<count(mask_of(Which))>()))::type>;

  /// Finds the first message or answer that is not owned: a list of all would be too long.
  static auto first_sharing() {
    if constexpr (count(lent_message) != 0) {
      using first = type_at<nth(lent_message, 0), Sigs...>;
      return std::type_identity<checked_content<typename signature<first>::content, first>>{};
    } else if constexpr (count(lent_answer) != 0) {
      using first = type_at<nth(lent_answer, 0), Sigs...>;
      return std::type_identity<checked_answer<typename signature<first>::answer, first>>{};
    } else {
      return std::type_identity<base::detail::passed_check>{};
    }
  }

  static constexpr bool fit = count(lacking) == 0 && count(lying) == 0 && count(borrowed) == 0 &&
                              count(too_wide) == 0 && count(lent_message) == 0 &&
                              count(lent_answer) == 0;
  using first_fault = base::detail::first_failure<
      reported<no_handler, lacking_ones>, reported<wrong_result, lying_ones>,
      reported<coroutine_takes_references, borrowing_ones>,
      reported<answer_is_over_aligned, too_wide_ones>, typename decltype(first_sharing())::type>;
};

template <class A>
concept has_start = requires(A& a) { a.on_start(); };
template <class A>
concept has_exit = requires(A& a, const base::exit_reason& r) { a.on_exit(r); };

/// Holds for a blocking actor with a body.
template <class A>
concept has_body = requires(A& a) {
  typename A::garrick_blocking;
  a.run();
};
template <class A>
inline constexpr bool lacks_body = requires { typename A::garrick_blocking; } && !has_body<A>;
template <class A>
consteval bool lives_in_body() {
  if constexpr (has_body<A>)
    return !coroutine<decltype(std::declval<A&>().run())>;
  else
    return !lacks_body<A>;
}

/// Holds if A has a hook `on` for a Content that is not a message of its protocol: a signal, or its
/// receive time-out.
template <class A, class Content>
concept hears = requires(A& a, const Content& c) { a.on(c); };
/// Returns true unless A's hook for a Content is a coroutine that cannot run.
template <class A, class Content>
consteval bool hears_well() {
  if constexpr (hears<A, Content>) {
    using R = decltype(std::declval<A&>().on(std::declval<const Content&>()));
    if constexpr (coroutine<R>)
      return std::is_same_v<R, task<void>> && !borrowing_task<A, R, Content> &&
             !requires { typename A::garrick_blocking; };
    else
      return true;
  } else {
    return true;
  }
}
template <class A>
inline constexpr bool hears_all_well =
    hears_well<A, down>() && hears_well<A, exit_signal>() &&
    hears_well<A, signals::child_failed>() && hears_well<A, receive_timeout>();

/// Returns true if A has an on_start that cannot be called, and so would never run.
template <class A>
consteval bool hides_start() {
  if constexpr (has_start<A> || std::is_final_v<A>)
    return false;
  else
    return !requires { &with_hook_names<A>::on_start; };
}
/// Returns true if A has an on_exit that cannot be called, and so would never run.
template <class A>
consteval bool hides_exit() {
  if constexpr (has_exit<A> || std::is_final_v<A>)
    return false;
  else
    return !requires { &with_hook_names<A>::on_exit; };
}
/// Returns true if A has a skips that would never be called.
template <class A>
consteval bool hides_skips() {
  if constexpr (std::is_final_v<A> || !names_skips<A>)
    return false;
  else
    return !skips_some<A, typename A::protocol_type>;
}
template <class A>
consteval bool exits_at_once() {
  if constexpr (has_exit<A>)
    return std::is_void_v<decltype(std::declval<A&>().on_exit(
        std::declval<const base::exit_reason&>()))>;
  else
    return true;
}
template <class A>
consteval bool starts_well() {
  if constexpr (has_start<A>) {
    using R = decltype(std::declval<A&>().on_start());
    return std::is_void_v<R> ||
           (std::is_same_v<R, task<void>> && !requires { typename A::garrick_blocking; });
  } else {
    return true;
  }
}

template <class A>
inline constexpr bool hooks_fit =
    lives_in_body<A>() && starts_well<A>() && exits_at_once<A>() && hears_all_well<A> &&
    !hides_start<A>() && !hides_exit<A>() && !hides_skips<A>();
template <class Actor>
struct wrong_hook : base::detail::failed_check {
  static constexpr bool starts = starts_well<Actor>();
  static constexpr bool exits = exits_at_once<Actor>();
  static constexpr bool shows_start = !hides_start<Actor>();
  static constexpr bool shows_exit = !hides_exit<Actor>();
  static constexpr bool shows_skips = !hides_skips<Actor>();
  static constexpr bool lives = lives_in_body<Actor>();
  static constexpr bool hears_well = hears_all_well<Actor>;
  static_assert(
      lives,
      "garrick: a blocking actor's class needs a public void run(), which is its whole life");
  static_assert(starts,
                "garrick: on_start() returns void or, unless the actor is a blocking one, task<>");
  static_assert(
      exits,
      "garrick: on_exit(const exit_reason&) returns void: an actor that ends cannot wait any more");
  static_assert(hears_well,
                "garrick: if on(down), on(exit_signal), on(child_failed) or on(receive_timeout) is "
                "a coroutine, it returns task<> and takes its message by value; a blocking actor's "
                "is none");
  static_assert(shows_start,
                "garrick: on_start() must be public and take no argument, or it would never run");
  static_assert(shows_exit,
                "garrick: on_exit(const exit_reason&) must be public, or it would never run");
  static_assert(shows_skips,
                "garrick: bool skips(const M&) must be public and take a message of the protocol, "
                "or it would never be asked; a dynamic actor says set_unmatched(unmatched::skip)");
};

/// True if an actor of this class may be spawned. Separate from checked_actor, which reports an
/// error otherwise.
template <class A>
inline constexpr bool fits_as_actor = false;
template <actor_class A>
inline constexpr bool fits_as_actor<A> =
    handlers_of<A, typename A::protocol_type>::fit && hooks_fit<A>;

/// Every check of an actor's class, done once per class.
template <class A>
struct checked_actor {
  static constexpr bool fits = actor_class<A>;  // false here
  static constexpr bool reported = true;
  static_assert(fits,
                "garrick: this is no actor: its class must be defined, and derive publicly from "
                "actor<protocol<...>>, dynamic_actor, typed_actor<P> or blocking_actor");
};
template <actor_class A>
struct checked_actor<A> {
  using handlers = handlers_of<A, typename A::protocol_type>;
  static constexpr bool reported = true;

  static_assert(
      base::detail::first_failure<typename handlers::first_fault,
                                  base::detail::unless<hooks_fit<A>, wrong_hook<A>>>::reported);
};

}  // namespace garrick::core::detail
