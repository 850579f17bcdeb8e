// Calls a handler with a message's content, and turns the handler's result into the response.
//
// For the programmer this is call by value; underneath it is copy-on-write (paper 001 §4.1 and §5.2
// of docs/papers.md). An envelope that owns its content hands it over as an rvalue. Shared content
// reaches a handler as a const reference. The handler gets a copy of its own only if it
// takes a value or a mutable reference while the block has other holders.
//
// Private: installed because templates need it.
#pragma once

#include <garrick/base/types/copyable.hpp>
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/life/respond.hpp>
#include <garrick/core/promise.hpp>
#include <garrick/core/protocol/pack.hpp>
#include <garrick/core/protocol/protocol.hpp>
#include <garrick/core/result.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace garrick::core::detail {

/// The ways to call a function with a content: moved, changeable or constant. A pack becomes one
/// argument for each of its values, and `unit` becomes none.
template <class T>
struct content_access {
  template <class F>
  static decltype(auto) apply_move(F&& f, T& c) {
    return f(std::move(c));
  }
  template <class F>
  static decltype(auto) apply(F&& f, T& c) {
    return f(c);
  }
  template <class F>
  static decltype(auto) apply_const(F&& f, const T& c) {
    return f(c);
  }
  // Not std::is_invocable_v, which instantiates five classes for each answer.
  template <class F>
  static constexpr bool moves = requires(F& f, T& c) { f(static_cast<T&&>(c)); };
  template <class F>
  static constexpr bool mutates = requires(F& f, T& c) { f(c); };
  template <class F>
  static constexpr bool reads = requires(F& f, const T& c) { f(c); };
};

template <class... Ts>
struct content_access<pack<Ts...>> {
  template <class F>
  static decltype(auto) apply_move(F&& f, pack<Ts...>& c) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
      return f(std::move(std::get<I>(c.values))...);
    }(std::index_sequence_for<Ts...>{});
  }
  template <class F>
  static decltype(auto) apply(F&& f, pack<Ts...>& c) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
      return f(std::get<I>(c.values)...);
    }(std::index_sequence_for<Ts...>{});
  }
  template <class F>
  static decltype(auto) apply_const(F&& f, const pack<Ts...>& c) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
      return f(std::get<I>(c.values)...);
    }(std::index_sequence_for<Ts...>{});
  }
  template <class F>
  static constexpr bool moves = requires(F& f, Ts&... cs) { f(static_cast<Ts&&>(cs)...); };
  template <class F>
  static constexpr bool mutates = requires(F& f, Ts&... cs) { f(cs...); };
  template <class F>
  static constexpr bool reads = requires(F& f, const Ts&... cs) { f(cs...); };
};

template <>
struct content_access<unit> {
  template <class F>
  static decltype(auto) apply_move(F&& f, unit&) {
    return f();
  }
  template <class F>
  static decltype(auto) apply(F&& f, unit&) {
    return f();
  }
  template <class F>
  static decltype(auto) apply_const(F&& f, const unit&) {
    return f();
  }
  template <class F>
  static constexpr bool moves = requires(F& f) { f(); };
  template <class F>
  static constexpr bool mutates = moves<F>;
  template <class F>
  static constexpr bool reads = moves<F>;
};

/// Holds if F can be called with a message of this content, in any of these ways. A concept, so
/// that the check stops at the first way that fits: each goes through all overloads.
template <class F, class Content>
concept handles =
    content_access<Content>::template moves<F> || content_access<Content>::template mutates<F> ||
    content_access<Content>::template reads<F>;

/// Calls f with a content that this envelope owns alone.
template <class Content, class F>
decltype(auto) call_owned(F&& f, Content& c) {
  using access = content_access<Content>;
  if constexpr (access::template moves<F>)
    return access::apply_move(f, c);
  else if constexpr (access::template mutates<F>)
    return access::apply(f, c);
  else
    return access::apply_const(f, c);
}

/// True for small trivial contents, which are copied into every envelope.
template <class Content>
inline constexpr bool never_shared = std::is_trivially_copyable_v<Content> &&
                                     base::copyable_message<Content> && sizeof(Content) <= 32;

template <class Content, class F>
decltype(auto) call_with_content(F&& f, envelope* e) {
  using access = content_access<Content>;
  if constexpr (!never_shared<Content>) {
    if (e->is(envelope_flag::shared)) [[unlikely]] {
      auto* const block = *static_cast<shared_block**>(e->raw());
      auto& content = *static_cast<Content*>(block->value());
      // Content that cannot be copied has one envelope only: `envelope_of` sees to that.
      if constexpr (base::copyable_message<Content>) {
        // order: acquire pairs with the release of the other holders' drops: they have finished
        // reading, so the content may be changed
        if (block->holders.load(std::memory_order_acquire) != 1) {
          if constexpr (access::template reads<F>) {
            return access::apply_const(f, content);
          } else {
            Content copy(content);
            return call_owned<Content>(f, copy);
          }
        }
      }
      return call_owned<Content>(f, content);
    }
  }
  return call_owned<Content>(f, *static_cast<Content*>(e->raw()));
}

template <class T>
inline constexpr bool is_task = false;
template <class R>
inline constexpr bool is_task<task<R>> = true;
/// Holds if R is the result of a coroutine, of this framework or of another library. The
/// coroutine's body runs only if the caller does more than drop the result.
template <class R>
concept coroutine = requires { typename std::remove_cvref_t<R>::promise_type; };
template <class T>
inline constexpr bool is_promise = false;
template <class... Ts>
inline constexpr bool is_promise<response_promise<Ts...>> = true;
template <class... Ts>
inline constexpr bool is_promise<delegated<Ts...>> = true;
template <class T>
inline constexpr bool is_core_result = false;
template <class... Ts>
inline constexpr bool is_core_result<result<Ts...>> = true;
template <class T>
inline constexpr bool is_base_result = false;
template <class... Ts>
inline constexpr bool is_base_result<base::result<Ts...>> = true;

/// Starts a coroutine handler. Defined in task.hpp, which code with such a handler includes.
template <class Answer, class R>
void start_task(cell& self, envelope* e, task<R>&& t);

template <class... Ts, class R>
void respond_result(pending_request req, response<Ts...>, R&& r) {
  using content = content_of<Ts...>;
  if (!r.has_value()) return respond_error(req, told_by_handler(r.error()));
  if constexpr (sizeof...(Ts) == 0)
    respond_value<content>(req);
  else if constexpr (sizeof...(Ts) == 1)
    respond_value<content>(req, *std::forward<R>(r));
  else
    respond_value<content>(req, *std::forward<R>(r));
}

/// Runs a hook as a coroutine. Defined in task.hpp, which code with such a hook includes.
template <class R>
void start_hook(cell& self, task<R>&& t);

/// Answers the request in `e`, if there is one, with the result of `call`.
template <class Answer, class Call>
void answer_with(cell& self, envelope* e, Call&& call) {
  using R = decltype(call());
  using plain = std::remove_cvref_t<R>;
  using content = typename Answer::content;
  if constexpr (std::is_void_v<R>) {
    call();
    if (e->is(envelope_flag::request)) [[unlikely]]
      respond_value<unit>(take_request(e));
  } else if constexpr (is_task<plain>) {
    start_task<Answer>(self, e, call());
  } else if constexpr (is_promise<plain>) {
    static_cast<void>(call());
  } else if constexpr (is_core_result<plain>) {
    auto&& r = call();
    if (!r.answered_later() && e->is(envelope_flag::request))
      respond_result(take_request(e), Answer{}, std::move(r));
  } else if constexpr (is_base_result<plain>) {
    auto&& r = call();
    if (e->is(envelope_flag::request)) respond_result(take_request(e), Answer{}, std::move(r));
  } else if constexpr (std::is_same_v<plain, base::error>) {
    base::error why = call();
    if (e->is(envelope_flag::request)) respond_error(e, told_by_handler(std::move(why)));
  } else {
    auto&& value = call();
    if (e->is(envelope_flag::request))
      respond_value<content>(take_request(e), std::forward<R>(value));
  }
}

template <class Content, class Answer, class F>
void handle_content(cell& self, envelope* e, F&& f) {
  answer_with<Answer>(self, e,
                      [&]() -> decltype(auto) { return call_with_content<Content>(f, e); });
}

}  // namespace garrick::core::detail
