// Binds values to a function, for use where a stage takes a function.
//
//   filter(patterns::bind([](int least, int x) { return x >= least; }, 7))
//   seq(patterns::bind([](int& line, slice s) { return numbered{++line, s}; }, 0))
//
// A function with captures is refused, since its captures cannot be checked. Bound values are
// visible, and are checked like the content of a message. Write `patterns::bind`: with a bound
// value of a std type, an unqualified `bind` also finds std::bind.
//
// Thread safety: as a plain value. A data-parallel pattern calls the function on several threads at
// once; the bound values are then const.
#pragma once

#include <garrick/patterns/channel/called.hpp>
#include <garrick/patterns/detail/callable.hpp>
#include <garrick/patterns/detail/checks.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

namespace detail {

/// The arguments behind the first N.
template <std::size_t N, class Arguments>
struct behind {
  using type = Arguments;
};
template <std::size_t N, class First, class... Rest>
  requires(N != 0)
struct behind<N, list<First, Rest...>> : behind<N - 1, list<Rest...>> {};

}  // namespace detail

/// The result of `bind`: a function R(Rest...), which calls F with the bound values before the
/// other arguments. It may be sent.
template <class F, class Values, class R, class Rest>
class bound;
template <class F, class... Values, class R, class... Rest>
class bound<F, std::tuple<Values...>, R, detail::list<Rest...>> {
 public:
  using garrick_sendable = void;  ///< the function has no captures, and the values were checked

  /// For the framework: binds the values to the function.
  bound(F f, std::tuple<Values...> values) : f_(std::move(f)), values_(std::move(values)) {}

  /// Calls the function. Throws the function's exceptions.
  R operator()(Rest... rest) {
    return std::apply(
        [&](Values&... values) -> R {
          return f_(detail::called(values)..., std::forward<Rest>(rest)...);
        },
        values_);
  }
  /// The same for several threads at once, if the function does not change the bound values.
  R operator()(Rest... rest) const
    requires(std::is_invocable_r_v<R, const F&, detail::callee<const Values>..., Rest...>)
  {
    return std::apply(
        [&](const Values&... values) -> R {
          return f_(detail::called(values)..., std::forward<Rest>(rest)...);
        },
        values_);
  }

 private:
  [[no_unique_address]] F f_;
  std::tuple<Values...> values_;
};

namespace detail {

template <class F, class Values, class R, class... Rest>
struct signature_of<bound<F, Values, R, list<Rest...>>> : signature_of<R(Rest...)> {};

struct in_bound {
  static constexpr std::string_view name = "value";
};

template <auto Path, class Type, class Reason>
struct cannot_be_bound : failed_check {
  static_assert(base::detail::is_owned_by_the_message<Type>,
                "garrick: bind's values own all they refer to, as a message does: "
                "cannot_be_bound<path, type, reason> names the part that is not owned. lent(x) "
                "gives the function an X&");
};
template <class F, bool Plain = false>
struct bound_function_has_captures : failed_check {
  static_assert(Plain,
                "garrick: bind takes a function without captures and without members, which names "
                "its types: no auto, no overloads. Its captures are given as values");
};
template <class Function, bool Fit, class... Values>
struct bound_values_do_not_fit : failed_check {
  static_assert(Fit,
                "garrick: bind(f, values...) needs values for f's first parameters: a T, a const "
                "T&, or a T& to change the bound value");
};

template <class Numbers, class... Values>
struct values_checked;
template <std::size_t... I, class... Values>
struct values_checked<std::index_sequence<I...>, Values...> {
  using type = first_failure<base::detail::ownership_check<
      cannot_be_bound, typename base::detail::search<Values, base::detail::context<false>>::type,
      in_bound, I>...>;
};

template <class F, class R, class Rest, class... Values>
inline constexpr bool can_be_called_with = false;
template <class F, class R, class... Rest, class... Values>
inline constexpr bool can_be_called_with<F, R, list<Rest...>, Values...> =
    std::is_invocable_r_v<R, F&, callee<Values>..., Rest...>;

template <class F, class... Values>
consteval auto check_bound() {
  using signature = signature_of<F>;
  if constexpr (!signature::known || !(std::is_empty_v<F> || std::is_pointer_v<F>)) {
    return verdict<bound_function_has_captures<F>>;
  } else {
    using rest = typename behind<sizeof...(Values), typename signature::arguments>::type;
    using values = typename values_checked<std::index_sequence_for<Values...>, Values...>::type;
    if constexpr (!passes<values>)
      return verdict<values>;
    else if constexpr (!can_be_called_with<F, typename signature::result, rest, Values...>)
      return verdict<bound_values_do_not_fit<typename signature::type, false, Values...>>;
    else
      return verdict<passed_check>;
  }
}

}  // namespace detail

/// Returns `f` with its first parameters bound to these values, which are copied or moved. The
/// result is accepted wherever a stage takes a function without captures: in `seq`, `filter`,
/// `scan`, `fold`, `by_key` and so on. A parameter `T&` gets the bound value itself and may change
/// it: a state, of which each replica and each spawn has its own. `f` has no captures, and names
/// its types.
///
///     farm(seq(patterns::bind([](int digits, double x) { return rounded(x, digits); }, 3)))
template <class F, class... Values>
[[nodiscard]] auto bind(F&& f, Values&&... values) {
  using function = std::decay_t<F>;
  using check =
      detail::check_of<decltype(detail::check_bound<function, std::decay_t<Values>...>())>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>) {
    using signature = detail::signature_of<function>;
    using rest = typename detail::behind<sizeof...(Values), typename signature::arguments>::type;
    using kept = std::tuple<std::decay_t<Values>...>;
    return bound<function, kept, typename signature::result, rest>(
        std::forward<F>(f), kept(std::forward<Values>(values)...));
  } else {
    return detail::refused_pattern();
  }
}

}  // namespace garrick::patterns
