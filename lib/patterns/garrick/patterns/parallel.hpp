// Different patterns side by side.
//
//   parallel(average_speed, count_vehicles)               each gets every tuple
//   parallel(cars, lorries).by([](const report& r, std::size_t) { return r.type == lorry; })
//
// What they put out is merged, in no order between them.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/channel/routes.hpp>
#include <garrick/patterns/pipeline.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

/// Different patterns side by side.
template <class Policy, class... Ps>
class parallel_of {
  using first = std::tuple_element_t<0, std::tuple<Ps...>>;

 public:
  using garrick_stage = void;
  using garrick_sendable = void;  ///< stages own what they are made of
  static constexpr bool garrick_keeps_order = false;
  using input = typename first::input;    ///< what it takes; void: it is a source
  using output = typename first::output;  ///< what it puts out; void: it is a sink

  static_assert(!std::is_void_v<input>,
                "garrick: parallel takes tuples; its first part is a source");
  static_assert(!(requires { typename Ps::value; } || ...),
                "garrick: a stream yields one value: put fold behind parallel");
  static_assert((std::is_same_v<input, typename Ps::input> && ...),
                "garrick: the parts of parallel take the same type");
  static_assert((std::is_same_v<output, typename Ps::output> && ...),
                "garrick: the parts of parallel put out the same type");

  /// For the framework.
  parallel_of(Policy policy, std::tuple<Ps...> parts)
      : parts_(std::move(parts)), policy_(std::move(policy)) {}

  /// Each tuple goes to the part whose number `f(tuple, n)` gives, of n.
  template <class F>
  [[nodiscard]] auto by(F f) const {
    return parallel_of<chosen<F>, Ps...>(chosen<F>{std::move(f)}, parts_);
  }

  /// What it looks like.
  [[nodiscard]] plan describe() const {
    return std::apply(
        [](const Ps&... ps) {
          return plan{.what = "parallel", .policy = Policy::name, .parts = {ps.describe()...}};
        },
        parts_);
  }

  /// For the framework.
  detail::inlet_ptr<input> build(const detail::builder& b,
                                 const detail::inlet_ptr<output>& next) const {
    auto all = std::apply(
        [&](const Ps&... ps) {
          return std::vector<detail::inlet_ptr<input>>{ps.build(b, next)...};
        },
        parts_);
    auto in = std::make_shared<detail::routes_inlet<input, Policy>>(std::move(all), policy_);
    if (b.options.remove_emitters) return in;
    return detail::through_a_node<input>(b, "emitter", in);
  }

 private:
  std::tuple<Ps...> parts_;
  Policy policy_;
};

/// Different patterns side by side, each of which gets every tuple, until `by` says otherwise. A
/// function stands for `seq(function)`.
template <class... Ps>
[[nodiscard]] auto parallel(Ps... parts) {
  static_assert(sizeof...(Ps) != 0, "garrick: parallel has at least one part");
  return parallel_of<to_all, decltype(detail::as_stage(std::declval<Ps>()))...>(
      to_all(), std::tuple(detail::as_stage(std::move(parts))...));
}

}  // namespace garrick::patterns
