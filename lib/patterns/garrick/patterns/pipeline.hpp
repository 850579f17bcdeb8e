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

/// The pattern P itself, or the type of `seq(f)` for a function f of type P.
template <class P>
using stage_of = decltype(seq(std::declval<P>()));

template <std::size_t Number, class Gives, class NextTakes>
struct stages_do_not_fit : failed_check {
  static_assert(std::is_same_v<Gives, NextTakes>,
                "garrick: stages_do_not_fit<n, A, B>: stage n of this pipeline puts out A, and the "
                "next one takes B");
};
template <std::size_t Number, bool IsLast = false>
struct a_sink_is_not_the_last : failed_check {
  static_assert(IsLast,
                "garrick: a_sink_is_not_the_last<n>: stage n of this pipeline puts nothing out, so "
                "nothing can follow it: make it the last one, or let it put out the next one's "
                "input");
};
template <std::size_t Number, bool IsFirst = false>
struct a_source_is_not_the_first : failed_check {
  static_assert(IsFirst,
                "garrick: a_source_is_not_the_first<n>: stage n of this pipeline takes no tuple, "
                "so nothing can come before it: make it the first one, or use zip");
};
template <class Pipeline, bool Some = false>
struct pipeline_without_stages : failed_check {
  static_assert(Some, "garrick: a pipeline has at least one stage");
};

/// Checks that stage I fits the next one.
template <std::size_t I, class Gives, class NextTakes>
using check_of_neighbours = first_failure<
    unless<!std::is_void_v<Gives>, a_sink_is_not_the_last<I + 1>>,
    unless<!std::is_void_v<NextTakes>, a_source_is_not_the_first<I + 2>>,
    unless<std::is_same_v<Gives, NextTakes>, stages_do_not_fit<I + 1, Gives, NextTakes>>>;
template <class Stages, class Numbers>
struct neighbours_checked;
template <class Stages, std::size_t... I>
struct neighbours_checked<Stages, std::index_sequence<I...>> {
  using type =
      first_failure<check_of_neighbours<I, typename std::tuple_element_t<I, Stages>::output,
                                        typename std::tuple_element_t<I + 1, Stages>::input>...>;
};

/// The patterns of a row. A std::tuple would do the same, but takes longer to compile.
template <class P, class... Ps>
class row_of {
 public:
  using first = P;
  using last = typename row_of<Ps...>::last;
  explicit row_of(P&& p, Ps&&... rest) : p_(std::move(p)), rest_(std::move(rest)...) {}
  void list(part_of_row* to) const {
    *to = part_of_row_of(p_);
    rest_.list(to + 1);
  }
  template <class Next>
  auto build_framed(const builder& b, const Next& next) const {
    return p_.build_framed(b, rest_.build_framed(b, next));
  }

 private:
  P p_;
  row_of<Ps...> rest_;
};
template <class P>
class row_of<P> {
 public:
  using first = P;
  using last = P;
  explicit row_of(P&& p) : p_(std::move(p)) {}
  void list(part_of_row* to) const { *to = part_of_row_of(p_); }
  template <class Next>
  auto build_framed(const builder& b, const Next& next) const {
    return p_.build_framed(b, next);
  }

 private:
  P p_;
};

template <class... Ps>
consteval auto check_pipeline() {
  using parts = first_failure<stage_check<Ps>...>;
  if constexpr (!passes<parts>) {
    return verdict<parts>;
  } else {
    using row = neighbours_checked<std::tuple<stage_of<Ps>...>,
                                   std::make_index_sequence<sizeof...(Ps) - 1>>;
    return verdict<first_failure<run_check<stage_of<Ps>>..., typename row::type>>;
  }
}

}  // namespace detail

/// Patterns in a row: each takes the results of the one before.
template <class... Ps>
class pipeline_of : public detail::yields_as<typename detail::row_of<Ps...>::last> {
 public:
  using garrick_stage = void;
  using garrick_sendable = void;                                ///< stages own all their parts
  using input = typename detail::row_of<Ps...>::first::input;   ///< void: it is a source
  using output = typename detail::row_of<Ps...>::last::output;  ///< void: it is a sink
  static constexpr bool garrick_keeps_order = (detail::keeps_order<Ps> && ...);

  /// For the framework: makes a pattern of its parts.
  explicit pipeline_of(Ps&&... parts) : parts_(std::move(parts)...) {}

  /// Returns the pattern's structure.
  [[nodiscard]] plan describe() const {
    detail::part_of_row parts[sizeof...(Ps)];
    parts_.list(parts);
    return detail::describe_row("pipeline", parts);
  }

  /// For the framework: adds the nodes of all parts, the last part first.
  detail::inlet_ptr<input> build(const detail::builder& b,
                                 const detail::inlet_ptr<output>& next) const {
    detail::part_of_row parts[sizeof...(Ps)];
    parts_.list(parts);
    return detail::build_row(b, parts, next);
  }
  /// For the framework: adds the nodes of all parts in an ordered farm.
  auto build_framed(const detail::builder& b,
                    const detail::inlet_ptr<detail::framed<output>>& next) const
    requires garrick_keeps_order
  {
    return parts_.build_framed(b, next);
  }

 private:
  detail::row_of<Ps...> parts_;
};

/// Returns patterns in a row: each takes the results of the one before. A function stands for
/// `seq(function)`.
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
/// This overload refuses the name of several functions: the compiler cannot choose one.
template <class Pipeline = void>
[[nodiscard]] detail::refused_pattern pipeline(detail::several_functions /*first*/, ...) {
  return {};
}
/// This overload refuses a call without stages.
template <class Pipeline = void>
[[nodiscard]] auto pipeline() {
  static_assert(detail::pipeline_without_stages<Pipeline>::reported);
  return detail::refused_pattern();
}

}  // namespace garrick::patterns
