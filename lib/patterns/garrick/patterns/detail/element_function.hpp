// The parameter and result types of a data-parallel pattern's function, read from its signature,
// and the compile-time error if it does not fit.
//
// Private: installed because templates need it.
//
// Thread safety: compile time only.
#pragma once

#include <garrick/patterns/detail/callable.hpp>
#include <garrick/patterns/detail/checks.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

template <class T>
struct range_of {
  static constexpr bool is = false;
  using element = std::decay_t<T>;
};
template <class T>
struct range_of<std::span<T>> {
  static constexpr bool is = true;
  using element = T;
};

/// A function of one element or of a piece, which may also take the place.
template <class R, class Arguments>
struct element_types {
  static constexpr bool fits = false;
};
template <class R, class A>
struct element_types<R, list<A>> {
  using range = range_of<std::remove_cvref_t<A>>;
  using element = typename range::element;
  using made = std::decay_t<R>;
  static constexpr bool takes_range = range::is;
  static constexpr bool takes_place = false;
  static constexpr bool changes = takes_range || (std::is_lvalue_reference_v<A> &&
                                                  !std::is_const_v<std::remove_reference_t<A>>);
  static constexpr bool moves = !std::is_lvalue_reference_v<A>;
  static constexpr bool fits =
      changes ? std::is_void_v<R> && !std::is_const_v<element> : !std::is_void_v<R>;
};
template <class R, class A, class Place>
struct element_types<R, list<A, Place>> : element_types<R, list<A>> {
  static constexpr bool takes_place = true;
  static constexpr bool fits = element_types<R, list<A>>::fits &&
                               std::is_same_v<std::decay_t<Place>, std::size_t> &&
                               takes_moved<Place>;
};

template <class F>
struct element_function {
  using signature = signature_of_stage<F>;
  using types = element_types<typename signature::result, typename signature::arguments>;
  using element = typename types::element;
  using made = typename types::made;
  static constexpr bool takes_range = types::takes_range;

  /// Changes the element by a function that changes it, or that returns its new value.
  template <class T>
  static void change(const F& f, T& x, std::size_t at) {
    if constexpr (types::changes)
      call(f, x, at);
    else
      x = result_of(f, x, at);
  }
  /// Calls a function that returns a value.
  template <class T>
  static made result_of(const F& f, T& x, std::size_t at) {
    if constexpr (types::moves)
      return call(f, std::move(x), at);
    else
      return call(f, x, at);
  }
  /// Calls a function of a piece.
  template <class T>
  static void call_with_range(const F& f, T* begin, std::size_t n, std::size_t at) {
    call(f, std::span<T>(begin, n), at);
  }

 private:
  template <class X>
  static decltype(auto) call(const F& f, X&& x, std::size_t at) {
    if constexpr (types::takes_place)
      return called(f)(std::forward<X>(x), at);
    else
      return called(f)(std::forward<X>(x));
  }
};

/// The result of F for an element; void: nothing, or F is not such a function.
template <class F>
struct made_of {
  using type = void;
};
template <class F>
  requires(signature_of_stage<F>::known &&
           element_types<typename signature_of_stage<F>::result,
                         typename signature_of_stage<F>::arguments>::fits)
struct made_of<F> {
  using type = typename element_function<F>::made;
};
/// The result of F for an element, or an empty value if there is none.
struct no_value {};
template <class F>
using value_made_of = std::conditional_t<std::is_void_v<typename made_of<F>::type>, no_value,
                                         typename made_of<F>::type>;

/// The default container of a pattern whose F takes elements.
template <class C, class F>
struct data_container {
  using type = C;
};
template <class F>
struct data_container<void, F> {
  using type = std::vector<typename element_function<F>::element>;
};
template <class C, class F>
using container_for = typename data_container<C, F>::type;

/// A container of elements that are reached by number, each an object that shares nothing with the
/// others.
template <class C, class T>
concept holds_elements = !requires { typename C::key_type; } && requires(C& c, std::size_t i) {
  { c.size() } -> std::convertible_to<std::size_t>;
  requires std::is_same_v<decltype(c[i]), T&>;
} && std::is_move_constructible_v<C>;
/// True if the elements are contiguous.
template <class C, class T>
concept holds_a_range = holds_elements<C, T> && requires(C& c) {
  { c.data() } -> std::same_as<T*>;
};

template <class Function, bool Fits = false>
struct no_element_function : failed_check {
  static_assert(Fits,
                "garrick: map takes a function that names its types: void(T&), void(std::span<T>), "
                "or U(const T&); a second parameter, std::size_t, gets the element's number");
};
template <class Function, bool Constant = false>
struct element_function_has_a_state : failed_check {
  static_assert(
      Constant,
      "garrick: several threads call this function at once, so it cannot change its bound "
      "values, and its operator() is const");
};
template <class Container, class Element, bool Fits = false>
struct no_container_of_elements : failed_check {
  static_assert(
      Fits,
      "garrick: this container needs size() and an operator[] that gives an Element&; for "
      "a function of std::span, data() as well. (std::vector<bool> has no such elements)");
};
template <class Made, bool Fits = false>
struct no_result_element : failed_check {
  static_assert(
      Fits,
      "garrick: the results of a map lie in a std::vector: they are default-constructible, "
      "can be assigned, and are not bool, which has no elements of its own there");
};

/// True if several threads can call F at once.
template <class F, class Arguments>
inline constexpr bool is_constant = false;
template <class F, class... Args>
inline constexpr bool is_constant<F, list<Args...>> = std::is_invocable_v<callee<const F>, Args...>;

template <class F>
consteval auto check_element_function() {
  using signature = signature_of_stage<F>;
  if constexpr (!signature::known) {
    return verdict<no_element_function<typename called_of<F>::type>>;
  } else {
    using arguments = typename signature::arguments;
    if constexpr (!element_types<typename signature::result, arguments>::fits)
      return verdict<no_element_function<typename signature::type>>;
    else if constexpr (!passes<part_check<F>>)
      return verdict<part_check<F>>;
    else if constexpr (!is_constant<F, arguments>)
      return verdict<element_function_has_a_state<typename signature::type>>;
    else
      return verdict<passed_check>;
  }
}
template <class F>
using element_function_check = check_of<decltype(check_element_function<F>()), F>;

template <class F, class C>
consteval auto check_container() {
  using T = typename element_function<F>::element;
  using container = container_for<C, F>;
  if constexpr (element_function<F>::takes_range ? !holds_a_range<container, T>
                                                 : !holds_elements<container, T>)
    return verdict<no_container_of_elements<container, T>>;
  else
    return verdict<content_check<container>>;
}
template <class F, class C>
using container_check = check_of<decltype(check_container<F, C>()), F>;

template <class F, class C>
consteval auto check_map() {
  if constexpr (!passes<element_function_check<F>>) {
    return verdict<element_function_check<F>>;
  } else if constexpr (!passes<container_check<F, C>>) {
    return verdict<container_check<F, C>>;
  } else {
    using T = typename element_function<F>::element;
    using U = typename element_function<F>::made;
    if constexpr (std::is_void_v<U> || std::is_same_v<T, U>)
      return verdict<passed_check>;
    else if constexpr (std::is_same_v<U, bool> || !std::is_default_constructible_v<U> ||
                       !std::is_move_assignable_v<U>)
      return verdict<no_result_element<U>>;
    else
      return verdict<content_check<U>>;
  }
}
/// The check of a map with F of containers C. If C is void, the container is a vector.
template <class F, class C>
using map_check = check_of<decltype(check_map<F, C>()), F>;

}  // namespace garrick::patterns::detail
