// Small stages that streams often need. They are cheap: next to another stage they are part of its
// node (stream_options::fuse).
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/seq.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

namespace detail {

template <class T, class F>
class filter_stage {
 public:
  explicit filter_stage(F f) : f_(std::move(f)) {}
  void start() noexcept {}
  template <class To>
  void stop(To& /*out*/) noexcept {}
  template <class To>
  void consume(T&& in, To& out) {
    if (f_(std::as_const(in))) out.put(std::move(in));
  }

 private:
  [[no_unique_address]] F f_;
};

template <class In, class State, class F>
class scan_stage {
 public:
  scan_stage(State first, F f) : state_(std::move(first)), f_(std::move(f)) {}
  void start() noexcept {}
  template <class To>
  void stop(To& /*out*/) noexcept {}
  template <class To>
  void consume(In&& in, To& out) {
    state_ = f_(std::move(state_), std::move(in));
    out.put(std::as_const(state_));
  }

 private:
  State state_;
  [[no_unique_address]] F f_;
};

}  // namespace detail

/// Hands on the tuples for which `f(tuple)` is true.
template <class F>
[[nodiscard]] auto filter(F f) {
  using types = detail::types_of<F>;
  using T = typename types::input;
  static_assert(std::is_same_v<typename types::output, bool>,
                "garrick: filter takes a function from a tuple to bool");
  using running = detail::filter_stage<T, F>;
  return seq_stage<running, T, T>(running(std::move(f)), "filter").cheap();
}

/// `state = f(state, tuple)` for each tuple, and puts out a copy of the state each time.
template <class State, class F>
[[nodiscard]] auto scan(State first, F f) {
  using signature = detail::signature_of<F>;
  static_assert(signature::known,
                "garrick: scan's function names its types: no auto, no overloads");
  using in = typename detail::second_of<typename signature::arguments>::type;
  using running = detail::scan_stage<in, State, F>;
  return seq_stage<running, in, State>(running(std::move(first), std::move(f)), "scan").cheap();
}

}  // namespace garrick::patterns
