// Answers that are given later or from elsewhere: response promises and delegation (paper 001
// §4.4).
//
// Guarantees: a request gets exactly one answer. A promise that is dropped unkept answers
// `broken_promise`. A promise that is dropped with an actor that fails, or in a handler that fails,
// answers `receiver_failed` with the text of the failure.
//
// Thread safety: a promise can be moved, and may be kept on any thread. An object is used by one
// thread at a time.
#pragma once

#include <garrick/base/platform/assert.hpp>
#include <garrick/base/types/first_failure.hpp>
#include <garrick/base/values/error.hpp>
#include <garrick/core/life/respond.hpp>
#include <garrick/core/protocol/protocol.hpp>

#include <type_traits>
#include <utility>

namespace garrick::core {

namespace detail {

/// Instantiated only to fail: the result of a delegation to an actor that answers with Ts... .
template <class To, class... Ts>
struct delegation_becomes : base::detail::failed_check {
  static constexpr bool same_answer =
      std::is_same_v<typename response_of<To>::type, response<Ts...>>;
  static_assert(!same_answer,
                "garrick: a handler that delegates has no answer at hand: it returns auto or "
                "result<T>, where T is the answer's type");
  static_assert(same_answer,
                "garrick: delegate(): the actor that is to answer answers with another type than "
                "this handler: request the answer and make one of it, or delegate a message with "
                "the same answer");
};
/// The type of the answer of a delegation that has been refused, so that no second error is
/// reported. Defined, so that a behavior's case may answer with it.
struct refused_delegation {};
template <class To>
struct delegation_becomes<To, refused_delegation> : base::detail::passed_check {};
template <class To>
[[noreturn]] To no_delegation();

/// True if T has constructors that tell a delegation from other arguments.
template <class T>
inline constexpr bool takes_delegations = false;
template <class... Ts>
inline constexpr bool takes_delegations<result<Ts...>> = true;
template <class... Ts>
inline constexpr bool takes_delegations<base::result<Ts...>> = true;

}  // namespace detail

/// States in a handler's return type that another actor answers. It has no value; `delegate`
/// returns it. It converts to a `result` of the same answer, and to no other type.
template <class... Ts>
class delegated {
 public:
  /// This conversion refuses every type that is not a `result`, with an error for the handler.
  template <class To>
    requires(!detail::takes_delegations<To>)
  operator To() const {
    static_assert(detail::delegation_becomes<To, Ts...>::reported);
    return detail::no_delegation<To>();
  }
};

/// The part of a promise that does not depend on the values' types. It can be moved, not copied,
/// and sent in messages. An object is used by one thread at a time.
class promise_base {
 public:
  using garrick_sendable = void;
  using garrick_only_here = void;  ///< its request waits in this system

  promise_base() noexcept = default;
  /// For the framework: takes over the duty to answer `r`.
  explicit promise_base(pending_request r) noexcept : request_(r) {}
  promise_base(promise_base&& o) noexcept : request_(std::exchange(o.request_, {})) {}
  promise_base& operator=(promise_base&& o) noexcept {
    if (this != &o) {
      drop();
      request_ = std::exchange(o.request_, {});
    }
    return *this;
  }
  ~promise_base() { drop(); }

  /// Returns true if the answer is still owed; false for an empty promise, and after the answer.
  /// Does not notice that a requester has timed out or ended meanwhile.
  [[nodiscard]] bool pending() const noexcept { return request_.requester != nullptr; }

  /// Answers with an error. Does nothing if the promise is empty or was kept before. Never waits.
  /// The error `not_handled`, passed on from another request, arrives as `broken_promise`, since a
  /// handler has seen this request. Requires an error: "no error" ends the process.
  void fail(base::error why) noexcept {
    GARRICK_ASSERT(static_cast<bool>(why),
                   "fail() of a response_promise or a completion was given error{}, which is no "
                   "error: deliver() a value, or give a real error");
    respond_error(take(), told_by_handler(std::move(why)));
  }

 protected:
  /// For the framework: returns the duty, which the caller has from now on.
  [[nodiscard]] pending_request take() noexcept { return std::exchange(request_, {}); }

 private:
  friend struct promise_access;
  void drop() noexcept {
    if (request_.requester != nullptr) drop_slow();
  }
  void drop_slow() noexcept;
  pending_request request_;
};

/// For the framework: takes the request out of a promise.
struct promise_access {
  [[nodiscard]] static pending_request take(promise_base& p) noexcept { return p.take(); }
};

/// The duty to answer one request with values of type Ts; `make_promise` returns one. Dropped
/// unkept, it answers `broken_promise`, or `receiver_failed` if its handler or actor fails.
///
///     response_promise<int> p = self.make_promise<int>();
///     p.deliver(42);
template <class... Ts>
class [[nodiscard]] response_promise : public promise_base {
 public:
  /// Makes an empty promise or, for the framework, one with the duty to answer a request.
  using promise_base::promise_base;

  /// Answers with these values. Does nothing if the promise is empty (the message was not a
  /// request) or was kept before. Never waits. Throws std::bad_alloc, and any exception of making
  /// the values; then the requester gets `receiver_failed`, or the answer is still owed.
  template <class... Us>
    requires(sizeof...(Us) == sizeof...(Ts) && (std::is_convertible_v<Us, Ts> && ...))
  void deliver(Us&&... values) {
    using content = content_of<Ts...>;
    // The values are made first: if that throws, the answer is still owed.
    if constexpr (sizeof...(Ts) == 1)
      [&](Ts... made) {
        respond_value<content>(take(), std::move(made)...);
      }(static_cast<Ts>(std::forward<Us>(values))...);
    else if constexpr (sizeof...(Ts) == 0)
      respond_value<content>(take());
    else
      [&](std::tuple<Ts...> made) {
        respond_value<content>(take(), std::move(made));
      }(std::tuple<Ts...>(std::forward<Us>(values)...));
  }
};

/// The duty to answer one request without a value: `deliver()`.
template <>
class [[nodiscard]] response_promise<void> : public response_promise<> {
 public:
  using response_promise<>::response_promise;
};

}  // namespace garrick::core
