// Actors composed: a pipe of two handles, a request to many that collects every answer, a request
// to many where the first answer wins.
//
//   auto h = f * g;              // understands x where g does: f(g(x)), asked as one actor
//   fan_out(*this, workers, job{7})
//       .then([](std::vector<result<int>> all) { … });   // each answer or error, in order
//   first_of(*this, replicas, query{})
//       .then([](answer a) { … });   // the first value; if all fail, the last error
//
// Guarantees: for the actor that asks, each composition is one request, so then, await, co_await,
// within and the rules of request.hpp apply. A message to many is one shared block. The answer of a
// pipe's last actor goes straight to the requester, and so does an error on the way. A pipe is a
// hidden actor. It lives as long as a handle to it exists or a message is under way, and holds
// strong handles to both actors. An answer whose move throws becomes the error `receiver_failed`
// with the exception's text. In fan_out the error is the result of one target, in first_of one more
// failure, in a pipe the answer.
//
// Thread safety: `f * g` on any thread; `fan_out` and `first_of` on the turn of `self`. Paper 001
// §4.4.
#pragma once

#include <garrick/core/actor.hpp>
#include <garrick/core/message.hpp>

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::core {

namespace detail {

template <class... Lists>
struct join_protocols;
template <class... Sigs>
struct join_protocols<protocol<Sigs...>> {
  using type = protocol<Sigs...>;
};
template <class... A, class... B, class... Rest>
struct join_protocols<protocol<A...>, protocol<B...>, Rest...>
    : join_protocols<protocol<A..., B...>, Rest...> {};

template <class Answer>
struct result_for;
template <>
struct result_for<response<>> {
  using type = void;
};
template <class... Rs>
struct result_for<response<Rs...>> {
  using type = result<Rs...>;
};

/// The signature of `f * g` for the signature Sig of g, or none if f does not take its answer.
template <class F, class Sig>
struct piped_signature;
template <class F, class R, class... Args>
struct piped_signature<F, R(Args...)> {
  using middle = typename signature<R(Args...)>::answer::content;
  static auto choose() {
    if constexpr (F::template accepts<middle>)
      return std::type_identity<
          protocol<typename result_for<typename F::template answer<middle>>::type(Args...)>>{};
    else
      return std::type_identity<protocol<>>{};
  }
  using type = typename decltype(choose())::type;
};

template <class F, class G>
struct piped_protocol;
template <class F, class... Sigs>
struct piped_protocol<F, protocol<Sigs...>> {
  using type =
      typename join_protocols<protocol<>, typename piped_signature<F, Sigs>::type...>::type;
  static_assert(!std::is_same_v<type, protocol<>>,
                "garrick: f * g: the left actor takes none of the right actor's answers");
};
template <>
struct piped_protocol<any_protocol, any_protocol> {
  using type = any_protocol;
};

/// Spawns the actor behind `f * g`. Returns a strong reference.
[[nodiscard]] cell* spawn_pipe(cell& f, cell& g);

/// The common state of the parts of one fan_out. The part that ends last answers, or drops the
/// promise.
template <class Result>
struct fan_out_state {
  std::vector<Result> results;
  std::size_t left;
  promise_base whole;
};

template <class Result, class Content>
class fan_out_part final : public continuation {
 public:
  using state = fan_out_state<Result>;
  [[nodiscard]] static continuation* make(std::shared_ptr<state> s, std::size_t index) {
    return ::new (base::block_pool::allocate(sizeof(fan_out_part)))
        fan_out_part(std::move(s), index);
  }
  void on_response(cell&, envelope* e) override {
    take_answer<Content>(state_->results[index_], e);
    if (--state_->left == 0) answer_whole();
    abandon();
  }
  void abandon() noexcept override {
    this->~fan_out_part();
    base::block_pool::deallocate(this, sizeof(fan_out_part));
  }

 private:
  fan_out_part(std::shared_ptr<state> s, std::size_t index) noexcept
      : state_(std::move(s)), index_(index) {}
  ~fan_out_part() = default;
  void answer_whole() noexcept {
    try {
      respond_value<std::vector<Result>>(promise_access::take(state_->whole),
                                         std::move(state_->results));
    } catch (...) {}  // the requester, which is this actor, has been told
  }
  std::shared_ptr<state> state_;
  std::size_t index_;
};

/// Sends one part of a larger request. The part's response is handled even if the actor awaits
/// another response.
void ask_part(cell& self, const handle& to, const message& m, continuation* k);

/// Sends the request to all targets, and answers `whole` with the first value.
void ask_first(cell& self, const handle* const* targets, std::size_t count, const message& m,
               pending_request whole);

template <class Range>
using member_protocol =
    typename std::remove_cvref_t<decltype(*std::declval<const Range&>().begin())>::protocol_type;

template <class Answer>
struct collected;
template <class... Rs>
struct collected<response<Rs...>> {
  static_assert(checked_answer<response<Rs...>>::reported);
  using one = std::conditional_t<sizeof...(Rs) == 0, result<void>, result<Rs...>>;
  using content = content_of<Rs...>;
  using pending = pending_response<std::vector<one>>;
  using first = pending_response<Rs...>;
};

}  // namespace detail

/// Returns a handle to f behind g: a message goes to g, g's answer to f, and f's answer to the
/// requester. The handle has those signatures of g with answers that f takes; without any, the
/// expression does not compile.
///
/// Costs a hidden actor, in the system of g, that lives as long as it is used. Errors of g and f go
/// to the requester. Throws std::logic_error for an empty handle, std::bad_alloc. Thread safety:
/// any thread.
///
///     auto price_of = price * lookup;  // price(lookup(name))
///     request(price_of, name).then([](cents c) {…});
template <class F, class G>
[[nodiscard]] ref<typename detail::piped_protocol<F, G>::type> operator*(const ref<F>& f,
                                                                         const ref<G>& g) {
  return handle_access::adopt<typename detail::piped_protocol<F, G>::type>(
      detail::spawn_pipe(detail::target_of(f, "f * g"), detail::target_of(g, "f * g")));
}

/// Sends a request to every target of a range of `ref<P>`. Returns the response, a
/// `std::vector<result<…>>` with the answer or error of each target, in their order. Requires a
/// copyable message, which is one shared block. On the turn of `self`.
///
/// Errors: `timeout` after the limit of `within`; `overload` if `self` has too many open requests.
/// Throws std::logic_error if a handle is empty, before any request is sent; std::bad_alloc.
///
///     fan_out(*this, workers, job{7}).within(1s)
///         .then([](std::vector<result<int>> all) {…});
template <class Range, class... Args>
[[nodiscard]] auto fan_out(actor_base& self, const Range& targets, Args&&... args) {
  using P = detail::member_protocol<Range>;
  using content = typename detail::checked_message<P, Args...>::type;
  using types = detail::collected<typename P::template answer<content>>;
  using state = detail::fan_out_state<typename types::one>;
  cell& asker = actor_access::get(self);
  // Steps that may throw come first: making the message, and checking the handles.
  const message question = make_message(std::forward<Args>(args)...);
  std::vector<typename types::one> results;
  for (const auto& to : targets) {
    static_cast<void>(detail::target_of(to, "fan_out()"));
    results.emplace_back(base::error(base::errc::cancelled));
  }
  pending_request whole;
  typename detail::asked_with<typename types::pending, Args...>::type pending(
      asker, detail::open_request(asker, whole));
  if (whole.requester == nullptr) return pending;
  const std::size_t count = results.size();
  auto shared = std::make_shared<state>(state{std::move(results), count, promise_base(whole)});
  if (count == 0) {
    respond_value<std::vector<typename types::one>>(promise_access::take(shared->whole));
    return pending;
  }
  std::size_t index = 0;
  for (const auto& to : targets)
    detail::ask_part(
        asker, to, question,
        detail::fan_out_part<typename types::one, typename types::content>::make(shared, index++));
  return pending;
}

/// Sends a request to every target of a range of `ref<P>`. Returns the response: the first value;
/// later ones are ignored. If all fail, the response is the last error other than
/// `not_handled`. It is `not_handled` if there is no other error, or no target. Otherwise as
/// `fan_out`.
///
///     result<answer> a = co_await first_of(*this, replicas, query{});
template <class Range, class... Args>
[[nodiscard]] auto first_of(actor_base& self, const Range& targets, Args&&... args) {
  using P = detail::member_protocol<Range>;
  using content = typename detail::checked_message<P, Args...>::type;
  using types = detail::collected<typename P::template answer<content>>;
  cell& asker = actor_access::get(self);
  // Steps that may throw come first: making the message, and checking the handles.
  const message question = make_message(std::forward<Args>(args)...);
  std::vector<const handle*> all;
  for (const auto& to : targets) {
    static_cast<void>(detail::target_of(to, "first_of()"));
    all.push_back(&to);
  }
  pending_request whole;
  typename detail::asked_with<typename types::first, Args...>::type pending(
      asker, detail::open_request(asker, whole));
  if (whole.requester != nullptr) detail::ask_first(asker, all.data(), all.size(), question, whole);
  return pending;
}

}  // namespace garrick::core
