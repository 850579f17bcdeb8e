// Each tuple is a request to an actor, and its answer the result.
//
//   pipeline(words, ask<look_up>(dictionary, 8), store)             in the order of the answers
//   pipeline(words, ask<look_up>(dictionary, 8).ordered(), store)   in the order of the tuples
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/stage_actor.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

namespace detail {

/// The value of an answer that has one.
template <class Answer>
struct only_value {
  static constexpr bool is = false;
};
template <class T>
struct only_value<core::response<T>> {
  static constexpr bool is = true;
  using type = T;
};

/// Asks.
template <class In, class Out, class P>
class asking_actor : public stage_actor<In, Out> {
 public:
  asking_actor(ref<P> whom, std::size_t most, bool ordered)
      : whom_(std::move(whom)), most_(most), ordered_(ordered) {}

  void on_start() { this->hold_at_most(most_); }
  void on_restart() noexcept {}
  void consume(In in) {
    const std::uint64_t number = first_ + waiting_.size();
    std::optional<In> spare;
    if constexpr (std::is_copy_constructible_v<In>)
      if (this->policy() != on_failure::fail) spare = in;
    if (ordered_) waiting_.emplace_back();
    this->request(whom_, std::move(in))
        .then(
            [this, number, keep = this->hold()](Out answer) {
              if (!ordered_) return this->send_next(std::move(answer));
              waiting_[number - first_].answer = std::move(answer);
              done(number);
            },
            [this, number, keep = this->hold(),
             spare = std::move(spare)](const error& why) mutable {
              if (spare)
                this->tuple_failed(*std::move(spare), why);
              else
                this->tuple_failed(why.to_string(), why);
              if (ordered_) done(number);
            });
  }

 private:
  /// A request that was sent, in the order of the tuples.
  struct asked {
    std::optional<Out> answer;
    bool done = false;
  };
  void done(std::uint64_t number) {
    waiting_[number - first_].done = true;
    for (; !waiting_.empty() && waiting_.front().done; ++first_) {
      std::optional<Out> answer = std::move(waiting_.front().answer);
      waiting_.pop_front();
      if (answer) this->send_next(*std::move(answer));
    }
  }

  ref<P> whom_;
  std::size_t most_;
  bool ordered_;
  std::deque<asked> waiting_;
  std::uint64_t first_ = 0;  ///< the number of the oldest one that waits
};

/// The answer to the message In of the protocol P.
template <class In, class P>
using answer_of = only_value<typename P::template answer<In>>;

/// The message of a protocol that has one.
template <class P>
struct only_question;
template <class R, class M>
struct only_question<protocol<R(M)>> {
  using type = std::decay_t<M>;
};

}  // namespace detail

/// A stage that asks an actor.
template <class In, class Out, class P>
class ask_stage : public actor_stage<detail::asking_actor<In, Out, P>, ref<P>, std::size_t, bool> {
 public:
  using actor_stage<detail::asking_actor<In, Out, P>, ref<P>, std::size_t, bool>::actor_stage;
  /// The same with the answers in the order of the tuples. The newest wait for the oldest.
  [[nodiscard]] ask_stage ordered() const {
    ask_stage s = *this;
    std::get<2>(s.args_) = true;
    return s;
  }
};

/// Sends each tuple, an In, to an actor as a request, and puts out the answers as they come. At
/// most `n` requests are under way: then the stage takes no tuple. An answer that is an error
/// follows the stage's policy: the stream fails, or the tuple is a dead letter. In a farm, `n` for
/// each replica. Throws std::invalid_argument for an `n` of zero.
///
///     ask<look_up>(dictionary, 8).on(on_failure::skip)
template <class In, class P>
[[nodiscard]] auto ask(ref<P> whom, std::size_t n) {
  using answer = detail::answer_of<In, P>;
  static_assert(answer::is, "garrick: ask needs a message that is answered with one value");
  if (n == 0) throw std::invalid_argument("garrick: ask(whom, n): n is 0; at least 1");
  return ask_stage<In, typename answer::type, P>(
      std::tuple<ref<P>, std::size_t, bool>(std::move(whom), n, false), "ask");
}
/// The same for an actor that understands one message.
template <class P>
[[nodiscard]] auto ask(ref<P> whom, std::size_t n) {
  return ask<typename detail::only_question<P>::type>(std::move(whom), n);
}

}  // namespace garrick::patterns
