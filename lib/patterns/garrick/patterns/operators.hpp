// Small stages that streams often need. All but `take` are cheap: next to another stage they become
// part of its node (stream_options::fuse).
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/detail/running.hpp>
#include <garrick/patterns/seq.hpp>

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

namespace detail {

template <class T, class F>
class filter_stage : public stage_defaults {
 public:
  static constexpr bool may_be_copied_for_a_step = true;

  explicit filter_stage(F f) : f_(std::move(f)) {}
  template <class To>
  void consume(T&& in, To& out) {
    if (called(f_)(std::as_const(in))) out.put(std::move(in));
  }

 private:
  [[no_unique_address]] F f_;
};

template <class In, class State, class F>
class scan_stage : public stage_defaults {
 public:
  static constexpr bool may_be_copied_for_a_step = true;

  scan_stage(State first, F f) : state_(std::move(first)), f_(std::move(f)) {}
  template <class To>
  void consume(In&& in, To& out) {
    if (keeps_) [[unlikely]]
      state_ = called(f_)(State(state_), std::move(in));
    else
      state_ = called(f_)(std::move(state_), std::move(in));
    out.put(std::as_const(state_));
  }
  /// Makes each call work on a copy of the state, as fold_stage does.
  void goes_on_after_failures() noexcept { keeps_ = true; }

 private:
  State state_;
  [[no_unique_address]] F f_;
  bool keeps_ = false;
};

template <class T, class F>
class flat_map_stage : public stage_defaults {
 public:
  explicit flat_map_stage(F f) : f_(std::move(f)) {}
  template <class To>
  void consume(T&& in, To& out) {
    auto all = called(f_)(std::move(in));
    for (auto& x : all) out.put(std::move(x));
  }

 private:
  [[no_unique_address]] F f_;
};

template <class T>
class take_stage : public stage_defaults {
 public:
  explicit take_stage(std::size_t n) : left_(n) {}
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

template <class F, bool Fits = false>
struct flat_map_function_does_not_fit : failed_check {
  static_assert(Fits,
                "garrick: flat_map takes a function from a tuple to a container, which names its "
                "types: no auto, no overloads");
};
template <class F, bool Fits = false>
struct filter_function_does_not_fit : failed_check {
  static_assert(Fits,
                "garrick: filter takes a function `bool f(const Tuple&)` that names its types: no "
                "auto, no overloads");
};
template <class F, class State, bool Fits = false>
struct scan_function_does_not_fit : failed_check {
  static_assert(Fits,
                "garrick: scan(first, f) takes a function `State f(State, Tuple)` that names its "
                "types: no auto, no overloads; State is the type of `first`, and a number keeps "
                "its value on the way into f and out of it");
};

/// The container that F makes of its tuple; void: none.
template <class F>
struct container_of {
  using type = void;
};
template <class F>
  requires is_function<F, void, argument_of<0, F>>
struct container_of<F> {
  using type = std::decay_t<typename signature_of_stage<F>::result>;
};
template <class C>
concept container = requires(C c) {
  c.begin() != c.end();
  ++std::declval<decltype(c.begin())&>();
};

template <class F>
using flat_map_check = first_failure<
    unless<container<typename container_of<F>::type>, flat_map_function_does_not_fit<F>>,
    part_check<F>>;
template <class F>
consteval auto check_filter() {
  using seen = std::add_lvalue_reference_t<std::add_const_t<argument_of<0, F>>>;
  if constexpr (!is_function<F, bool, seen>)
    return verdict<filter_function_does_not_fit<F>>;
  else if constexpr (!std::is_same_v<typename signature_of_stage<F>::result, bool>)
    return verdict<filter_function_does_not_fit<F>>;
  else
    return verdict<part_check<F>>;
}
template <class F, class State>
using scan_check = first_failure<
    unless<accumulates<F, State, argument_of<1, F>>, scan_function_does_not_fit<F, State>>,
    part_check<F>, part_check<State>>;

}  // namespace detail

/// Returns a stage that puts out each element of the container that `f(tuple)` returns.
///
///     flat_map([](line l) -> std::vector<word> { return words_of(l); })
template <class F = detail::several_functions>
[[nodiscard]] auto flat_map(F f) {
  using check = detail::told_once<detail::flat_map_check<F>, F>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>) {
    using T = detail::argument_of<0, F>;
    using container = typename detail::container_of<F>::type;
    using element = std::remove_cvref_t<decltype(*std::declval<container&>().begin())>;
    using running = detail::flat_map_stage<T, F>;
    return seq_stage<running, T, element>(running(std::move(f)), "flat_map").cheap();
  } else {
    return detail::refused_pattern();
  }
}

/// Returns a stage that hands on the first `n` tuples, and then ends the part of the stream behind
/// it. The stages before it are told that no more tuples are wanted: sources stop, and tuples on
/// their way are dropped and counted. In a farm, each replica hands on `n`.
template <class T = void>
[[nodiscard]] auto take(std::size_t n) {
  using check = detail::told_type_check<T>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>) {
    using running = detail::take_stage<T>;
    return seq_stage<running, T, T>(running(n), "take");
  } else {
    return detail::refused_pattern();
  }
}

/// Returns a stage that hands on the tuples for which `f(tuple)` is true.
///
///     filter(patterns::bind([](int least, int x) { return x >= least; }, 7))
template <class F = detail::several_functions>
[[nodiscard]] auto filter(F f) {
  using check = detail::check_of<decltype(detail::check_filter<F>()), F>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>) {
    using T = detail::argument_of<0, F>;
    using running = detail::filter_stage<T, F>;
    return seq_stage<running, T, T>(running(std::move(f)), "filter").cheap();
  } else {
    return detail::refused_pattern();
  }
}

/// Returns a stage that does `state = f(state, tuple)` for each tuple, and puts out a copy of the
/// state each time. With `on_failure::skip`, `f` works on a copy, since a function that throws may
/// have moved from its state.
template <class State, class F = detail::several_functions>
[[nodiscard]] auto scan(State first, F f) {
  using check = detail::told_once<detail::scan_check<F, State>, F>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>) {
    using T = detail::argument_of<1, F>;
    using running = detail::scan_stage<T, State, F>;
    return seq_stage<running, T, State>(running(std::move(first), std::move(f)), "scan").cheap();
  } else {
    return detail::refused_pattern();
  }
}

/// This overload refuses a scan without a function.
template <class Call = void>
[[nodiscard]] detail::refused_pattern scan(detail::anything /*first*/) {
  static_assert(detail::is_right_call<Call>,
                "garrick: scan(first, f) takes a first value and a function `State f(State, Tuple)`"
                ", which is no template and has no overloads");
  return {};
}

}  // namespace garrick::patterns
