// The isolation check: a message must own everything it refers to, or two actors would share
// memory. The compiler decides.
//
// Refused are pointers, references, unions, a `std::shared_ptr` to something that can be changed,
// and every class that cannot be looked into (private state, capturing lambdas, views, iterators,
// std::function) unless it is a standard type known to own its content. Aggregates are checked
// field by field, containers and other wrappers by the types that they wrap. The content of a
// shared block must not lead to something that can be changed, either: `shared_ptr<const T>` is
// refused if T holds a `unique_ptr<U>`, and fine if it holds a `unique_ptr<const U>`.
//
// A class with private state that does own everything says so once, loudly:
//
//     template <>
//     inline constexpr bool garrick::base::i_promise_this_owns_everything<my::matrix> = true;
//
// Types of the framework (handles, errors) have the member `using garrick_sendable = void;`, or
// list the types that they wrap in `using garrick_parts = type_list<...>;`.
//
// These rules are for messages and answers; argument.hpp has the rules for the arguments of an
// actor.
//
// No standard container header is included: the standard types are recognised by their names.
//
// Thread safety: compile time only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "garrick/base/types/fields.hpp"
#include "garrick/base/types/first_failure.hpp"
#include "garrick/base/types/type_name.hpp"

namespace garrick::base {

template <class... Ts>
struct type_list;

// The reasons that an error message names.

struct is_a_pointer;           ///< Its holder shares the object that it points to.
struct is_a_reference;         ///< Its holder shares the object, as with a pointer.
struct has_a_reference_field;  ///< The compiler cannot tell which field it is.
struct is_only_declared_here;  ///< Include its definition: only that tells its parts.
struct is_a_union;             ///< The live member is unknown.
struct has_a_base_class;       ///< The compiler cannot look into it: make it a field.
/// The compiler cannot look at it: promise that the type owns everything.
struct has_a_bit_field;
/// The compiler cannot look at it, and the live member is unknown: use std::variant.
struct has_an_anonymous_union;
/// The compiler would take minutes: use std::array for arrays.
struct has_over_100_fields_or_a_long_c_array;
struct is_shared_and_can_be_changed;   ///< Share something const instead.
struct has_private_or_captured_state;  ///< Or it is a view, an iterator, a std::function.

namespace detail {

// --- the parts of a type ---

struct owns_itself {};
template <class Reason>
struct refused {};
template <class... Parts>
struct made_of {};
template <class... Parts>
struct shares {};  ///< made of parts that cannot be changed

/// A unique_ptr: made of parts. Even a const unique_ptr lets its user change the first part.
template <class... Parts>
struct points_to {};

/// Returns the name of a class or class template of namespace std, without "std::", inline
/// namespaces and arguments; empty for all other types.
template <class T>
consteval std::string_view standard_name() {
  constexpr name_span raw = raw_type_name<T>();
  std::string_view name(raw.data, raw.size);
  if (!name.starts_with("std::")) return {};
  name.remove_prefix(5);
  for (const std::string_view hidden : {"__cxx11::", "__1::", "__debug::"})
    if (name.starts_with(hidden)) name.remove_prefix(hidden.size());
  return name.substr(0, name.find('<'));
}

consteval bool is_one_of(std::string_view name, std::string_view list) {
  // Each call of a function is work for the compiler, so this one calls none in its loops.
  const char* at = list.data();
  const char* const end = at + list.size();
  const char* const whole = name.data();
  const std::size_t size = name.size();
  if (size == 0) return false;
  while (at < end) {
    std::size_t same = 0;
    while (same != size && at != end && *at == whole[same]) ++at, ++same;
    if (same == size && (at == end || *at == ' ')) return true;
    while (at != end && *at != ' ') ++at;
    if (at != end) ++at;
  }
  return false;
}

/// Class templates that own values of their arguments' types and nothing else. Comparators, hashes
/// and allocators are arguments, too, and are checked like the rest.
consteval bool is_owning_template(std::string_view name) {
  return is_one_of(name,
                   "basic_string vector deque list forward_list set multiset map multimap "
                   "unordered_set unordered_multiset unordered_map "
                   "unordered_multimap queue stack priority_queue pair tuple optional variant "
                   "complex expected chrono::duration "
                   "chrono::time_point array bitset");
}

consteval bool is_owning_class(std::string_view name) {
  return is_one_of(name, "filesystem::path filesystem::__cxx11::path error_code error_condition") ||
         name.starts_with("chrono::");
}

template <class T>
struct wrapped {
  using type = std::conditional_t<is_owning_class(standard_name<T>()), owns_itself,
                                  refused<has_private_or_captured_state>>;
};

template <template <class...> class C, class... Args>
consteval auto parts_of_template() {
  constexpr std::string_view name = standard_name<C<Args...>>();
  if constexpr (is_owning_template(name))
    return made_of<Args...>{};
  else if constexpr (name == "unique_ptr")
    return points_to<Args...>{};
  else if constexpr (name == "shared_ptr" && (std::is_const_v<std::remove_extent_t<Args>> && ...))
    return shares<Args...>{};
  else if constexpr (name == "shared_ptr")
    return refused<is_shared_and_can_be_changed>{};
  else
    return refused<has_private_or_captured_state>{};
}

template <template <class...> class C, class... Args>
struct wrapped<C<Args...>> {
  using type = decltype(parts_of_template<C, Args...>());
};
template <template <class, std::size_t> class C, class T, std::size_t N>
struct wrapped<C<T, N>> {
  using type = std::conditional_t<is_owning_template(standard_name<C<T, N>>()), made_of<T>,
                                  refused<has_private_or_captured_state>>;
};
template <template <std::size_t> class C, std::size_t N>
struct wrapped<C<N>> {
  using type = std::conditional_t<is_owning_template(standard_name<C<N>>()), owns_itself,
                                  refused<has_private_or_captured_state>>;
};

template <class... Ts>
made_of<Ts...> as_parts(type_list<Ts...>*);

template <class T>
concept complete = requires { sizeof(T); };
template <class T>
concept marked_sendable = requires { typename T::garrick_sendable; };
template <class T>
concept marked_parts = requires { typename T::garrick_parts; };

/// Returns the parts of T (without const), or the reason why it is refused. Standard templates are
/// recognised before aggregates, because std::array is both.
template <class T>
consteval auto classify_class() {
  if constexpr (i_promise_this_owns_everything<T> || marked_sendable<T>)
    return owns_itself{};
  else if constexpr (marked_parts<T>)
    return decltype(as_parts(static_cast<typename T::garrick_parts*>(nullptr))){};
  else if constexpr (!complete<T>)
    return refused<is_only_declared_here>{};
  else if constexpr (std::is_union_v<T>)
    return refused<is_a_union>{};
  else if constexpr (std::is_empty_v<T>)
    return owns_itself{};
  else if constexpr (!std::is_aggregate_v<T> || !standard_name<T>().empty())
    return typename wrapped<T>::type{};
  else if constexpr (has_base<T>)
    return refused<has_a_base_class>{};
  else if constexpr (count_fields<T>() > 100)
    return refused<has_over_100_fields_or_a_long_c_array>{};
  else if constexpr (has_anonymous_union<T>())
    return refused<has_an_anonymous_union>{};
  else if constexpr (!inspectable<T>)
    return refused<has_a_bit_field>{};
  else if constexpr (field_count<T> == 0)
    return refused<has_a_reference_field>{};  // nothing else stops the count
  else
    return declared_types<made_of, T>{};
}

template <class T>
consteval auto classify() {
  if constexpr (std::is_reference_v<T>)
    return refused<is_a_reference>{};
  else if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T> ||
                     std::is_null_pointer_v<T>)
    return refused<is_a_pointer>{};
  else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
    return owns_itself{};
  else if constexpr (std::is_array_v<T>)
    return made_of<std::remove_extent_t<T>>{};
  else if constexpr (std::is_class_v<T> || std::is_union_v<T>)
    return classify_class<T>();
  else
    return refused<has_private_or_captured_state>{};
}

// --- the search for something that is not owned ---

struct nothing_found {};

/// T, at this path inside the searched type, may not be sent.
template <class T, class Reason, std::size_t... Path>
struct found {};

/// The context of the search: whether it is inside a shared block, and inside which aggregates. An
/// aggregate may contain itself through a container.
template <bool Shared, class... Open>
struct context {};

template <class Found, std::size_t I>
struct one_level_up {
  using type = nothing_found;
};
template <class T, class Reason, std::size_t... Path, std::size_t I>
struct one_level_up<found<T, Reason, Path...>, I> {
  using type = found<T, Reason, I, Path...>;
};

template <class T, class Context>
struct search;

/// True if a T is owned in every context. Such a type needs no search for each context.
template <class T>
inline constexpr bool plainly_owned = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T>
inline constexpr bool plainly_owned<const T> = plainly_owned<T>;
template <>
inline constexpr bool plainly_owned<std::string> = true;
template <class T>
inline constexpr bool plainly_owned<std::allocator<T>> = std::is_empty_v<std::allocator<T>>;

template <class Part, class Context>
concept owned_part =
    plainly_owned<Part> || std::is_same_v<typename search<Part, Context>::type, nothing_found>;

/// Looks through parts from index I on for the first find.
template <class Context, std::size_t I, class... Parts>
struct search_parts {
  using type = nothing_found;
};
template <class Context, std::size_t I, class Part, class... Rest>
  requires(!(owned_part<Part, Context> && ... && owned_part<Rest, Context>))
struct search_parts<Context, I, Part, Rest...> {
  using here = typename search<Part, Context>::type;
  using type = typename std::conditional_t<std::is_same_v<here, nothing_found>,
                                           search_parts<Context, I + 1, Rest...>,
                                           one_level_up<here, I>>::type;
};

template <class T, class Kind, class Context>
struct search_kind {
  using type = nothing_found;  // owns_itself
};
template <class T, class Reason, class Context>
struct search_kind<T, refused<Reason>, Context> {
  using type = found<T, Reason>;
};
template <class T, class... Parts, bool Shared, class... Open>
struct search_kind<T, made_of<Parts...>, context<Shared, Open...>> {
  using inner = std::conditional_t<std::is_aggregate_v<T>, context<Shared, T, Open...>,
                                   context<Shared, Open...>>;
  using type = typename search_parts<inner, 0, Parts...>::type;
};
template <class T, class... Parts, bool Shared, class... Open>
struct search_kind<T, shares<Parts...>, context<Shared, Open...>> {
  using type = typename search_parts<context<true, Open...>, 0, Parts...>::type;
};
template <class T, class Part, class... More, class... Open>
struct search_kind<T, points_to<Part, More...>, context<true, Open...>> {
  using type =
      typename std::conditional_t<std::is_const_v<std::remove_extent_t<Part>>,
                                  search_parts<context<true, Open...>, 0, Part, More...>,
                                  std::type_identity<found<T, is_shared_and_can_be_changed>>>::type;
};
template <class T, class... Parts, class... Open>
struct search_kind<T, points_to<Parts...>, context<false, Open...>> {
  using type = typename search_parts<context<false, Open...>, 0, Parts...>::type;
};

template <class T, bool Shared, class... Open>
struct search<T, context<Shared, Open...>>
    : search_kind<T, decltype(classify<T>()), context<Shared, Open...>> {};
template <class T, bool Shared, class... Open>
struct search<const T, context<Shared, Open...>> : search<T, context<Shared, Open...>> {};
template <class T, bool Shared, class... Open>
  requires(std::is_same_v<T, Open> || ...)
struct search<T, context<Shared, Open...>> {
  using type = nothing_found;
};

// --- the error message ---

/// A path such as "message.2.0" as a template argument, so that compilers print it.
template <std::size_t Size>
struct path_text {
  char text[Size]{};
};
/// The beginning of a path. It is a type, because clang prints a path that is a template argument
/// of other classes, too, as a list of numbers.
struct in_message {
  static constexpr std::string_view name = "message";
};

template <class Root, std::size_t... I>
consteval auto path_of() {
  constexpr std::size_t size = Root::name.size() + 1 +
                               (std::size_t{0} + ... +
                                (I < 10    ? 2
                                 : I < 100 ? 3
                                           : 4));
  path_text<size> out;  // exactly as long as needed: then compilers print it as text
  std::size_t at = 0;
  for (const char c : Root::name) out.text[at++] = c;
  [[maybe_unused]] const auto append = [&](std::size_t number) {
    out.text[at++] = '.';
    if (number >= 100) out.text[at++] = static_cast<char>('0' + number / 100 % 10);
    if (number >= 10) out.text[at++] = static_cast<char>('0' + number / 10 % 10);
    out.text[at++] = static_cast<char>('0' + number % 10);
  };
  (append(I), ...);
  out.text[at] = 0;  // without this assignment clang prints numbers
  return out;
}

template <class T>
inline constexpr bool is_owned_by_the_message = false;

/// Instantiated only to fail: the compiler prints the path, the type and the reason, and the
/// signature if it is known.
template <auto Path, class Type, class Reason, class... Signature>
struct cannot_be_sent : failed_check {
  static_assert(
      is_owned_by_the_message<Type>,
      "a message or answer must own all it refers to: cannot_be_sent<path, type, reason> names "
      "the part that is not owned. A type that owns all, but cannot be looked into, may say so: "
      "i_promise_this_owns_everything (sendable.hpp)");
};

template <class Root, std::size_t... Prefix>
std::type_identity<passed_check> report_of(nothing_found);
template <class Root, std::size_t... Prefix, class T, class Reason, std::size_t... Path>
std::type_identity<cannot_be_sent<path_of<Root, Prefix..., Path...>(), T, Reason>> report_of(
    found<T, Reason, Path...>);

/// `report<Found, Root, Prefix...>::reported` is an error unless nothing was found. An alias, so
/// that the compiler's backtrace is a step shorter.
template <class Found, class Root = in_message, std::size_t... Prefix>
using report = typename decltype(report_of<Root, Prefix...>(Found{}))::type;

/// The check of a search's result, for callers with an error text of their own:
/// `Failure<path, type, reason>`, or passed_check if nothing was found.
template <template <auto, class, class> class Failure, class Found, class Root,
          std::size_t... Prefix>
struct ownership {
  using check = passed_check;
};
template <template <auto, class, class> class Failure, class T, class Reason, std::size_t... Path,
          class Root, std::size_t... Prefix>
struct ownership<Failure, found<T, Reason, Path...>, Root, Prefix...> {
  using check = Failure<path_of<Root, Prefix..., Path...>(), T, Reason>;
};
template <template <auto, class, class> class Failure, class Found, class Root,
          std::size_t... Prefix>
using ownership_check = typename ownership<Failure, Found, Root, Prefix...>::check;

/// Searches the arguments of one message for a part that is not owned. If there are several
/// arguments, the place of the argument is the first step of the path.
template <class... Args>
struct search_arguments : search_parts<context<false>, 0, Args...> {};
template <class Arg>
struct search_arguments<Arg> : search<Arg, context<false>> {};

}  // namespace detail

/// True if a value of T may be sent to another actor: it owns everything it refers to.
///
///     static_assert(is_sendable<std::vector<std::string>>);
///     static_assert(!is_sendable<const char*>);
template <class T>
inline constexpr bool is_sendable =
    std::is_same_v<typename detail::search<T, detail::context<false>>::type, detail::nothing_found>;

/// A type with values that may be sent to another actor.
template <class T>
concept sendable = is_sendable<T>;

/// Does not compile unless T is sendable.
///
/// The error names the path from the message to the part that is not owned, its type and the
/// reason: `cannot_be_sent<"message.2.0", const char*, is_a_pointer>`. `Prefix` is T's own place in
/// the message, if it is one of several arguments.
template <class T, std::size_t... Prefix>
constexpr void check_sendable() noexcept {
  static_assert(detail::report<typename detail::search<T, detail::context<false>>::type,
                               detail::in_message, Prefix...>::reported);
}

}  // namespace garrick::base
