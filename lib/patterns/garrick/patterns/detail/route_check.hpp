// Compile-time errors for a function that chooses a tuple's receiver, or computes its key.
//
// Private: installed because templates need it.
//
// Thread safety: compile time only.
#pragma once

#include <garrick/patterns/channel/called.hpp>
#include <garrick/patterns/channel/routes.hpp>
#include <garrick/patterns/detail/checks.hpp>

#include <cstddef>
#include <type_traits>

namespace garrick::patterns::detail {

template <class Key, class Tuple, bool Fits = false>
struct no_key_of_the_tuple : failed_check {
  static_assert(Fits,
                "garrick: by_key takes a pointer to a member of the tuple, or a function of it, "
                "and std::hash knows the type of the key");
};
template <class F, class Tuple, bool Fits = false>
struct no_choice_for_the_tuple : failed_check {
  static_assert(Fits,
                "garrick: by takes a function `std::size_t f(const Tuple&, std::size_t n)` that "
                "gives a number below n");
};

/// True if F is a function of a T, or a pointer to a member, that gives a key.
template <class F, class T>
inline constexpr bool gives_key = [] {
  if constexpr (std::is_invocable_v<callee<F>, const T&>)
    return requires(std::decay_t<std::invoke_result_t<callee<F>, const T&>> key) {
      static_cast<std::size_t>(std::hash<decltype(key)>()(key));
    };
  else
    return false;
}();
/// The check of a function or member that gives the key of a T. A pointer to a member shares
/// nothing.
template <class F, class T>
using key_check =
    std::conditional_t<gives_key<F, T>,
                       std::conditional_t<std::is_member_pointer_v<F>, passed_check, part_check<F>>,
                       check_of<no_key_of_the_tuple<F, T>*, F>>;

/// True if F is a function that chooses a receiver of a T.
template <class F, class T>
inline constexpr bool chooses =
    std::disjunction_v<std::is_invocable_r<std::size_t, callee<F>, const T&, std::size_t>,
                       std::is_invocable_r<std::size_t, callee<F>, const T&, const choices<T>&>>;
template <class F, class T>
using choice_check =
    std::conditional_t<chooses<F, T>, part_check<F>, check_of<no_choice_for_the_tuple<F, T>*, F>>;

}  // namespace garrick::patterns::detail
