// Patterns in a row.
//
//   pipeline(lines, split, farm(count).by_key(&word::text), print)
//
// A function stands for `seq(function)`. Neighbours of which all but one are `cheap()` become one
// node when the stream is spawned, unless `stream_options::fuse` is off.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/seq.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

namespace detail {

/// A stage of its own, which can be fused with neighbours.
template <class P>
concept sequential = requires { typename P::garrick_seq; };

/// The type of the pattern that P, or the function P, is.
template <class P>
using stage_of = decltype(seq(std::declval<P>()));

// Each of these is instantiated only to fail: the compiler prints the place and the types.
template <std::size_t Number, class Gives, class NextTakes>
struct stages_do_not_fit {
  static constexpr bool reported = true;
  static_assert(std::is_same_v<Gives, NextTakes>,
                "garrick: stages_do_not_fit<n, A, B>: stage n of this pipeline puts out A, and the "
                "next one takes B");
};
template <std::size_t Number, bool IsLast>
struct a_sink_is_not_the_last {
  static constexpr bool reported = true;
  static_assert(IsLast,
                "garrick: a_sink_is_not_the_last<n>: stage n of this pipeline puts nothing out, so "
                "nothing can follow it: make it the last one, or let it put out what the next one "
                "takes");
};
template <std::size_t Number, bool IsFirst>
struct a_source_is_not_the_first {
  static constexpr bool reported = true;
  static_assert(IsFirst,
                "garrick: a_source_is_not_the_first<n>: stage n of this pipeline takes no tuple, "
                "so nothing can come before it: make it the first one, or use zip");
};
template <class Pipeline, bool Some = false>
struct pipeline_without_stages {
  static constexpr bool reported = true;
  static_assert(Some, "garrick: a pipeline has at least one stage");
};

/// Does stage I fit to the next one?
template <std::size_t I, class Stages>
consteval auto check_neighbours() {
  using gives = typename std::tuple_element_t<I, Stages>::output;
  using takes = typename std::tuple_element_t<I + 1, Stages>::input;
  if constexpr (std::is_void_v<gives>)
    return static_cast<a_sink_is_not_the_last<I + 1, false>*>(nullptr);
  else if constexpr (std::is_void_v<takes>)
    return static_cast<a_source_is_not_the_first<I + 2, false>*>(nullptr);
  else if constexpr (!std::is_same_v<gives, takes>)
    return static_cast<stages_do_not_fit<I + 1, gives, takes>*>(nullptr);
  else
    return static_cast<passed_check*>(nullptr);
}
template <class Stages, class Numbers>
struct neighbours_checked;
template <class Stages, std::size_t... I>
struct neighbours_checked<Stages, std::index_sequence<I...>>
    : first_failure<check_of<decltype(check_neighbours<I, Stages>())>...> {};

template <class... Ps>
consteval auto check_pipeline() {
  using parts = all_of<stage_check<Ps>...>;
  if constexpr (!passes<parts>) {
    return static_cast<parts*>(nullptr);
  } else {
    using row = neighbours_checked<std::tuple<stage_of<Ps>...>,
                                   std::make_index_sequence<sizeof...(Ps) - 1>>;
    return static_cast<all_of<run_check<stage_of<Ps>>..., typename row::type>*>(nullptr);
  }
}

}  // namespace detail

/// Patterns in a row: what one puts out the next one takes.
template <class... Ps>
class pipeline_of
    : public detail::yields_as<std::tuple_element_t<sizeof...(Ps) - 1, std::tuple<Ps...>>> {
  using stages = std::tuple<Ps...>;
  static constexpr std::size_t last = sizeof...(Ps) - 1;
  template <std::size_t I>
  using part = std::tuple_element_t<I, stages>;
  template <std::size_t I>
  using gives = typename part<I>::output;

 public:
  using garrick_stage = void;
  using garrick_sendable = void;          ///< stages own what they are made of
  using input = typename part<0>::input;  ///< what it takes; void: it is a source
  using output = gives<last>;             ///< what it puts out; void: it is a sink
  static constexpr bool garrick_keeps_order = (detail::keeps_order<Ps> && ...);

  /// For the framework.
  explicit pipeline_of(Ps... parts) : parts_(std::move(parts)...) {}

  /// What it looks like.
  [[nodiscard]] plan describe() const {
    return std::apply(
        [](const Ps&... ps) {
          return plan{.what = "pipeline", .emitter = false, .parts = {ps.describe()...}};
        },
        parts_);
  }

  /// For the framework.
  detail::inlet_ptr<input> build(const detail::builder& b,
                                 const detail::inlet_ptr<output>& next) const {
    return build_from<0>(b, next);
  }
  /// For the framework: the form that an ordered farm needs.
  auto build_framed(const detail::builder& b,
                    const detail::inlet_ptr<detail::framed<output>>& next) const
    requires garrick_keeps_order
  {
    return framed_from<0>(b, next);
  }

 private:
  template <std::size_t I, class Next>
  auto framed_from(const detail::builder& b, const Next& next) const {
    if constexpr (I == last)
      return std::get<I>(parts_).build_framed(b, next);
    else
      return std::get<I>(parts_).build_framed(b, framed_from<I + 1>(b, next));
  }

  /// Makes the output of a node that ends with part I.
  template <std::size_t I>
  using maker = detail::output_maker_ptr<gives<I>>;

  template <std::size_t I>
  auto build_from(const detail::builder& b, const detail::inlet_ptr<output>& next) const {
    const auto& p = std::get<I>(parts_);
    if constexpr (detail::sequential<part<I>>) {
      std::string name = p.name();
      const maker<I> make = output_after<I>(b, !p.is_cheap(), name, next);
      return p.build_with(b, name, [&](detail::node& n) { return make->make(n); });
    } else if constexpr (I == last) {
      return p.build(b, next);
    } else {
      return p.build(b, build_from<I + 1>(b, next));
    }
  }

  /// What comes after part I: the next part in the same node, whose name grows, or a channel.
  /// `busy`: one of the node's parts is not cheap.
  template <std::size_t I>
  maker<I> output_after(const detail::builder& b, bool busy, std::string& name,
                        const detail::inlet_ptr<output>& next) const {
    if constexpr (I == last) {
      return detail::make_output_to<gives<I>>(next);
    } else {
      if constexpr (detail::sequential<part<I + 1>>) {
        const auto& a = std::get<I>(parts_);
        const auto& z = std::get<I + 1>(parts_);
        if (b.options.fuse && a.may_be_fused() && z.may_be_fused() && (z.is_cheap() || !busy)) {
          name += "+" + z.name();
          using fused = detail::fused_output<gives<I>, typename part<I + 1>::running,
                                             detail::output_for<gives<I + 1>>>;
          return detail::make_output_by<gives<I>>(
              [stage = z.prototype(), of = &b.to,
               rest = output_after<I + 1>(b, busy || !z.is_cheap(), name, next)](detail::node& n) {
                auto s = stage;
                detail::belong(s, *of);
                return std::unique_ptr<detail::output_for<gives<I>>>(
                    new fused(std::move(s), rest->make(n)));
              });
        }
      }
      return detail::make_output_to<gives<I>>(build_from<I + 1>(b, next));
    }
  }

  stages parts_;
};

/// Patterns in a row: what one puts out the next one takes. A function stands for `seq(function)`.
///
///     pipeline(lines, split, count, print)
template <class P, class... Ps>
[[nodiscard]] auto pipeline(P first, Ps... others) {
  using check = detail::check_of<decltype(detail::check_pipeline<P, Ps...>())>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>)
    return pipeline_of<detail::stage_of<P>, detail::stage_of<Ps>...>(seq(std::move(first)),
                                                                     seq(std::move(others))...);
  else
    return detail::refused_pattern();
}
/// Does not compile: a pipeline has at least one stage.
template <class Pipeline = void>
[[nodiscard]] auto pipeline() {
  static_assert(detail::pipeline_without_stages<Pipeline>::reported);
  return detail::refused_pattern();
}

}  // namespace garrick::patterns
