// Requests: a message that wants exactly one answer, and three ways for an actor to use it.
//
//   request(acc, balance{})
//       .then([](long cents) {…}, [](const error& e) {…});   // other messages keep flowing
//   request(acc, balance{}).await(…);                        // everything else waits
//   result<long> cents =
//       co_await request<balance>(acc);                      // in a handler that returns a task
//
// The request is sent at once, so several may be under way before the actor waits for the first.
// The answer is a value or an error: not_handled, receiver_failed, timeout, unexpected_message,
// overload, broken_promise, or the handler's own. Without an error function, an error ends the
// actor. If an exception keeps a value from reaching a co_await, the error is receiver_failed with
// the exception's text; an exception of the last move, into the coroutine, is thrown there.
//
// Thread safety: the actor's turn only. Paper 001 §4.4.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/base/types/first_failure.hpp>
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/continuation.hpp>
#include <garrick/core/detail/invoke.hpp>
#include <garrick/core/detail/isolation.hpp>
#include <garrick/core/detail/not_yet_a_value.hpp>
#include <garrick/core/send.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace garrick::core {

struct down;

namespace detail {

/// Reserves an id and sends `e` as a request of `self`. Returns 0 if the actor has too many open
/// requests; then `e` was made a dead letter.
[[nodiscard]] std::uint64_t send_request(cell& self, cell& to, envelope* e, bool urgent = false);

/// Sends a request in the same way, for which the caller will set the time limit `limit`
/// (`limit_request`). The node of an actor elsewhere is told the limit. Returns an id, or 0 as
/// `send_request` does.
[[nodiscard]] std::uint64_t send_limited_request(cell& self, cell& to, envelope* e,
                                                 base::duration limit, bool urgent = false);

/// Sends a message that waits at the receiver until there is room. Returns an id, or 0 as
/// `send_request` does. The response to the id tells that the message has entered the mailbox.
[[nodiscard]] std::uint64_t send_parked(cell& self, cell& to, envelope* e);

/// Makes the response to `id` a time-out if no answer has come after `limit`.
void limit_request(cell& self, std::uint64_t id, base::duration limit);

/// Lets `k` take the response to `id`, which the actor awaits if `exclusive`. Calls `k` at once if
/// the response came first, and with an error if the request could not be sent, if its response was
/// taken before, or if the await would close a cycle.
void attach_continuation(cell& self, std::uint64_t id, continuation* k, bool exclusive);

/// Marks the request as awaited. Returns true if its receiver waits, directly or through others,
/// for `self`; then the circle has been reported.
[[nodiscard]] bool closes_cycle(cell& self, std::uint64_t id) noexcept;

/// Takes the request that `self` is handling, in a handler or a coroutine. Returns an empty one if
/// there is none.
[[nodiscard]] pending_request take_current_request(cell& self) noexcept;

/// Opens a request of `self` that a timer answers, without a value. Returns its id, or 0 if too
/// many requests are open.
[[nodiscard]] std::uint64_t delay_request(cell& self, base::duration d);

/// Opens a request of `self` that the holder of `r` has to answer. Returns its id, or 0 if too many
/// requests are open; `r` is empty then.
[[nodiscard]] std::uint64_t open_request(cell& self, pending_request& r);
/// Opens a request in the same way for an answer that does not come from an actor: the system does
/// not end before the answer has come, or before the request is forgotten. Returns the same.
[[nodiscard]] std::uint64_t open_request_to_outside(cell& self, pending_request& r);

/// Delivers `e`, a message that takes over the request `r`: the answer of `to` goes to the
/// requester. Requires a request in `r`.
void hand_on(pending_request r, cell& to, envelope* e) noexcept;
/// The same with the request that `self` is handling; if there is none, sends `e` on behalf of the
/// sender of the current message.
void hand_on_current(cell& self, cell& to, envelope* e) noexcept;

/// Forgets `id`: its response is ignored.
void forget_request(cell& self, std::uint64_t id) noexcept;

/// Ends the actor for an error response that it does not handle.
void fail_by_response(cell& self, const base::error& why);

struct fail_actor {
  cell* self;
  void operator()(const base::error& why) const { fail_by_response(*self, why); }
};

/// Returns the error for an answer of another type than the requester named. It happens only if the
/// requester or the receiver is behind a wildcard.
[[nodiscard]] base::error wrong_answer(const envelope* e);

/// Moves the content of the response `e` into `into`. If an exception is thrown, `into` is an error
/// with its text: only the requester is told, and no actor ends.
template <class Content, class Result>
void take_answer(Result& into, envelope* e) noexcept {
  try {
    if (e->is(envelope_flag::failure))
      into = Result(*static_cast<const base::error*>(e->raw()));
    else if (e->type != &base::message_type_of<Content>) [[unlikely]]
      into = Result(wrong_answer(e));
    else if constexpr (std::is_same_v<Content, unit>)
      into = Result();
    else
      call_with_content<Content>(
          [&](auto&&... xs) { into = Result(std::forward<decltype(xs)>(xs)...); }, e);
  } catch (...) { into = Result(exception_as_error("response")); }
}

/// A `then` or `await` continuation: two functions on the heap.
template <class Content, class F, class G>
class function_continuation final : public continuation {
 public:
  function_continuation(F f, G g) : f_(std::move(f)), g_(std::move(g)) {}

  void on_response(cell&, envelope* e) override {
    struct cleanup {
      function_continuation* k;
      ~cleanup() { k->abandon(); }
    } const guard{this};
    if (e->is(envelope_flag::failure))
      g_(*static_cast<const base::error*>(e->raw()));
    else if (e->type == &base::message_type_of<Content>) [[likely]]
      call_with_content<Content>(f_, e);
    else
      g_(wrong_answer(e));
  }
  void abandon() noexcept override {
    this->~function_continuation();
    base::block_pool::deallocate(this, sizeof(function_continuation));
  }

  [[nodiscard]] static continuation* make(F f, G g) {
    return ::new (base::block_pool::allocate(sizeof(function_continuation)))
        function_continuation(std::move(f), std::move(g));
  }

 private:
  ~function_continuation() = default;
  F f_;
  G g_;
};

template <class Content, class F>
consteval bool is_no_coroutine() {
  if constexpr (handles<F, Content>)
    return !coroutine<decltype(call_owned<Content>(std::declval<F&>(), std::declval<Content&>()))>;
  else
    return true;
}

template <class F, bool Takes = false>
struct function_does_not_take : base::detail::failed_check {
  static_assert(Takes, "garrick: the function does not take the response's values");
};
template <class F, bool Plain = false>
struct function_is_a_coroutine : base::detail::failed_check {
  static_assert(Plain,
                "garrick: a continuation is no coroutine: co_await the request in a handler that "
                "returns a task");
};
template <class G, bool Takes = false>
struct error_function_does_not_take : base::detail::failed_check {
  static_assert(Takes, "garrick: the error function takes a const error&");
};

/// The check of the functions of a `then` or `await`, for a response that holds Content.
template <class Content, class F, class G>
struct checked_continuation {
  static constexpr bool takes = handles<F, Content>;
  static constexpr bool plain = is_no_coroutine<Content, F>();
  static constexpr bool takes_error = std::is_invocable_v<G&, const base::error&>;
  static constexpr bool plain_error = !requires(G& g, const base::error& why) {
    { g(why) } -> coroutine;
  };
  static constexpr bool fits = takes && plain && takes_error && plain_error;

  static_assert(base::detail::first_failure<
                base::detail::unless<takes, function_does_not_take<F>>,
                base::detail::unless<plain, function_is_a_coroutine<F>>,
                base::detail::unless<plain_error, function_is_a_coroutine<G>>,
                base::detail::unless<takes_error, error_function_does_not_take<G>>>::reported);
};

/// Instantiated only to fail, by the conversion of a response that has not come yet.
template <class To, bool Come = false>
struct response_is_no_value : base::detail::failed_check {
  static_assert(Come,
                "garrick: request(...) gives a response that has not come yet, and no value: "
                "co_await it in a handler that returns a task<T>, give then(f) a function, or "
                "return delegate(...)");
};

}  // namespace detail

/// A request under way; its answer holds values of the types Rs.
///
/// Use it once, on the turn of the requester: with `then`, `await` or `co_await`. A second use gets
/// the error `cancelled` at once. Dropping it unused withdraws the request: its response is
/// ignored, and an actor of another node does not handle the request if it still waits there. It
/// can be moved, so several may be under way at once.
///
///     auto a = request(left, query{});  auto b = request(right, query{});
///     result<int> x = co_await std::move(a);  result<int> y = co_await std::move(b);
template <class... Rs>
class [[nodiscard]] pending_response
    : public detail::not_yet_a_value<detail::response_is_no_value> {
 public:
  using content = content_of<Rs...>;  ///< for the framework: the type of the answer's content
  using garrick_response = void;

  /// For the framework: takes over a request of this actor; id 0 if it could not be sent.
  pending_response(cell& requester, std::uint64_t request_id) noexcept
      : self_(&requester), id_(request_id) {}
  pending_response(pending_response&& o) noexcept
      : self_(o.self_), id_(std::exchange(o.id_, 0)), used_(std::exchange(o.used_, true)) {}
  pending_response& operator=(pending_response&&) = delete;
  ~pending_response() {
    if (!used_) detail::forget_request(*self_, id_);
  }

  /// Limits the wait for the answer: without an answer within `limit` from now, the response is the
  /// error `timeout`, and a later answer is ignored. A limit of zero or less gives that error at
  /// once, unless the answer has come already; an infinite limit is no limit. A second call
  /// replaces the first, unless the first was zero or less.
  pending_response&& within(base::duration limit) && {
    if (id_ != 0) detail::limit_request(*self_, id_, limit);
    return std::move(*this);
  }
  /// This overload refuses a number.
  template <base::detail::plain_number N>
  pending_response&& within(N /*limit*/) && {
    static_assert(base::detail::number_is_no_time<N>::reported);
    return std::move(*this);
  }

  /// Calls `f` with the answer's values on this actor's turn. Other messages are handled meanwhile,
  /// and the response waits in its place among them. If the response has come already, the call is
  /// made at once. An error response ends this actor, as does an exception that leaves `f`. No call
  /// is made once the actor has ended or restarted.
  ///
  ///     request(account, balance{}).then([this](long cents) { show(cents); });
  template <class F>
  void then(F f) && {
    if constexpr (detail::checked_continuation<content, F, detail::fail_actor>::fits)
      attach(std::move(f), detail::fail_actor{self_}, false);
  }
  /// The same, with `on_error(const error&)` for an error.
  ///
  ///     request(account, balance{}).then([](long cents) {…}, [](const error& why) {…});
  template <class F, class G>
  void then(F f, G on_error) && {
    if constexpr (detail::checked_continuation<content, F, G>::fits)
      attach(std::move(f), std::move(on_error), false);
  }
  /// Like `then`, but this actor takes no other message until the answer has come: only the system
  /// lane and other awaited responses. Nested awaits complete newest first. No thread waits
  /// meanwhile. Builds without NDEBUG, and the testkit, look for cycles of requests: an await that
  /// would close a cycle gets `request_cycle` at once.
  ///
  ///     request(account, withdraw{5}).await([this](long left) { left_ = left; });
  template <class F>
  void await(F f) && {
    if constexpr (detail::checked_continuation<content, F, detail::fail_actor>::fits)
      attach(std::move(f), detail::fail_actor{self_}, true);
  }
  /// The same, with `on_error(const error&)` for an error.
  template <class F, class G>
  void await(F f, G on_error) && {
    if constexpr (detail::checked_continuation<content, F, G>::fits)
      attach(std::move(f), std::move(on_error), true);
  }

  /// This conversion refuses every type: the response has not come yet, so it is not a value.
  template <class To>
  operator To() const {
    static_assert(detail::response_is_no_value<To>::reported);
    return detail::no_value_yet<To>();
  }

  /// For the framework: hands the request over to the caller, and returns its id.
  [[nodiscard]] std::uint64_t take_id() && noexcept {
    used_ = true;
    return id_;
  }

 private:
  template <class>
  friend class response_awaiter;

  template <class F, class G>
  void attach(F f, G g, bool exclusive) {
    used_ = true;
    detail::attach_continuation(
        *self_, id_, detail::function_continuation<content, F, G>::make(std::move(f), std::move(g)),
        exclusive);
  }

  cell* self_;
  std::uint64_t id_;  ///< 0: could not be sent
  bool used_ = false;
};

namespace detail {

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
/// Returns true if T is a lambda's class, which only its name tells.
template <class T>
consteval bool is_closure() {
  constexpr char mark[] = "<lambda(";
  for (const char* name = __PRETTY_FUNCTION__; *name != 0; ++name) {
    std::size_t same = 0;
    while (mark[same] != 0 && name[same] == mark[same]) ++same;
    if (mark[same] == 0) return true;
  }
  return false;
}
#endif

/// True if co_await is refused for the response to a request with such an argument; a forwarding
/// reference deduces A from the argument. GCC 12 destroys a temporary twice if braces or a capture
/// made it within a co_await expression. A function cannot tell such a temporary from an object
/// that was moved into it. So the type decides: an aggregate or a closure with something to
/// destroy.
template <class A>
inline constexpr bool destroyed_twice = [] {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
  using T = std::remove_cvref_t<A>;
  if constexpr (std::is_lvalue_reference_v<A> || !std::is_class_v<T> ||
                std::is_trivially_destructible_v<T>)
    return false;
  else
    return std::is_aggregate_v<T> || is_closure<T>();
#else
  return false;
#endif
}();

/// The response to a request with a temporary that GCC 12 would destroy twice in a co_await
/// expression. It can be used in every other way. A plain pending_response made of it can be
/// awaited, since the temporary is gone by then.
template <class Argument, class... Rs>
class [[nodiscard]] asked_with_temporary : public pending_response<Rs...> {
 public:
  using pending_response<Rs...>::pending_response;
  /// Like pending_response::within. Its result cannot be awaited either.
  asked_with_temporary&& within(base::duration limit) && {
    static_cast<void>(std::move(static_cast<pending_response<Rs...>&>(*this)).within(limit));
    return std::move(*this);
  }
  /// This overload refuses a number.
  template <base::detail::plain_number N>
  asked_with_temporary&& within(N /*limit*/) && {
    static_assert(base::detail::number_is_no_time<N>::reported);
    return std::move(*this);
  }
};

/// The response type of a request with these arguments: Pending, or its form that cannot be
/// awaited.
template <class Pending, class... Args>
struct asked_with {
  using type = Pending;
};
template <class... Rs, class First, class... Rest>
  requires(destroyed_twice<First> || (destroyed_twice<Rest> || ...))
struct asked_with<pending_response<Rs...>, First, Rest...> {
  using type = std::conditional_t<destroyed_twice<First>,
                                  asked_with_temporary<std::remove_cvref_t<First>, Rs...>,
                                  typename asked_with<pending_response<Rs...>, Rest...>::type>;
};

/// Returns the response of a request with a message that was built in place: it can be awaited.
template <class Response>
Response asked_in_place(Response&& r) noexcept {
  return std::move(r);
}
template <class Argument, class... Rs>
pending_response<Rs...> asked_in_place(asked_with_temporary<Argument, Rs...>&& r) noexcept {
  return std::move(r);
}

template <class Argument>
struct argument_destroyed_twice : base::detail::failed_check {
  static_assert(!std::is_same_v<Argument, Argument>,
                "garrick: GCC 12 would destroy this argument twice if it is a temporary in the "
                "co_await expression. Write co_await request<Message>(to, fields...), "
                "co_await request<Message>(to, std::move(m)), or two statements: "
                "pending_response<R> p = request(to, ...); co_await std::move(p)");
};
/// The check of the operand of co_await.
template <class Awaitable>
struct checked_await : base::detail::passed_check {};
template <class Argument, class... Rs>
struct checked_await<asked_with_temporary<Argument, Rs...>> : argument_destroyed_twice<Argument> {};

/// The response of a request that does not compile. It has all operations of a response, so that
/// the reason stays the only error.
struct refused_response {
  refused_response() = default;
  refused_response(cell&, std::uint64_t) noexcept {}
  template <class... Args>
  void then(Args&&...) const noexcept {}
  template <class... Args>
  void await(Args&&...) const noexcept {}
  refused_response within(base::duration) const noexcept { return {}; }
  refused_response get() const noexcept { return {}; }
  refused_response value() const noexcept { return {}; }
  refused_response error() const noexcept { return {}; }
  refused_response operator*() const noexcept { return {}; }
  bool has_value() const noexcept { return false; }
  template <class T>
  operator T() const {
    throw_empty_handle();
  }
  bool await_ready() const noexcept { return true; }
  template <class Coroutine>
  void await_suspend(Coroutine) const noexcept {}
  refused_response await_resume() const noexcept { return {}; }
};

template <class Answer>
struct pending_for;
template <>
struct pending_for<void> {
  using type = refused_response;
};
template <class... Rs>
struct pending_for<response<Rs...>> {
  using type = pending_response<Rs...>;
};

template <class T>
concept duration_like = std::is_same_v<T, base::duration> || requires {
  typename T::period;
  typename T::rep;
};

template <bool Urgent, class P, class Tuple, std::size_t... I>
auto request_with_limit(cell& self, const ref<P>& to, Tuple&& t, std::index_sequence<I...>);

template <class P, class... Args>
inline constexpr bool ends_with_limit = [] {
  if constexpr (sizeof...(Args) < 2 || actor_for_protocol<P>)
    return false;
  else
    return duration_like<
               std::tuple_element_t<sizeof...(Args) - 1, std::tuple<std::decay_t<Args>...>>> &&
           (std::is_same_v<P, any_protocol> ||
            !P::template accepts<content_of<std::decay_t<Args>...>>);
}();

template <class P, class Tuple, std::size_t... I>
std::type_identity<checked_message<P, std::tuple_element_t<I, Tuple>...>> check_of(
    std::index_sequence<I...>);

/// The checks of a request; its last argument may be the time-out.
template <class P, class... Args>
using checked_request = typename decltype(check_of<P, std::tuple<Args...>>(
    std::make_index_sequence<sizeof...(Args) - (ends_with_limit<P, Args...> ? 1 : 0)>{}))::type;

template <class P, class Tuple, std::size_t... I>
std::type_identity<checked_answer<
    typename answer_to<P, typename message_of<std::tuple_element_t<I, Tuple>...>::type>::type>>
    reply_of(std::index_sequence<I...>);

/// The check of the answer to a request. It is apart from the check of the request, so that its
/// error has a short backtrace.
template <class P, class... Args>
using checked_reply = typename decltype(reply_of<P, std::tuple<Args...>>(
    std::make_index_sequence<sizeof...(Args) - (ends_with_limit<P, Args...> ? 1 : 0)>{}))::type;

template <bool Urgent = false, class P, class... Args>
auto request_plain(cell& self, const ref<P>& to, Args&&... args)
  requires ends_with_limit<P, Args...>
{
  return request_with_limit<Urgent>(self, to, std::forward_as_tuple(std::forward<Args>(args)...),
                                    std::make_index_sequence<sizeof...(Args) - 1>{});
}

/// The response type of a request with these arguments, none of which is the time-out.
template <class P, class... Args>
using pending_of = typename asked_with<typename pending_for<typename P::template answer<
                                           typename checked_message<P, Args...>::type>>::type,
                                       Args...>::type;

template <bool Urgent = false, class P, class... Args>
auto request_plain(cell& self, const ref<P>& to, Args&&... args)
  requires(!ends_with_limit<P, Args...>)
{
  using content = typename checked_message<P, Args...>::type;
  using pending = pending_of<P, Args...>;
  cell& c = target_of(to, "a request");
  return pending(
      self,
      send_request(self, c, make_message_envelope<content>(std::forward<Args>(args)...), Urgent));
}

}  // namespace detail

namespace detail {
template <bool Urgent, class P, class... Args>
auto request_limited(cell& self, const ref<P>& to, base::duration limit, Args&&... args) {
  using content = typename checked_message<P, Args...>::type;
  using pending = pending_of<P, Args...>;
  cell& c = target_of(to, "a request");
  return pending(self, send_limited_request(
                           self, c, make_message_envelope<content>(std::forward<Args>(args)...),
                           limit, Urgent))
      .within(limit);
}
template <bool Urgent, class P, class Tuple, std::size_t... I>
auto request_with_limit(cell& self, const ref<P>& to, Tuple&& t, std::index_sequence<I...>) {
  return request_limited<Urgent>(self, to, std::get<sizeof...(I)>(t),
                                 std::get<I>(std::forward<Tuple>(t))...);
}
template <class... Rs, class Tuple, std::size_t... I>
auto request_any_with_limit(cell& self, const any_ref& to, Tuple&& t, std::index_sequence<I...>);
}  // namespace detail

/// For the framework: implements `request_as<Rs...>(any, …)`. The caller names the types of the
/// answer's values. As with other handles, a duration after the message is the time-out.
template <class... Rs, class... Args>
[[nodiscard]] auto request_any(cell& self, const any_ref& to, Args&&... args) {
  if constexpr (detail::ends_with_limit<any_protocol, Args...>) {
    return detail::request_any_with_limit<Rs...>(self, to,
                                                 std::forward_as_tuple(std::forward<Args>(args)...),
                                                 std::make_index_sequence<sizeof...(Args) - 1>{});
  } else {
    using content = typename detail::checked_message<any_protocol, Args...>::type;
    cell& c = detail::target_of(to, "a request");
    return typename detail::asked_with<pending_response<Rs...>, Args...>::type(
        self, detail::send_request(
                  self, c, detail::make_message_envelope<content>(std::forward<Args>(args)...)));
  }
}

namespace detail {
template <class... Rs, class... Args>
auto request_any_limited(cell& self, const any_ref& to, base::duration limit, Args&&... args) {
  using content = typename checked_message<any_protocol, Args...>::type;
  using pending = typename asked_with<pending_response<Rs...>, Args...>::type;
  cell& c = target_of(to, "a request");
  return pending(self,
                 send_limited_request(
                     self, c, make_message_envelope<content>(std::forward<Args>(args)...), limit))
      .within(limit);
}
template <class... Rs, class Tuple, std::size_t... I>
auto request_any_with_limit(cell& self, const any_ref& to, Tuple&& t, std::index_sequence<I...>) {
  return request_any_limited<Rs...>(self, to, std::get<sizeof...(I)>(t),
                                    std::get<I>(std::forward<Tuple>(t))...);
}
}  // namespace detail

}  // namespace garrick::core
