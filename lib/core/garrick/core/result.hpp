// What a handler returns and what a request yields: a value, an error, or the word that somebody
// answers later.
//
// `result<T>` adds to base::result the fourth state that only handlers use: a promise kept later or
// a delegation. A result that a request yields is never in it.
#pragma once

#include <garrick/base/values/result.hpp>
#include <garrick/core/promise.hpp>

#include <utility>

namespace garrick::core {

namespace detail {
/// Stands in the error slot of a result that is answered later; never sent.
[[nodiscard]] base::error answered_later();
}  // namespace detail

template <class... Ts>
class [[nodiscard]] result : public base::result<Ts...> {
 public:
  using base::result<Ts...>::result;
  using garrick_parts = base::type_list<Ts...>;

  result() = default;
  result(base::result<Ts...> r) : base::result<Ts...>(std::move(r)) {}
  /// The promise will be kept by whoever holds it.
  result(const response_promise<Ts...>&)
      : base::result<Ts...>(detail::answered_later()), later_(true) {}
  result(delegated<Ts...>) : base::result<Ts...>(detail::answered_later()), later_(true) {}

  [[nodiscard]] bool answered_later() const noexcept { return later_; }

 private:
  bool later_ = false;
};

template <>
class [[nodiscard]] result<void> : public base::result<void> {
 public:
  using base::result<void>::result;
  result() = default;
  result(base::result<void> r) : base::result<void>(std::move(r)) {}
  result(const response_promise<>&) : base::result<void>(detail::answered_later()), later_(true) {}
  result(delegated<>) : base::result<void>(detail::answered_later()), later_(true) {}
  [[nodiscard]] bool answered_later() const noexcept { return later_; }

 private:
  bool later_ = false;
};

}  // namespace garrick::core
