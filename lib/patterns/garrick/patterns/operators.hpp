// Small stages that streams often need. They are cheap: next to another stage they are part of its
// node (stream_options::fuse).
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/seq.hpp>

#include <cstddef>
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

template <class T, class F>
class flat_map_stage {
 public:
  explicit flat_map_stage(F f) : f_(std::move(f)) {}
  void start() noexcept {}
  template <class To>
  void stop(To& /*out*/) noexcept {}
  template <class To>
  void consume(T&& in, To& out) {
    auto all = f_(std::move(in));
    for (auto& x : all) out.put(std::move(x));
  }

 private:
  [[no_unique_address]] F f_;
};

template <class T>
class take_stage {
 public:
  explicit take_stage(std::size_t n) : left_(n) {}
  void start() noexcept {}
  template <class To>
  void stop(To& /*out*/) noexcept {}
  template <class To>
  void consume(T&& in, To& out) {
    --left_;
    out.put(std::move(in));
  }
  [[nodiscard]] std::size_t room() const noexcept { return left_; }
  [[nodiscard]] bool has_enough() const noexcept { return left_ == 0; }

 private:
  std::size_t left_;
};

}  // namespace detail

/// Puts out each element of the container that `f(tuple)` gives.
///
///     flat_map([](line l) -> std::vector<word> { return words_of(l); })
template <class F>
[[nodiscard]] auto flat_map(F f) {
  using types = detail::types_of<F>;
  using T = typename types::input;
  using container = typename types::output;
  static_assert(
      requires(container c) {
        c.begin();
        c.end();
      }, "garrick: flat_map takes a function from a tuple to a container");
  using element = std::remove_cvref_t<decltype(*std::declval<container&>().begin())>;
  using running = detail::flat_map_stage<T, F>;
  return seq_stage<running, T, element>(running(std::move(f)), "flat_map").cheap();
}

/// Hands on the first `n` tuples, and then ends the stream behind it. The stages before it hear
/// that nobody wants more: sources stop there, and what is on its way is dropped and counted. In a
/// farm, `n` for each replica.
template <class T>
[[nodiscard]] auto take(std::size_t n) {
  using running = detail::take_stage<T>;
  return seq_stage<running, T, T>(running(n), "take");
}

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
