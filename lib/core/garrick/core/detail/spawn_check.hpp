// The compiler's checks of a spawn: the actor's class, each argument, and that the class can be
// made of them; and the passing of the arguments to the actor.
//
// An actor's arguments are passed as std::thread passes its arguments: a moved argument is moved,
// and any other is copied first. So an actor has no reference to its spawner's variables, unless
// they were lent.
//
// Each spawning function asserts one `spawn_check<...>::reported`, which names the first check that
// fails. So the compiler writes one error of a few lines, and instantiates nothing further.
//
// Private: installed because templates need it.
//
// Thread safety: used at compile time only, except `given`, which is called on the spawner's
// thread.
#pragma once

#include <garrick/base/types/argument.hpp>
#include <garrick/base/types/first_failure.hpp>
#include <garrick/core/detail/handlers.hpp>
#include <garrick/core/lent.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

namespace garrick::core::detail {

// --- the way of an argument to the actor ---

template <class T>
struct kept_argument {
  using type = T;
};
template <class T>
struct kept_argument<lent<T>> {
  using type = T;
};
/// The type in which an actor gets an argument of a spawn: X& if a variable was lent, else a value.
template <class Arg>
using kept = typename kept_argument<std::decay_t<Arg>>::type;

/// Returns an argument on its way: moved on if it was moved, else a copy.
template <class Arg>
constexpr decltype(auto) given(std::remove_reference_t<Arg>& x) {
  using plain = std::remove_cvref_t<Arg>;
  constexpr bool moved = base::detail::is_moved_in<Arg>;
  if constexpr (requires { typename plain::garrick_lent; }) {
    using T = typename plain::garrick_lent;
    if constexpr (moved || std::is_lvalue_reference_v<T>)
      return static_cast<T&&>(x.get());
    else
      return T(x.get());
  } else if constexpr (moved) {
    return static_cast<plain&&>(x);
  } else {
    return std::decay_t<Arg>(x);
  }
}

// --- the checks ---

/// Instantiated only to fail: the compiler prints the path, the type and the reason.
template <auto Path, class Type, class Reason>
struct cannot_be_given : base::detail::failed_check {
  static_assert(
      base::detail::is_owned_by_the_message<Type>,
      "garrick: an actor owns its arguments: cannot_be_given<path, type, reason> names the "
      "part that would be shared. Give a value, std::move in a part that cannot be looked into, "
      "or say lent(x)");
};

template <class Argument, bool Copied = false>
struct argument_cannot_be_copied : base::detail::failed_check {
  static_assert(Copied,
                "garrick: an argument cannot be copied: std::move it in, or say lent(x) if the "
                "actor may use the spawner's");
};

struct in_argument {
  static constexpr std::string_view name = "argument";
};
struct in_function {
  static constexpr std::string_view name = "function";
};

/// True if the argument can be copied or moved into the actor.
template <class Arg>
inline constexpr bool can_be_passed =
    base::detail::is_moved_in<Arg> || base::copyable_message<std::decay_t<Arg>>;

using base::detail::passed_check;
using base::detail::passes;
using base::detail::verdict;

/// Returns the check of one argument, as a forwarding reference deduces its type.
template <class Arg, class Root, std::size_t... Prefix>
consteval auto check_argument() {
  using owned = base::detail::ownership_check<
      cannot_be_given, typename base::detail::search_argument<Arg>::type, Root, Prefix...>;
  if constexpr (!passes<owned>)
    return verdict<owned>;
  else if constexpr (!can_be_passed<Arg>)
    return verdict<argument_cannot_be_copied<std::decay_t<Arg>>>;
  else
    return verdict<passed_check>;
}

/// Returns the failing check of the first bad argument, or passed_check.
template <std::size_t I>
consteval passed_check* check_arguments() {
  return nullptr;
}
template <std::size_t I, class First, class... Rest>
consteval auto check_arguments() {
  using first_check = decltype(check_argument<First, in_argument, I>());
  if constexpr (std::is_same_v<first_check, passed_check*>)
    return check_arguments<I + 1, Rest...>();
  else
    return first_check{};
}

/// True for a good actor's class that can be made of arguments of these types.
template <class A, class... Args>
inline constexpr bool can_be_made = [] {
  if constexpr (fits_as_actor<A>)
    return std::is_constructible_v<A, kept<Args>...>;
  else
    return false;
}();

template <class A, class... Args>
struct wrong_arguments : base::detail::failed_check {
  static constexpr bool fits = can_be_made<A, Args...>;
  static constexpr bool copies = !std::is_constructible_v<A, Args...>;
  static_assert(fits || !copies,
                "garrick: this actor cannot be made of these arguments: its class needs a public "
                "constructor for them and must not be abstract; dynamic_actor, typed_actor and "
                "blocking_actor are bases to derive from");
  static_assert(fits || copies,
                "garrick: the actor gets a copy, and its constructor takes a reference that can be "
                "changed: take a value, or say lent(x) if the actor may use the spawner's");
};

template <class A, class... Args>
consteval auto check_spawn() {
  if constexpr (!fits_as_actor<A>) {
    return verdict<checked_actor<A>>;
  } else {
    using arguments_check = decltype(check_arguments<0, Args...>());
    if constexpr (!std::is_same_v<arguments_check, passed_check*>)
      return arguments_check{};
    else if constexpr (!can_be_made<A, Args...>)
      return verdict<wrong_arguments<A, Args...>>;
    else
      return verdict<passed_check>;
  }
}

/// The first check of a spawn of an A that fails, which is a compile error where its `reported` is
/// named; passed_check if none fails.
template <class A, class... Args>
using spawn_check = std::remove_pointer_t<decltype(check_spawn<A, Args...>())>;
template <class A, class... Args>
inline constexpr bool can_be_spawned = passes<spawn_check<A, Args...>>;

}  // namespace garrick::core::detail
