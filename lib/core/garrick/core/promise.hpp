// Answering later or from elsewhere: response promises and delegation (paper 001 §4.4).
//
// Guarantees: a request gets exactly one answer. A promise that is dropped unkept answers
// `broken_promise`; one that falls with its failing actor answers `receiver_failed`. Thread safety:
// a promise is movable and may be kept on any thread; one object is used by one thread at a time.
#pragma once

#include <garrick/base/values/error.hpp>
#include <garrick/core/cell/respond.hpp>
#include <garrick/core/protocol/protocol.hpp>

#include <type_traits>
#include <utility>

namespace garrick::core {

/// Says in a handler's return type that another actor answers; see `delegate`.
template <class... Ts>
class delegated {};

/// The type-erased part of a promise.
class promise_base {
 public:
  using garrick_sendable = void;

  promise_base() noexcept = default;
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

  /// Does somebody still wait for an answer?
  [[nodiscard]] bool pending() const noexcept { return request_.requester != nullptr; }

  /// Answers with an error; nothing if it was answered before.
  void fail(base::error why) noexcept { respond_error(take(), std::move(why)); }

 protected:
  [[nodiscard]] pending_request take() noexcept { return std::exchange(request_, {}); }

 private:
  friend struct promise_access;
  void drop() noexcept {
    if (request_.requester != nullptr) drop_slow();
  }
  void drop_slow() noexcept;
  pending_request request_;
};

struct promise_access {
  [[nodiscard]] static pending_request take(promise_base& p) noexcept { return p.take(); }
};

/// The duty to answer one request with values of type Ts.
template <class... Ts>
class [[nodiscard]] response_promise : public promise_base {
 public:
  using promise_base::promise_base;

  /// Keeps the promise; nothing if it was answered before or the message was no request.
  template <class... Us>
    requires(sizeof...(Us) == sizeof...(Ts) && (std::is_convertible_v<Us, Ts> && ...))
  void deliver(Us&&... values) {
    using content = content_of<Ts...>;
    if constexpr (sizeof...(Ts) == 1)
      respond_value<content>(take(), static_cast<Ts>(std::forward<Us>(values))...);
    else if constexpr (sizeof...(Ts) == 0)
      respond_value<content>(take());
    else
      respond_value<content>(take(), std::tuple<Ts...>(std::forward<Us>(values)...));
  }
};

template <>
class [[nodiscard]] response_promise<void> : public response_promise<> {
 public:
  using response_promise<>::response_promise;
};

}  // namespace garrick::core
