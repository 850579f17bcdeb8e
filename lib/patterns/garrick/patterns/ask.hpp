// A stage that sends each tuple to an actor as a request, and puts out the answers.
//
//   pipeline(words, ask<look_up>(dictionary, 8), store)             in the order of the answers
//   pipeline(words, ask<look_up>(dictionary, 8).ordered(), store)   in the order of the tuples
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/detail/checks.hpp>
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

/// The value of an answer that has exactly one value.
template <class Answer>
struct only_value {
  static constexpr bool is = false;
};
template <class T>
struct only_value<core::response<T>> {
  static constexpr bool is = true;
  using type = T;
};

/// The actor of a stage that asks.
template <class In, class Out, class P>
class asking_actor : public stage_actor<In, Out> {
 public:
  using garrick_says_what_failed = void;

  asking_actor(ref<P> whom, std::size_t most, bool ordered)
      : whom_(std::move(whom)), most_(most), ordered_(ordered) {}

  void on_start() { this->hold_at_most(most_); }
  void on_restart() noexcept {}
  void consume(In in) {
    const std::uint64_t number = first_ + waiting_.size();
    std::optional<In> spare;
    try {
      if constexpr (base::copyable_message<In>)
        if (this->policy() != on_failure::fail) spare.emplace(in);
      ask(std::move(in), spare, number);
    } catch (...) {  // no memory for a request, or a copy has thrown
      if (ordered_ && number != first_ + waiting_.size()) waiting_.pop_back();
      failed(spare, std::current_exception(), "it could not be asked for");
    }
  }

 private:
  void ask(In&& in, std::optional<In>& spare, std::uint64_t number) {
    stage_hold hold = this->hold();
    if (ordered_) waiting_.push_back({.hold = std::move(hold), .answer = {}});
    this->request(whom_, std::move(in))
        .then(
            [this, number, hold = std::move(hold)](Out answer) {
              if (!ordered_) return this->send_next(std::move(answer));
              waiting_[number - first_].answer = std::move(answer);
              done(number);
            },
            [this, number, spare = std::move(spare)](const error& why) mutable {
              failed(spare, why, why.to_string());
              if (ordered_) done(number);
            });
  }
  template <class Why>
  void failed(std::optional<In>& spare, const Why& why, std::string text) {
    if (spare)
      this->tuple_failed(*std::move(spare), why);
    else
      this->tuple_failed(std::move(text), why);
  }

  /// A request that was sent, in the order of the tuples.
  struct asked {
    /// Held until the answer is put out: an answer that waits for older ones counts, too.
    stage_hold hold;
    std::optional<Out> answer;
    bool done = false;
  };
  void done(std::uint64_t number) {
    waiting_[number - first_].done = true;
    for (; !waiting_.empty() && waiting_.front().done; ++first_) {
      asked oldest = std::move(waiting_.front());
      waiting_.pop_front();
      if (oldest.answer) this->send_next(*std::move(oldest.answer));
    }
  }

  ref<P> whom_;
  std::size_t most_;
  bool ordered_;
  std::deque<asked> waiting_;
  std::uint64_t first_ = 0;  ///< the number of the oldest waiting request
};

/// The answer to the message In of the protocol P.
template <class In, class P>
using answer_of = only_value<typename P::template answer<In>>;

/// The message of a protocol that has exactly one, with one part; void for other protocols.
template <class P>
struct only_question {
  using type = void;
};
template <class R, class M>
struct only_question<protocol<R(M)>> {
  using type = std::decay_t<M>;
};

template <class Protocol, bool One = false>
struct ask_whom_understands_several : failed_check {
  static_assert(One,
                "garrick: this actor understands several messages: ask<look_up>(handle, n) says "
                "which one the tuples are");
};
template <class Protocol, class Question, bool OneValue = false>
struct ask_gets_no_value : failed_check {
  static_assert(OneValue,
                "garrick: ask needs a message of the actor's protocol that is answered with one "
                "value");
};

template <class In, class P>
consteval auto check_question() {
  if constexpr (std::is_void_v<In>)
    return verdict<ask_whom_understands_several<P>>;
  else if constexpr (std::is_same_v<P, core::any_protocol>)
    return verdict<ask_gets_no_value<P, In>>;
  else if constexpr (!P::template accepts<In>)
    return verdict<ask_gets_no_value<P, In>>;
  else if constexpr (!answer_of<In, P>::is)
    return verdict<ask_gets_no_value<P, In>>;
  else
    return verdict<passed_check>;
}

}  // namespace detail

/// A stage that asks an actor.
template <class In, class Out, class P>
class ask_stage : public actor_stage<In, Out> {
 public:
  /// For the framework: asks this actor, with at most `most` requests under way.
  ask_stage(ref<P> whom, std::size_t most, bool in_order)
      : actor_stage<In, Out>(detail::stage_of_actors<detail::asking_actor<In, Out, P>>(
            std::tuple<ref<P>, std::size_t, bool>(whom, most, in_order), "ask")),
        whom_(std::move(whom)),
        most_(most) {}

  /// Returns a copy of this stage that puts the answers out in the order of the tuples. An answer
  /// waits for those of all older tuples.
  [[nodiscard]] ask_stage ordered() const { return {whom_, most_, true}; }

 private:
  ref<P> whom_;
  std::size_t most_;
};

namespace detail {

template <class In, class P>
[[nodiscard]] auto asker_of(ref<P> whom, std::size_t n) {
  using check = check_of<decltype(check_question<In, P>())>;
  static_assert(check::reported);
  if constexpr (passes<check>) {
    if (n == 0) throw std::invalid_argument("garrick: ask(whom, n): n is 0; at least 1");
    return ask_stage<In, typename answer_of<In, P>::type, P>(std::move(whom), n, false);
  } else {
    return refused_pattern();
  }
}

}  // namespace detail

/// Returns a stage that sends each tuple, an In, to an actor as a request, and puts out the answers
/// as they come. While `n` requests are under way, the stage takes no tuple. An answer that is an
/// error follows the stage's policy: the stream fails, or the tuple is a dead letter. If the tuple
/// cannot be copied, the dead letter is the error's text. If a key function of the next stage
/// throws on an answer, the dead letter is the answer. In a farm, each replica has up to `n`
/// requests under way. Throws std::invalid_argument for an `n` of zero.
///
///     ask<look_up>(dictionary, 8).on(on_failure::skip)
template <class In, class P>
[[nodiscard]] auto ask(ref<P> whom, std::size_t n) {
  return detail::asker_of<In>(std::move(whom), n);
}
/// Returns the same as above, for an actor that understands one message.
template <class P>
[[nodiscard]] auto ask(ref<P> whom, std::size_t n) {
  return detail::asker_of<typename detail::only_question<P>::type>(std::move(whom), n);
}

/// This overload refuses a call without a typed handle or without a number.
template <class Call = void>
[[nodiscard]] detail::refused_pattern ask(detail::anything /*whom*/, detail::anything /*n*/ = {}) {
  static_assert(detail::is_right_call<Call>,
                "garrick: ask(handle, n) takes an actor's typed handle, a ref<P>, and how many "
                "requests may be under way, as in ask(dictionary, 8)");
  return {};
}

}  // namespace garrick::patterns
