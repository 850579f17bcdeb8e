// Different patterns side by side.
//
//   parallel(average_speed, count_vehicles)               each gets every tuple
//   parallel(cars, lorries).by([](const report& r, std::size_t) { return r.type == lorry; })
//
// The results of the parts are merged, in no order between the parts.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/base/memory/shared_as.hpp>
#include <garrick/patterns/channel/routes.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/route_check.hpp>
#include <garrick/patterns/pipeline.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns {

namespace detail {

template <std::size_t Number, bool TakesTuples = false>
struct parallel_part_is_a_source : failed_check {
  static_assert(TakesTuples,
                "garrick: parallel_part_is_a_source<n>: part n of this parallel takes no tuple: "
                "put the source before parallel");
};
template <std::size_t Number, bool YieldsNothing = false>
struct parallel_part_is_a_fold : failed_check {
  static_assert(YieldsNothing,
                "garrick: parallel_part_is_a_fold<n>: a stream yields one value, and part n of "
                "this parallel would yield one of its own: put fold behind parallel");
};
template <std::size_t Number, class FirstTakes, class Takes>
struct parallel_parts_take_different_types : failed_check {
  static_assert(std::is_same_v<FirstTakes, Takes>,
                "garrick: parallel_parts_take_different_types<n, A, B>: the first part of this "
                "parallel takes A, and part n takes B");
};
template <std::size_t Number, class FirstGives, class Gives>
struct parallel_parts_put_out_different_types : failed_check {
  static_assert(std::is_same_v<FirstGives, Gives>,
                "garrick: parallel_parts_put_out_different_types<n, A, B>: the first part of this "
                "parallel puts out A, and part n puts out B");
};
template <class Parallel, bool Some = false>
struct parallel_without_parts : failed_check {
  static_assert(Some, "garrick: parallel has at least one part");
};

/// Checks part I, a P, against the first part.
template <std::size_t I, class First, class P>
using check_of_part = first_failure<
    unless<!std::is_void_v<typename P::input>, parallel_part_is_a_source<I>>,
    unless<!requires { typename P::value; }, parallel_part_is_a_fold<I>>,
    unless<std::is_same_v<typename First::input, typename P::input>,
           parallel_parts_take_different_types<I, typename First::input, typename P::input>>,
    unless<std::is_same_v<typename First::output, typename P::output>,
           parallel_parts_put_out_different_types<I, typename First::output, typename P::output>>,
    run_check<P>>;
template <class Numbers, class... Ps>
struct parts_checked;
template <std::size_t... I, class First, class... Rest>
struct parts_checked<std::index_sequence<I...>, First, Rest...> {
  using type = first_failure<check_of_part<1, First, First>, check_of_part<I + 2, First, Rest>...>;
};
template <class P, class... Ps>
consteval auto check_parallel() {
  using parts = first_failure<stage_check<P>, stage_check<Ps>...>;
  if constexpr (!passes<parts>)
    return verdict<parts>;
  else
    return verdict<typename parts_checked<std::make_index_sequence<sizeof...(Ps)>, stage_of<P>,
                                          stage_of<Ps>...>::type>;
}

}  // namespace detail

/// Different patterns side by side.
template <class Policy, class... Ps>
class parallel_of {
  using first = std::tuple_element_t<0, std::tuple<Ps...>>;

 public:
  using garrick_stage = void;
  using garrick_sendable = void;  ///< stages own all their parts
  static constexpr bool garrick_keeps_order = false;
  using input = typename first::input;    ///< the type of its tuples
  using output = typename first::output;  ///< the type of its results; void: it is a sink
  /// For the framework: checked when the pattern is used, since a later `by` may make it right.
  using garrick_check = std::conditional_t<std::is_same_v<Policy, detail::to_all>,
                                           detail::broadcast_check<input>, detail::passed_check>;

  /// For the framework: makes a pattern of its parts.
  parallel_of(Policy policy, std::tuple<Ps...> parts)
      : parts_(std::move(parts)), policy_(std::move(policy)) {}

  /// Returns a copy that gives each tuple to part number `f(tuple, n)`, of n. `f` has no captures
  /// (otherwise pass lent(f)).
  template <class F>
  [[nodiscard]] auto by(F f) const {
    using check = detail::choice_check<F, input>;
    static_assert(check::reported);
    if constexpr (detail::passes<check>)
      return parallel_of<detail::chosen<F>, Ps...>(detail::chosen<F>{std::move(f)}, parts_);
    else
      return *this;
  }

  /// Returns the pattern's structure.
  [[nodiscard]] plan describe() const {
    return std::apply(
        [](const Ps&... ps) {
          return plan{.what = "parallel", .policy = Policy::name, .parts = {ps.describe()...}};
        },
        parts_);
  }

  /// For the framework: adds the nodes of all parts.
  detail::inlet_ptr<input> build(const detail::builder& b,
                                 const detail::inlet_ptr<output>& next) const {
    auto all = std::apply(
        [&](const Ps&... ps) { return std::vector<detail::any_inlet_ptr>{ps.build(b, next)...}; },
        parts_);
    auto in = base::shared_as<detail::inlet>(
        new detail::routes_inlet<input, Policy>(std::move(all), policy_));
    if (b.options.remove_emitters) return in;
    return detail::through_a_node<input>(b, "emitter", in);
  }

 private:
  std::tuple<Ps...> parts_;
  Policy policy_;
};

/// Returns different patterns side by side. Each part gets every tuple, unless `by` chooses one. A
/// function stands for `seq(function)`.
template <class P, class... Ps>
[[nodiscard]] auto parallel(P first, Ps... others) {
  using check = detail::check_of<decltype(detail::check_parallel<P, Ps...>())>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>)
    return parallel_of<detail::to_all, detail::stage_of<P>, detail::stage_of<Ps>...>(
        detail::to_all(), std::tuple(seq(std::move(first)), seq(std::move(others))...));
  else
    return detail::refused_pattern();
}
/// This overload refuses a call without parts.
template <class Parallel = void>
[[nodiscard]] auto parallel() {
  static_assert(detail::parallel_without_parts<Parallel>::reported);
  return detail::refused_pattern();
}

}  // namespace garrick::patterns
