// What a handler returns and what a request yields: a value, an error, or the word that the answer
// comes later.
//
// `result<T>` adds to base::result a third state, which only handlers use: a promise that is kept
// later, or a delegation. A result that a request yields is never in that state.
#pragma once

#include <garrick/base/values/result.hpp>
#include <garrick/core/promise.hpp>

#include <type_traits>
#include <utility>

namespace garrick::core {

namespace detail {
/// Stands in the error slot of a result that is answered later; never sent.
[[nodiscard]] base::error answered_later();
}  // namespace detail

/// A value, or several, or an error: what a request yields, and what a handler may return. A
/// handler may also return a promise or a delegation as one: then somebody else answers. Looked at
/// as base::result: `has_value()`, `*r`, `r.error()`, `r.value()`.
///
///     result<long> on(withdraw w) { if (w.cents > cents_) return my_errc::too_poor; … }
///     if (result<long> left = co_await request<withdraw>(a, 120)) use(*left);
template <class... Ts>
class [[nodiscard]] result : public base::result<Ts...> {
 public:
  using base::result<Ts...>::result;
  using garrick_parts = base::type_list<Ts...>;

  result() = default;
  /// The same value or error.
  result(base::result<Ts...> r) : base::result<Ts...>(std::move(r)) {}
  /// From a handler: the answer comes from the holder of the promise.
  result(const response_promise<Ts...>&)
      : base::result<Ts...>(detail::answered_later()), later_(true) {}
  /// From a handler: the answer comes from the actor that was delegated to.
  result(delegated<Ts...>) : base::result<Ts...>(detail::answered_later()), later_(true) {}
  /// This constructor refuses a delegation to an actor that answers with another type.
  template <class... Us>
    requires(!std::is_same_v<delegated<Ts...>, delegated<Us...>>)
  result(delegated<Us...>) : result(delegated<Ts...>()) {
    static_assert(detail::delegation_becomes<result<Ts...>, Us...>::reported);
  }

  /// Was it made from a promise or a delegation? A result that a request yields never was.
  [[nodiscard]] bool answered_later() const noexcept { return later_; }

 private:
  bool later_ = false;
};

/// Success without a value, or an error.
template <>
class [[nodiscard]] result<void> : public base::result<void> {
 public:
  using base::result<void>::result;
  /// Success.
  result() = default;
  /// The same success or error.
  result(base::result<void> r) : base::result<void>(std::move(r)) {}
  /// From a handler: the answer comes from the holder of the promise.
  result(const response_promise<>&) : base::result<void>(detail::answered_later()), later_(true) {}
  /// From a handler: the answer comes from the actor that was delegated to.
  result(delegated<>) : base::result<void>(detail::answered_later()), later_(true) {}
  /// This constructor refuses a delegation to an actor that answers with another type.
  template <class U, class... Us>
  result(delegated<U, Us...>) : result(delegated<>()) {
    static_assert(detail::delegation_becomes<result<void>, U, Us...>::reported);
  }
  /// Was it made from a promise or a delegation?
  [[nodiscard]] bool answered_later() const noexcept { return later_; }

 private:
  bool later_ = false;
};

}  // namespace garrick::core
