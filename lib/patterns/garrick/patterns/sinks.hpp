// Sinks: the ends of streams.
//
//   for_each(f)          calls f(tuple)
//   fold(0L, plus)       the handle yields the sum: request(h, join{})
//   to(handle)           sends each tuple to an actor
//   discard<T>()
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/running.hpp>
#include <garrick/patterns/node/graph.hpp>
#include <garrick/patterns/seq.hpp>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

namespace detail {

/// Keeps a value for the stream's handle.
template <class In, class Value, class F>
class fold_stage : public stage_defaults {
 public:
  static constexpr bool may_be_copied_for_a_step = true;

  fold_stage(Value first, F f) : value_(std::move(first)), f_(std::move(f)) {}
  void belongs_to(graph& g) noexcept { graph_ = &g; }
  template <class To>
  void stop(To& /*out*/) {
    graph_->value() = std::make_shared<Value>(std::move(value_));
  }
  template <class To>
  void consume(In&& in, To& /*out*/) {
    if (keeps_) [[unlikely]]
      value_ = called(f_)(Value(value_), std::move(in));
    else
      value_ = called(f_)(std::move(value_), std::move(in));
  }
  /// Makes each call work on a copy of the value, since a function that throws may have moved from
  /// its argument.
  void goes_on_after_failures() noexcept { keeps_ = true; }

 private:
  Value value_;
  [[no_unique_address]] F f_;
  bool keeps_ = false;
  graph* graph_ = nullptr;
};

template <class T, class P>
class sending_stage : public stage_defaults {
 public:
  explicit sending_stage(ref<P> to) : to_(std::move(to)) {}
  template <class To>
  void consume(T&& in, To& /*out*/) {
    send(to_, std::move(in));
  }

 private:
  ref<P> to_;
};

/// The message of a protocol that has exactly one, with one part; void for other protocols.
template <class P>
struct only_message {
  using type = void;
};
template <class M>
struct only_message<protocol<void(M)>> {
  using type = std::decay_t<M>;
};

template <class Protocol, bool One = false>
struct receiver_understands_several : failed_check {
  static_assert(One,
                "garrick: this actor understands several messages: to<word>(handle) says which one "
                "the stream sends");
};
template <class Protocol, class Tuple, bool Understood = false>
struct receiver_does_not_understand : failed_check {
  static_assert(Understood, "garrick: the actor behind this handle does not take such tuples");
};
template <class F, bool Fits = false>
struct for_each_function_does_not_fit : failed_check {
  static_assert(Fits, "garrick: for_each takes a function of a tuple that gives nothing");
};
template <class F, class Value, bool Fits = false>
struct fold_function_does_not_fit : failed_check {
  static_assert(Fits,
                "garrick: fold(first, f) takes a function `Value f(Value, Tuple)` that names its "
                "types: no auto, no overloads; Value is the type of `first`, and a number keeps "
                "its value on the way into f and out of it");
};

template <class P, class T>
consteval auto check_receiver() {
  if constexpr (std::is_void_v<T>)
    return verdict<receiver_understands_several<P>>;
  else if constexpr (!P::template accepts<T>)
    return verdict<receiver_does_not_understand<P, T>>;
  else
    return verdict<passed_check>;
}
template <class T, class P>
[[nodiscard]] auto sender_to(ref<P> receiver) {
  using check = check_of<decltype(check_receiver<P, T>())>;
  static_assert(check::reported);
  if constexpr (passes<check>) {
    using running = sending_stage<T, P>;
    return seq_stage<running, T, void>(running(std::move(receiver)), "to");
  } else {
    return refused_pattern();
  }
}
template <class F, class Value>
using fold_check = first_failure<
    unless<accumulates<F, Value, argument_of<1, F>>, fold_function_does_not_fit<F, Value>>,
    value_check<Value>, tuple_check<argument_of<1, F>>, part_check<F>>;

}  // namespace detail

/// Returns a sink that calls `f(tuple)` for each tuple.
template <class F = detail::several_functions>
[[nodiscard]] auto for_each(F f) {
  auto s = seq(std::move(f));
  constexpr bool fits = std::is_void_v<typename decltype(s)::output>;
  static_assert(detail::unless<fits, detail::for_each_function_does_not_fit<F>>::reported);
  if constexpr (fits)
    return s.named("for_each");
  else
    return detail::refused_pattern();
}

/// Returns a sink that sends each tuple to an actor, which slows the stream if its mailbox is full,
/// as it slows any sender. If the actor has ended, the tuples are dead letters.
template <class P>
[[nodiscard]] auto to(ref<P> receiver) {
  return detail::sender_to<typename detail::only_message<P>::type>(std::move(receiver));
}
/// Returns the same for an actor that understands other messages, too: `to<word>(index)`.
template <class T, class P>
[[nodiscard]] auto to(ref<P> receiver) {
  return detail::sender_to<T>(std::move(receiver));
}

/// This overload refuses an argument that is not a typed handle.
template <class Call = void>
[[nodiscard]] detail::refused_pattern to(detail::anything /*receiver*/) {
  static_assert(detail::is_right_call<Call>,
                "garrick: to(handle) takes an actor's typed handle, a ref<P>: inside an actor that "
                "is self()");
  return {};
}

/// Returns a sink that drops each tuple.
template <class T = void>
[[nodiscard]] auto discard() {
  using check = detail::told_type_check<T>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>)
    return seq([](T) {}).named("discard").cheap();
  else
    return detail::refused_pattern();
}

/// Returns a sink that does `value = f(value, tuple)` for each tuple; the last value answers `join`
/// requests to the stream's handle. Refused inside `farm` and `parallel`. With `on_failure::skip`,
/// `f` works on a copy, since a function that throws may have moved from its argument.
template <class Value, class F = detail::several_functions>
[[nodiscard]] auto fold(Value first, F f) {
  using check = detail::told_once<detail::fold_check<F, Value>, F>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>) {
    using T = detail::argument_of<1, F>;
    using running = detail::fold_stage<T, Value, F>;
    return seq_stage<running, T, void, Value>(running(std::move(first), std::move(f)), "fold");
  } else {
    return detail::refused_pattern();
  }
}

/// This overload refuses a fold without a function.
template <class Call = void>
[[nodiscard]] detail::refused_pattern fold(detail::anything /*first*/) {
  static_assert(detail::is_right_call<Call>,
                "garrick: fold(first, f) takes a first value and a function `Value f(Value, Tuple)`"
                ", which is no template and has no overloads");
  return {};
}

}  // namespace garrick::patterns
