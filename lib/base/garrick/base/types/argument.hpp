// The isolation check of the values that an actor is made of: its constructor's arguments, its
// function. The spawner passes them, and it must share no memory with the actor afterwards.
//
// The check is that of messages (sendable.hpp) with four differences. A class that cannot be looked
// into may be moved in, since its former owner gives it away; it may not be copied in. Closures
// with captures are refused by name, and so are types known to refer to others: views, iterators,
// std::reference_wrapper, std::function and the like. A pointer to a function is fine. And a
// unique_ptr with a deleter of its own is a resource: the deleter is responsible for the object.
//
// Thread safety: compile time only.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "garrick/base/types/copyable.hpp"
#include "garrick/base/types/sendable.hpp"

namespace garrick::base {

// The reasons that an error message names, beside those of sendable.hpp.

struct is_a_closure_with_captures;    ///< Pass the captured values as arguments.
struct may_refer_to_what_others_own;  ///< A view, an iterator, a std::function: pass a value.
struct is_copied_and_cannot_be_looked_into;  ///< std::move it in.

namespace detail {

/// A class that says by its members, or to the ranges library, that it refers to something else.
template <class T>
concept referring = requires { typename T::iterator_category; } || requires {
  typename T::iterator_concept;
} || std::ranges::enable_view<T> || std::ranges::enable_borrowed_range<T>;

/// Standard classes that refer to something else, or may hold a type that does.
consteval bool is_referring_class(std::string_view name) {
  return is_one_of(name,
                   "basic_string_view span mdspan reference_wrapper initializer_list weak_ptr "
                   "function move_only_function copyable_function function_ref any "
                   "_Bind _Bind_result _Bind_front unique_lock shared_lock lock_guard "
                   "scoped_lock coroutine_handle exception_ptr "
                   "__exception_ptr::exception_ptr pmr::polymorphic_allocator _Bit_reference "
                   "match_results sub_match") ||
         name.starts_with("ranges::");
}

/// Returns true if T is a lambda's type. Compilers write it as "f()::<lambda(int)>" or "(lambda at
/// file:3:5)".
template <class T>
consteval bool is_closure() {
  constexpr name_span raw = raw_type_name<T>();
  constexpr std::string_view name(raw.data, raw.size);
  if (name.starts_with("(lambda at ")) return true;
  if (!name.ends_with(">")) return false;
  std::size_t at = name.size();
  for (int open = 0;;) {  // back to the partner of the last bracket
    if (at-- == 0) return false;
    if (name[at] == '>') ++open;
    if (name[at] == '<' && --open == 0) break;
  }
  return name.substr(at).starts_with("<lambda(");
}

/// Tells if a T is a unique_ptr with a deleter of the user's.
template <class T>
struct resource {
  static constexpr bool is = false;
};
template <template <class...> class C, class T, class Deleter>
struct resource<C<T, Deleter>> {
  static constexpr bool is = standard_name<C<T, Deleter>>() == "unique_ptr" &&
                             standard_name<Deleter>() != "default_delete";
  using deleter = Deleter;
};

/// The kind of an argument's class that has the kind `Kind` in a message. A class that cannot be
/// looked into may be moved, but not copied.
template <bool Moved, class Kind>
struct kind_of_argument {
  using type = Kind;
};
template <class Reason>
  requires(std::is_same_v<Reason, has_private_or_captured_state> ||
           std::is_same_v<Reason, is_a_union> || std::is_same_v<Reason, has_a_base_class> ||
           std::is_same_v<Reason, has_a_bit_field> ||
           std::is_same_v<Reason, has_an_anonymous_union> ||
           std::is_same_v<Reason, has_over_100_fields_or_a_long_c_array>)
struct kind_of_argument<true, refused<Reason>> {
  using type = owns_itself;
};
template <>
struct kind_of_argument<false, refused<has_private_or_captured_state>> {
  using type = refused<is_copied_and_cannot_be_looked_into>;
};

template <bool Moved, class T>
consteval auto classify_argument_class() {
  if constexpr (!complete<T>)
    return typename kind_of_argument<Moved, refused<has_private_or_captured_state>>::type{};
  else if constexpr (i_promise_this_owns_everything<T> || marked_sendable<T>)
    return owns_itself{};
  else if constexpr (resource<T>::is)
    return made_of<typename resource<T>::deleter>{};
  else if constexpr (is_referring_class(standard_name<T>()) || referring<T>)
    return refused<may_refer_to_what_others_own>{};
  else if constexpr (!std::is_empty_v<T> && is_closure<T>())
    return refused<is_a_closure_with_captures>{};
  else
    return typename kind_of_argument<Moved, decltype(classify<T>())>::type{};
}

/// Returns the parts of an argument's type T (without const), or the reason why it is refused.
template <bool Moved, class T>
consteval auto classify_argument() {
  if constexpr (std::is_null_pointer_v<T> ||
                (std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>) ||
                std::is_member_function_pointer_v<T>)
    return owns_itself{};
  else if constexpr (std::is_class_v<T> || std::is_union_v<T>)
    return classify_argument_class<Moved, T>();
  else
    return classify<T>();
}

/// Like `context`, inside an argument that is moved or copied. The content of a shared block is
/// searched as in a message.
template <bool Moved, class... Open>
struct argument_context {};

template <class T, bool Moved, class... Open>
struct search<T, argument_context<Moved, Open...>>
    : search_kind<T, decltype(classify_argument<Moved, T>()), argument_context<Moved, Open...>> {};
template <class T, bool Moved, class... Open>
struct search<const T, argument_context<Moved, Open...>>
    : search<T, argument_context<Moved, Open...>> {};
template <class T, bool Moved, class... Open>
  requires(std::is_same_v<T, Open> || ...)
struct search<T, argument_context<Moved, Open...>> {
  using type = nothing_found;
};

template <class T, class... Parts, bool Moved, class... Open>
struct search_kind<T, made_of<Parts...>, argument_context<Moved, Open...>> {
  using inner = std::conditional_t<std::is_aggregate_v<T>, argument_context<Moved, T, Open...>,
                                   argument_context<Moved, Open...>>;
  using type = typename search_parts<inner, 0, Parts...>::type;
};
template <class T, class... Parts, bool Moved, class... Open>
struct search_kind<T, points_to<Parts...>, argument_context<Moved, Open...>>
    : search_kind<T, made_of<Parts...>, argument_context<Moved, Open...>> {};
template <class T, class... Parts, bool Moved, class... Open>
struct search_kind<T, shares<Parts...>, argument_context<Moved, Open...>> {
  using type = typename search_parts<context<true>, 0, Parts...>::type;
};

/// True if the argument is moved. `Argument` is the type that a forwarding reference deduces: T& is
/// copied, T is moved.
template <class Argument>
inline constexpr bool is_moved_in =
    !std::is_lvalue_reference_v<Argument> && !std::is_const_v<std::remove_reference_t<Argument>>;

/// A string literal, or at least a constant array of characters.
template <class Argument>
inline constexpr bool is_literal = [] {
  using array = std::remove_reference_t<Argument>;
  if constexpr (std::is_array_v<array>) {
    using element = std::remove_extent_t<array>;
    return std::is_const_v<element> && std::is_integral_v<element> &&
           is_one_of(type_name<std::remove_const_t<element>>,
                     "char wchar_t char8_t char16_t char32_t");
  } else {
    return false;
  }
}();

/// The part of an argument that is not the actor's own. `Argument` is the type that a forwarding
/// reference deduces.
template <class Argument>
struct search_argument : search<std::decay_t<Argument>, argument_context<is_moved_in<Argument>>> {};
template <class Argument>
  requires(is_literal<Argument> || std::is_arithmetic_v<std::remove_cvref_t<Argument>>)
struct search_argument<Argument> {
  using type = nothing_found;
};

}  // namespace detail

/// True if a T may be given to an actor at its spawn: no other thread can reach the actor's value.
/// `T` is moved in, `const T&` is copied. See the top of this file.
///
///     static_assert(spawn_argument<std::string> && spawn_argument<const std::string&>);
///     static_assert(!spawn_argument<std::span<int>> && !spawn_argument<int*>);
template <class T>
concept spawn_argument =
    std::is_same_v<typename detail::search_argument<T>::type, detail::nothing_found>;

}  // namespace garrick::base
