// Compile-time checks of a stage: that its tuples own everything they hold, as messages do, and
// that it owns its parts, as an actor does. A refusal is reported once, in a few lines.
//
// first_failure.hpp explains checks. A function `check_…` looks for a failure and returns its
// `verdict`. A function that makes a pattern asserts `check::reported`, and goes on if
// `passes<check>`; otherwise it returns a refused_pattern. A pattern that is made of a
// refused_pattern reports nothing more.
//
// Private: installed because templates need it.
//
// Thread safety: compile time only.
#pragma once

#include <garrick/base/types/first_failure.hpp>
#include <garrick/garrick.hpp>
#include <garrick/patterns/channel/called.hpp>
#include <garrick/patterns/channel/tuple_type.hpp>
#include <garrick/patterns/plan.hpp>

#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace garrick::patterns::detail {

using base::detail::failed_check;
using base::detail::first_failure;
using base::detail::passed_check;
using base::detail::passes;
using base::detail::unless;
using base::detail::verdict;

// --- calls that do not fit ---

/// A type to which any value converts. A function with such a parameter is chosen only if no other
/// function of its name fits, and its assertion says why no other one fits.
struct anything {
  anything() = default;
  template <class T>
  anything(const T& /*value*/) {}
};
/// A type to which the name of several functions, or of a template, converts. The compiler then
/// says that there are several, in fewer lines than a list of the functions that do not fit.
struct several_functions {
  using garrick_refused = void;
  template <class T>
  several_functions(const T& /*value*/) {}
  several_functions(...) {}
};
/// Asserted by a function that must not be called. It depends on a template parameter of that
/// function, so that only a call fails.
template <class... /*Call*/>
inline constexpr bool is_right_call = false;

/// A type that does not convert to a stage's name.
template <class T>
concept no_name = !std::is_convertible_v<const T&, std::string>;
template <class T, bool Is = false>
struct name_is_no_text : failed_check {
  static_assert(Is, "garrick: named(name) takes a text, as in named(\"parse\")");
};

struct builder;
class inlet;

/// The result in the place of a pattern that was refused.
class refused_pattern {
 public:
  using garrick_stage = void;
  using garrick_refused = void;
  using garrick_sendable = void;
  static constexpr bool garrick_keeps_order = false;
  using input = void;
  using output = void;

  plan describe() const;
  std::shared_ptr<inlet> build(const builder& b, const std::shared_ptr<inlet>& next) const;

  // the functions of patterns
  template <class... Args>
  refused_pattern named(const Args&... /*unused*/) const {
    return {};
  }
  template <class... Args>
  refused_pattern cheap(const Args&... /*unused*/) const {
    return {};
  }
  template <class... Args>
  refused_pattern on(const Args&... /*unused*/) const {
    return {};
  }
  template <class... Args>
  refused_pattern replicas(const Args&... /*unused*/) const {
    return {};
  }
  template <class... Args>
  refused_pattern random_member(const Args&... /*unused*/) const {
    return {};
  }
  template <class... Args>
  refused_pattern by_key(const Args&... /*unused*/) const {
    return {};
  }
  template <class... Args>
  refused_pattern by(const Args&... /*unused*/) const {
    return {};
  }
  template <class... Args>
  refused_pattern dynamic(const Args&... /*unused*/) const {
    return {};
  }
  template <class... Args>
  refused_pattern own_threads(const Args&... /*unused*/) const {
    return {};
  }
  template <class... Args>
  refused_pattern event_time(const Args&... /*unused*/) const {
    return {};
  }
  template <class... Args>
  refused_pattern within(const Args&... /*unused*/) const {
    return {};
  }
  template <class... Args>
  refused_pattern with(const Args&... /*unused*/) const {
    return {};
  }
  template <class... Args>
  refused_pattern fold(const Args&... /*unused*/) const {
    return {};
  }
  template <class... Args>
  refused_pattern all(const Args&... /*unused*/) const {
    return {};
  }
  template <class... Args>
  refused_pattern late_to(const Args&... /*unused*/) const {
    return {};
  }
  template <class... Args>
  refused_pattern idle_after(const Args&... /*unused*/) const {
    return {};
  }
  template <class... Args>
  refused_pattern at_most(const Args&... /*unused*/) const {
    return {};
  }
  refused_pattern own_thread() const { return {}; }
  refused_pattern round_robin() const { return {}; }
  refused_pattern least_loaded() const { return {}; }
  refused_pattern broadcast() const { return {}; }
  refused_pattern ordered() const { return {}; }
};
template <class P>
concept refused = requires { typename P::garrick_refused; };
struct told_before : failed_check {};
/// The check of a pattern made of Parts. If one of them was refused, nothing more is reported.
template <class Check, class... Parts>
using told_once = std::conditional_t<(refused<Parts> || ...), told_before, Check>;
/// The same for the result of a check function.
template <class Found, class... Parts>
using check_of = told_once<std::remove_pointer_t<Found>, Parts...>;

// --- tuples ---

struct in_tuple {
  static constexpr std::string_view name = "tuple";
};

template <auto Path, class Type, class Reason>
struct cannot_be_in_a_tuple : failed_check {
  static_assert(base::detail::is_owned_by_the_message<Type>,
                "garrick: a tuple owns all it refers to, as a message does: "
                "cannot_be_in_a_tuple<path, type, reason> names the part that is not owned");
};
template <class Tuple, bool Moves = false>
struct tuple_cannot_be_moved : failed_check {
  static_assert(Moves,
                "garrick: this tuple can be neither moved nor copied, and it must be: make a "
                "tuple of its parts, or of a std::unique_ptr to it");
};

/// Checks T. If `Travels`, a T lies in channels; otherwise it is a container that a request brings
/// and gets back.
template <class T, bool Travels>
consteval auto check_tuple() {
  if constexpr (std::is_void_v<T>) {
    return verdict<passed_check>;
  } else {
    using owned = base::detail::ownership_check<
        cannot_be_in_a_tuple, typename base::detail::search<T, base::detail::context<false>>::type,
        in_tuple>;
    if constexpr (!passes<owned>)
      return verdict<owned>;
    else if constexpr (!std::is_move_constructible_v<T>)
      return verdict<tuple_cannot_be_moved<T>>;
    else if constexpr (Travels && !moves_quietly<T>)
      return verdict<tuple_move_may_throw<T>>;
    else
      return verdict<passed_check>;
  }
}
/// The check of a type that goes from stage to stage; void stands for no tuple.
template <class T>
using tuple_check = check_of<decltype(check_tuple<T, true>())>;
/// The check of the content of a data-parallel pattern, which need not be a stage of a stream.
template <class T>
using content_check = check_of<decltype(check_tuple<T, false>())>;

template <class Tuple, bool Copies = false>
struct broadcast_copies_tuples : failed_check {
  static_assert(Copies,
                "garrick: each of several gets a copy of the tuple, and this one cannot be copied: "
                "let by(f) choose one of them");
};
template <class T>
using broadcast_check =
    std::conditional_t<base::copyable_message<T>, passed_check, broadcast_copies_tuples<T>>;

/// The check of a complete pattern before it runs. It does not come earlier, since a later `by` may
/// make a `parallel` right.
template <class P>
struct check_to_run {
  using type = passed_check;
};
template <class P>
  requires requires { typename P::garrick_check; }
struct check_to_run<P> {
  using type = typename P::garrick_check;
};
template <class P>
using run_check = typename check_to_run<P>::type;

/// The check of a pattern that is spawned.
template <class Tuple, bool Ends = false>
struct results_go_nowhere : failed_check {
  static_assert(Ends,
                "garrick: this pattern's output goes nowhere: end it with a sink, such as "
                "for_each(f), fold(init, f), to(handle) or discard<T>()");
};
template <class P>
using whole_check =
    first_failure<run_check<P>, std::conditional_t<std::is_void_v<typename P::output>, passed_check,
                                                   results_go_nowhere<typename P::output>>>;

/// The check that a user has told the type of a stage's tuples.
template <class Tuple, bool Told = false>
struct type_of_tuples_is_not_told : failed_check {
  static_assert(Told,
                "garrick: nothing tells this stage the type of its tuples: say it, as in "
                "take<int>(4), discard<int>(), batch<int>(100, 10ms), throttle<int>(5000) or "
                "zip<int>(source)");
};
template <class T>
using told_type_check =
    std::conditional_t<std::is_void_v<T>, type_of_tuples_is_not_told<T>, passed_check>;

// --- the value of a stream ---

struct in_value {
  static constexpr std::string_view name = "value";
};

template <auto Path, class Type, class Reason>
struct cannot_be_yielded : failed_check {
  static_assert(base::detail::is_owned_by_the_message<Type>,
                "garrick: a stream's value is sent to other actors, so it owns all it refers to: "
                "cannot_be_yielded<path, type, reason> names the part that is not owned");
};
template <class Value, bool Copies = false>
struct yielded_value_cannot_be_copied : failed_check {
  static_assert(
      Copies, "garrick: every joiner of a stream gets a copy of its value, which cannot be copied");
};

template <class T>
consteval auto check_value() {
  if constexpr (std::is_void_v<T>) {
    return verdict<passed_check>;
  } else {
    using owned = base::detail::ownership_check<
        cannot_be_yielded, typename base::detail::search<T, base::detail::context<false>>::type,
        in_value>;
    if constexpr (!passes<owned>)
      return verdict<owned>;
    else if constexpr (!base::copyable_message<T>)
      return verdict<yielded_value_cannot_be_copied<T>>;
    else
      return verdict<passed_check>;
  }
}
/// The check of the value of a `join` request; void: nothing.
template <class T>
using value_check = check_of<decltype(check_value<T>())>;

// --- the parts of a stage ---

struct in_stage {
  static constexpr std::string_view name = "stage";
};

template <auto Path, class Type, class Reason>
struct stage_shares_something : failed_check {
  static_assert(base::detail::is_owned_by_the_message<Type>,
                "garrick: a stage owns its parts: stage_shares_something<path, type, reason> names "
                "the part that would be shared. Give a value, or a function without captures, to "
                "which patterns::bind(f, values...) adds values; or say lent(x)");
};
template <class Part, bool Copied = false>
struct stage_cannot_be_copied : failed_check {
  static_assert(Copied,
                "garrick: each replica and each spawn gets a copy of a stage, and a part of this "
                "one cannot be copied");
};

template <bool Copies, class Arg, std::size_t... Prefix>
consteval auto check_part() {
  using owned = base::detail::ownership_check<stage_shares_something,
                                              typename base::detail::search_argument<Arg>::type,
                                              in_stage, Prefix...>;
  if constexpr (!passes<owned>)
    return verdict<owned>;
  else if constexpr ((Copies || !base::detail::is_moved_in<Arg>) &&
                     !base::copyable_message<std::decay_t<Arg>>)
    return verdict<stage_cannot_be_copied<std::decay_t<Arg>>>;
  else
    return verdict<passed_check>;
}
/// The check of a value that a stage keeps: of a function, or of a first state.
template <class T>
using part_check = check_of<decltype(check_part<true, T>()), T>;

template <bool Copies, class Numbers, class... Args>
struct arguments_checked;
template <bool Copies, std::size_t... I, class... Args>
struct arguments_checked<Copies, std::index_sequence<I...>, Args...> {
  using type = first_failure<check_of<decltype(check_part<Copies, Args, I>()), Args>...>;
};
/// The check of arguments, as forwarding references deduce their types. `Copies`: the arguments are
/// kept.
template <bool Copies, class... Args>
using arguments_check =
    typename arguments_checked<Copies, std::index_sequence_for<Args...>, Args...>::type;

template <class Class, class... Args>
struct wrong_stage_arguments : failed_check {
  static constexpr bool fits = std::is_constructible_v<Class, core::detail::kept<Args>...>;
  static_assert(fits,
                "garrick: this stage's class cannot be made of these arguments: it needs a public "
                "constructor for them. An argument not moved in is copied; lent(x) gives an X&");
};
template <class Class, class... Args>
using making_check = std::conditional_t<std::is_constructible_v<Class, core::detail::kept<Args>...>,
                                        passed_check, wrong_stage_arguments<Class, Args...>>;

}  // namespace garrick::patterns::detail
