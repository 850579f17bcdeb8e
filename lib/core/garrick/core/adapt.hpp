// Awaiting operations outside the framework: a library's callback or future becomes a response in
// the actor's mailbox.
//
//   auto pending = adapt<std::string>(
//       *this, [&](completion<std::string> done) { resolver.lookup(name, done); });
//   const result<std::string> host = co_await std::move(pending);   // or .then, .await, .within
//
// A message resumes the frame that waits, so it runs on its actor's turn, whichever thread calls
// the completion. (If the lambda captures by value, write two statements as above, and
// `pending_response<std::string>` instead of `auto`: GCC 12 destroys such a lambda twice when it is
// built inside a co_await expression; see the guide's chapter 6.)
//
// Guarantees: exactly one answer. Dropping the last copy of a completion unused answers
// `broken_promise`. If the actor has ended meanwhile, the answer is dropped. A completion keeps the
// actor alive. A system that ends waits for the answer, within its limit, until the answer has
// come or the actor no longer waits for it, such as after a time-out (`within`).
//
// Thread safety: `adapt` on the actor's turn; a completion on any thread, but not on two at once.
#pragma once

#include <garrick/base/types/first_failure.hpp>
#include <garrick/core/actor.hpp>

#include <memory>
#include <utility>

namespace garrick::core {

/// The callback of a foreign operation: called once, when it is done, on any thread. Copyable, so
/// that it fits into std::function. The first call of any copy counts. Two threads must not call at
/// once. If the last copy is dropped uncalled, the actor gets `broken_promise`.
template <class... Rs>
class completion {
 public:
  /// For the framework: takes over the duty to answer `r`.
  explicit completion(pending_request r) : promise_(std::make_shared<response_promise<Rs...>>(r)) {}

  /// Answers the actor with these values. Later calls are ignored. Never waits. Throws
  /// std::bad_alloc.
  template <class... Us>
    requires(sizeof...(Us) == sizeof...(Rs) && (std::is_convertible_v<Us, Rs> && ...))
  void operator()(Us&&... values) const {
    promise_->deliver(std::forward<Us>(values)...);
  }
  /// Answers the actor with an error. Later calls are ignored. Never waits. Requires an error: "no
  /// error" ends the process.
  void fail(base::error why) const noexcept { promise_->fail(std::move(why)); }

 private:
  std::shared_ptr<response_promise<Rs...>> promise_;
};

namespace detail {

/// Instantiated only to fail.
template <class Start, bool Plain = false>
struct start_is_a_coroutine : base::detail::failed_check {
  static_assert(Plain,
                "garrick: adapt's function is no coroutine: it would never run. It begins the "
                "foreign work, and hands the completion on");
};

}  // namespace detail

/// Makes a response from an operation outside the framework. Calls `start(completion<Rs...>)` now,
/// and returns the response, which comes when the completion is called. On the turn of `self`.
///
/// Errors: the argument of `fail`; `broken_promise` if the completion is never called; `overload`,
/// without a call of `start`, if the actor has too many open requests. An exception of `start` is
/// passed on.
///
///     auto host = adapt<std::string>(*this, [&](auto done) { resolver.lookup(name, done); });
///     std::move(host).then([](std::string address) {…});
template <class... Rs, class Start>
[[nodiscard]] auto adapt(actor_base& self, Start&& start) {
  static_assert(detail::checked_answer<response<Rs...>>::reported);
  constexpr bool plain = !requires(Start&& called, completion<Rs...>&& done) {
    { static_cast<Start&&>(called)(static_cast<completion<Rs...>&&>(done)) } -> detail::coroutine;
  };
  static_assert(base::detail::unless<plain, detail::start_is_a_coroutine<Start>>::reported);
  cell& c = actor_access::get(self);
  pending_request r;
  typename detail::asked_with<pending_response<Rs...>, Start>::type pending(
      c, detail::open_request_to_outside(c, r));
  if constexpr (plain)
    if (r.requester != nullptr) std::forward<Start>(start)(completion<Rs...>(r));
  return pending;
}

}  // namespace garrick::core
