// The results of handlers and requests: a value, an error, or the mark that the answer comes later.
//
// `result<T>` adds to base::result a third state, which only handlers use: a promise that is kept
// later, or a delegation. The result of a request is never in that state.
//
// Thread safety: a value.
#pragma once

#include <garrick/base/values/result.hpp>
#include <garrick/core/promise.hpp>

#include <type_traits>
#include <utility>

namespace garrick::core {

namespace detail {
/// Returns the error that a result holds while it is answered later. It is never sent.
[[nodiscard]] base::error answered_later();
}  // namespace detail

/// Values, or an error: the result of a request, and of a handler. A handler may also return a
/// promise or a delegation as a `result`: then the promise's holder or the other actor answers.
/// Read it as base::result: `has_value()`, `*r`, `r.error()`, `r.value()`.
///
///     result<long> on(withdraw w) { if (w.cents > cents_) return my_errc::too_poor; … }
///     if (result<long> left = co_await request<withdraw>(a, 120)) use(*left);
template <class... Ts>
class [[nodiscard]] result : public base::result<Ts...> {
 public:
  using base::result<Ts...>::result;
  using garrick_parts = base::type_list<Ts...>;

  result() = default;
  /// Makes a result of the same value or error.
  result(base::result<Ts...> r) : base::result<Ts...>(std::move(r)) {}
  /// Makes a handler's result that the holder of the promise answers.
  result(const response_promise<Ts...>&)
      : base::result<Ts...>(detail::answered_later()), later_(true) {}
  /// Makes a handler's result that another actor answers.
  result(delegated<Ts...>) : base::result<Ts...>(detail::answered_later()), later_(true) {}
  /// This constructor refuses a delegation to an actor that answers with another type.
  template <class... Us>
    requires(!std::is_same_v<delegated<Ts...>, delegated<Us...>>)
  result(delegated<Us...>) : result(delegated<Ts...>()) {
    static_assert(detail::delegation_becomes<result<Ts...>, Us...>::reported);
  }

  /// Returns true if the result was made from a promise or a delegation. False for each result of
  /// a request.
  [[nodiscard]] bool answered_later() const noexcept { return later_; }

 private:
  bool later_ = false;
};

/// Success without a value, or an error.
template <>
class [[nodiscard]] result<void> : public base::result<void> {
 public:
  using base::result<void>::result;
  /// Makes a success.
  result() = default;
  /// Makes a result of the same success or error.
  result(base::result<void> r) : base::result<void>(std::move(r)) {}
  /// Makes a handler's result that the holder of the promise answers.
  result(const response_promise<>&) : base::result<void>(detail::answered_later()), later_(true) {}
  /// Makes a handler's result that another actor answers.
  result(delegated<>) : base::result<void>(detail::answered_later()), later_(true) {}
  /// This constructor refuses a delegation to an actor that answers with another type.
  template <class U, class... Us>
  result(delegated<U, Us...>) : result(delegated<>()) {
    static_assert(detail::delegation_becomes<result<void>, U, Us...>::reported);
  }
  /// Returns true if the result was made from a promise or a delegation.
  [[nodiscard]] bool answered_later() const noexcept { return later_; }

 private:
  bool later_ = false;
};

}  // namespace garrick::core
