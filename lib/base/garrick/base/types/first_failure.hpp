// Compile-time checks that report their first failure, alone and in a few lines.
//
// Problem: a compiler answers a wrong call of a template with pages of errors. So a function
// template checks its types first, and names their fault in one sentence:
//
//   template <class F, bool Fits = false>
//   struct filter_takes_no_such_function : failed_check {
//     static_assert(Fits, "garrick: filter takes a function `bool f(const Tuple&)`");
//   };
//
//   template <class F>
//   auto filter(F f) {
//     using check = first_failure<unless<gives_bool<F>, filter_takes_no_such_function<F>>,
//                                 part_check<F>>;   // one more check, of another place
//     static_assert(check::reported);
//     if constexpr (passes<check>) …                // else a result that reports nothing more
//   }
//
// A check is `passed_check`, or a class that cannot be instantiated without its message. The
// compiler prints the class with its arguments, so its name is part of the message. An unused
// failure costs nothing, since it is only named.
//
// Until C++26 the message of a static_assert must be a literal. So each sentence has a class of its
// own, and is not a text in a table of conditions. Compilers print a text among a class's arguments
// apart from the error: GCC prints it whole, clang up to its 32nd character.
//
// Private: installed because templates need it.
//
// Thread safety: compile time only.
#pragma once

namespace garrick::base::detail {

/// The base of a check that has failed. The derived class asserts a last parameter `bool Fits =
/// false`: the condition has to depend on a parameter, and clang prints a condition again unless it
/// is a plain name.
struct failed_check {
  static constexpr bool reported = true;
};
struct passed_check {
  static constexpr bool reported = true;
};

template <bool Passed>
struct check_by {
  template <class Failure>
  using check = Failure;
};
template <>
struct check_by<true> {
  template <class Failure>
  using check = passed_check;
};

template <class... Checks>
struct first_failure_of {
  using type = passed_check;
};
template <class Check, class... Rest>
struct first_failure_of<Check, Rest...> {
  using type = Check;
};
template <class... Rest>
struct first_failure_of<passed_check, Rest...> : first_failure_of<Rest...> {};

/// `passed_check` if the condition is true, otherwise `Failure`.
template <bool Passed, class Failure>
using unless = typename check_by<Passed>::template check<Failure>;

/// The first of these checks that has failed, or passed_check.
template <class... Checks>
using first_failure = typename first_failure_of<Checks...>::type;

template <class Check>
inline constexpr bool passes = false;
template <>
inline constexpr bool passes<passed_check> = true;

/// The result of a function that looks for a failure, for conditions that can be tested only if
/// others are true.
template <class Check>
inline constexpr Check* verdict = nullptr;

}  // namespace garrick::base::detail
