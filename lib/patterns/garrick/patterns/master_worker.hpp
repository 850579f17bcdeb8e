// Works on each element of a container until it is done, as often as it needs (paper 003 §2.3.2.4).
//
//   master_worker([](walk& w) { w.step(); }, [](const walk& w) { return !w.is_home(); })
//
// A free helper takes the next element, and works on it until the second function says that it is
// done. In a stream, `feedback(farm(p), again)` does the same for tuples.
//
// Thread safety: patterns are plain values. The functions are called by several threads at once,
// for different elements.
#pragma once

#include <garrick/patterns/data_pattern.hpp>
#include <garrick/patterns/detail/callable.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/element_function.hpp>
#include <garrick/patterns/map.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

namespace detail {

/// A function of an element that calls F until Again is false.
template <class F, class Again>
struct goes_round {
  using element = typename element_function<F>::element;

  [[no_unique_address]] F f;
  [[no_unique_address]] Again again;

  void operator()(element& x, std::size_t at) const {
    do element_function<F>::change(f, x, at);
    while (called(again)(std::as_const(x)));
  }
};

template <class Function, bool Fits = false>
struct master_worker_takes_no_such_function : failed_check {
  static_assert(Fits,
                "garrick: master_worker(f, again) takes a function `void f(T&)` or `T f(const T&)` "
                "that names its types");
};
template <class Function, class Element, bool Fits = false>
struct master_worker_condition_does_not_fit : failed_check {
  static_assert(Fits,
                "garrick: master_worker(f, again) takes a function `bool again(const T&)` that can "
                "be called by several threads at once");
};

template <class F, class Again, class C>
consteval auto check_master_worker() {
  if constexpr (!passes<element_function_check<F>>) {
    return verdict<element_function_check<F>>;
  } else {
    using kind = element_function<F>;
    using T = typename kind::element;
    if constexpr (kind::takes_range ||
                  !(std::is_void_v<typename kind::made> || std::is_same_v<typename kind::made, T>))
      return verdict<master_worker_takes_no_such_function<typename signature_of_stage<F>::type>>;
    else if constexpr (!std::is_invocable_r_v<bool, callee<const Again>, const T&>)
      return verdict<master_worker_condition_does_not_fit<Again, T>>;
    else
      return verdict<first_failure<container_check<F, C>, part_check<Again>>>;
  }
}
template <class F, class Again, class C>
using master_worker_check = check_of<decltype(check_master_worker<F, Again, C>()), F, Again>;

}  // namespace detail

/// Returns a pattern that calls `f`, a `void(T&)` or a `T(T)`, for each element, and again while
/// `again(element)` is true; several elements at once. The result is the container with its
/// changes. A free helper takes the next element, or the next `chunk` of them with
/// `dynamic(chunk)`. An element that is never done occupies its helper for ever. If a function
/// throws, the request fails, and the container is dropped. C is a std::vector unless it is given.
template <class C = void, class F, class Again>
[[nodiscard]] auto master_worker(F f, Again again) {
  using check = detail::master_worker_check<F, Again, C>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>) {
    using round = detail::goes_round<F, Again>;
    using body = detail::map_body<round, detail::container_for<C, F>>;
    return data_pattern<body>({round{std::move(f), std::move(again)}}, "master_worker").dynamic(1);
  } else {
    return detail::refused_pattern();
  }
}

}  // namespace garrick::patterns
