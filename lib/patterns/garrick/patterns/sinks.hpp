// Where streams end.
//
//   for_each(f)          calls f(tuple)
//   fold(0L, plus)       the handle yields the sum: request(h, join{})
//   to(handle)           sends each tuple to an actor
//   discard<T>()
//
// Thread safety: patterns are plain values.
#pragma once

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
class fold_stage {
 public:
  fold_stage(Value first, F f) : value_(std::move(first)), f_(std::move(f)) {}
  void belongs_to(graph& g) noexcept { graph_ = &g; }
  void start() noexcept {}
  template <class To>
  void stop(To& /*out*/) {
    graph_->value() = std::make_shared<Value>(std::move(value_));
  }
  template <class To>
  void consume(In&& in, To& /*out*/) {
    value_ = f_(std::move(value_), std::move(in));
  }

 private:
  Value value_;
  [[no_unique_address]] F f_;
  graph* graph_ = nullptr;
};

template <class T, class P>
class sending_stage {
 public:
  explicit sending_stage(ref<P> to) : to_(std::move(to)) {}
  void start() noexcept {}
  template <class To>
  void stop(To& /*out*/) noexcept {}
  template <class To>
  void consume(T&& in, To& /*out*/) {
    send(to_, std::move(in));
  }

 private:
  ref<P> to_;
};

/// The message of a protocol that has one, of one part.
template <class P>
struct only_message;
template <class M>
struct only_message<protocol<void(M)>> {
  using type = M;
};

}  // namespace detail

/// Calls `f(tuple)` for each tuple.
template <class F>
[[nodiscard]] auto for_each(F f) {
  auto s = seq(std::move(f));
  static_assert(std::is_void_v<typename decltype(s)::output>,
                "garrick: for_each takes a function that gives nothing");
  return s.named("for_each");
}

/// Sends each tuple to an actor, which slows the stream if its mailbox is full, as it slows any
/// sender. If the actor has ended, the tuples are dead letters.
template <class P>
[[nodiscard]] auto to(ref<P> receiver) {
  using T = typename detail::only_message<P>::type;
  using running = detail::sending_stage<T, P>;
  return seq_stage<running, T, void>(running(std::move(receiver)), "to");
}
/// The same for an actor that understands other messages, too: `to<word>(index)`.
template <class T, class P>
[[nodiscard]] auto to(ref<P> receiver) {
  using running = detail::sending_stage<T, P>;
  return seq_stage<running, T, void>(running(std::move(receiver)), "to");
}

/// Drops each tuple.
template <class T>
[[nodiscard]] auto discard() {
  return seq([](T) {}).named("discard").cheap();
}

/// `value = f(value, tuple)` for each tuple; the last value is what a request of `join` to the
/// stream's handle gives. Not for replicas.
template <class Value, class F>
[[nodiscard]] auto fold(Value first, F f) {
  using signature = detail::signature_of<F>;
  static_assert(signature::known,
                "garrick: fold's function names its types: no auto, no overloads");
  using in = typename detail::second_of<typename signature::arguments>::type;
  using running = detail::fold_stage<in, Value, F>;
  return seq_stage<running, in, void, Value>(running(std::move(first), std::move(f)), "fold");
}

}  // namespace garrick::patterns
