// Looks into aggregates: how many fields, of which types, and a reference to each.
//
//   struct order { int id; std::string item; };
//   static_assert(field_count<order> == 2);
//   for_each_field(my_order, [](const auto& field) { … });
//
// An array (`char key[16]`) is one field. Boost.PFR would count sixteen, and it crashes GCC 12 on
// arrays of strings.
//
// `inspectable<T>` is false for aggregates with base classes, bit-fields or anonymous unions,
// because C++20 cannot see into them. It is also false where C arrays have more than 1024 elements
// in all: each element is an initialiser that the compiler tries. A std::array counts as one.
//
// Thread safety: compile time only.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "garrick/base/types/bound_fields.hpp"
#include "garrick/base/types/type_name.hpp"

namespace garrick::base {

/// True for types that are opaque on purpose: neither the isolation check nor printing looks
/// inside.
///
/// Specialise it for a class with private state that owns all it refers to:
///
///     template <>
///     inline constexpr bool garrick::base::i_promise_this_owns_everything<my::matrix> = true;
template <class T>
inline constexpr bool i_promise_this_owns_everything = false;

namespace detail {

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored \
    "-Wundefined-internal"  // these conversions are asked about, never called
#endif

/// Converts to any field type, but not to the aggregate itself.
template <class Aggregate>
struct any_field {
  template <class Field>
    requires(!std::is_same_v<std::remove_cvref_t<Field>, Aggregate>)
  operator Field() const {
    __builtin_unreachable();
  }  // asked about, never called
};

/// Like `any_field`, for aggregates with reference fields.
template <class Aggregate>
struct any_place {
  template <class Field>
    requires(!std::is_same_v<std::remove_cvref_t<Field>, Aggregate>)
  operator Field&() const {
    __builtin_unreachable();
  }  // asked about, never called
};

/// Returns true for a union without a name, which compilers write as "un::<unnamed union>" or
/// "un::(anonymous union at file:3:5)".
template <class T>
consteval bool is_unnamed_union() {
  if constexpr (std::is_union_v<T> && !i_promise_this_owns_everything<T>) {
    constexpr name_span raw = raw_type_name<T>();
    constexpr std::string_view name(raw.data, raw.size);
    return name.ends_with("<unnamed union>") ||
           (name.ends_with(')') && (name.rfind("(anonymous union at ") != std::string_view::npos ||
                                    name.rfind("(unnamed union at ") != std::string_view::npos));
  } else {
    return false;
  }
}

/// Like `any_field`, but a conversion to an unnamed union is an error, rather than missing: the
/// compiler would otherwise try the union's first member.
template <class Aggregate>
class any_named_field {
  template <class Field>
    requires(is_unnamed_union<Field>())
  operator Field() const {
    __builtin_unreachable();
  }

 public:
  template <class Field>
    requires(!std::is_same_v<std::remove_cvref_t<Field>, Aggregate> && !is_unnamed_union<Field>())
  operator Field() const {
    __builtin_unreachable();
  }
};
/// Like `any_named_field`, for aggregates with reference fields.
template <class Aggregate>
class any_named_place {
  template <class Field>
    requires(is_unnamed_union<Field>())
  operator Field&() const {
    __builtin_unreachable();
  }

 public:
  template <class Field>
    requires(!std::is_same_v<std::remove_cvref_t<Field>, Aggregate> && !is_unnamed_union<Field>())
  operator Field&() const {
    __builtin_unreachable();
  }
};

/// Converts to the bases of the aggregate only.
template <class Aggregate>
struct any_base {
  template <class Base>
    requires(std::is_base_of_v<Base, Aggregate> && !std::is_same_v<Base, Aggregate>)
  operator Base() const;
};

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

template <class T>
concept has_base = requires { T{any_base<T>{}}; };

template <class Any, std::size_t>
using repeat = Any;

template <class T, class Any, std::size_t... Before, std::size_t... Inside, std::size_t... After>
consteval bool initialises(std::index_sequence<Before...>, std::index_sequence<Inside...>,
                           std::index_sequence<After...>) {
  return requires {
    T{repeat<Any, Before>{}..., {repeat<Any, Inside>{}...}, repeat<Any, After>{}...};
  };
}

template <class T, class Any, std::size_t... I>
consteval bool initialises(std::index_sequence<I...>) {
  return requires { T{repeat<Any, I>{}...}; };
}

/// A predicate: T takes N initialisers. It holds for each N up to some limit.
template <class T, class Any>
struct takes {
  template <std::size_t N>
  static constexpr bool yes = initialises<T, Any>(std::make_index_sequence<N>());
};

/// A predicate: the field that begins at initialiser `At` takes N of them in braces, if `After`
/// more follow.
template <class T, class Any, std::size_t At, std::size_t After>
struct takes_braced {
  template <std::size_t N>
  static constexpr bool yes =
      initialises<T, Any>(std::make_index_sequence<At>(), std::make_index_sequence<N>(),
                          std::make_index_sequence<After>());
};

/// Returns the largest N for which `Question` holds. Requires that it holds for `Low` and not for
/// `High`.
template <class Question, std::size_t Low, std::size_t High>
consteval std::size_t largest_between() {
  constexpr std::size_t middle = Low + (High - Low) / 2;
  if constexpr (middle == Low)
    return Low;
  else if constexpr (Question::template yes<middle>)
    return largest_between<Question, middle, High>();
  else
    return largest_between<Question, Low, middle>();
}

inline constexpr std::size_t most_initialisers = 1024;

template <class Question, std::size_t Low, std::size_t Step = 1>
consteval std::size_t largest_from() {
  if constexpr (Low + Step > most_initialisers)
    return Question::template yes<most_initialisers + 1>
               ? most_initialisers + 1
               : largest_between<Question, Low, most_initialisers + 1>();
  else if constexpr (Question::template yes<Low + Step>)
    return largest_from<Question, Low + Step, Step * 2>();
  else
    return largest_between<Question, Low, Low + Step>();
}

/// Returns the largest N for which `Question` holds. Tries one number after the other up to the
/// first for which it holds, because fields without a default value need an initialiser.
template <class Question, std::size_t Limit, std::size_t Low = 0>
consteval std::size_t largest() {
  if constexpr (Question::template yes<Low>)
    return largest_from<Question, Low>();
  else if constexpr (Low < Limit)
    return largest<Question, Limit, Low + 1>();
  else
    return 0;
}

/// Returns the number of initialisers that the field at initialiser `At` of `Total` takes without
/// braces: 1, or an array's size.
template <class T, class Any, std::size_t Total, std::size_t At>
consteval std::size_t field_width() {
  if constexpr (takes_braced<T, Any, At, Total - At - 1>::template yes<0>) {
    return 1;  // {} takes the place of one initialiser, so this is no array
  } else {
    // A class, too, may be made from several braced values. But it uses up only one initialiser, so
    // the rest still fits.
    constexpr std::size_t size = largest<takes_braced<T, Any, At, 0>, 64>();
    if constexpr (size < 2 || At + size > Total)
      return 1;
    else
      return takes_braced<T, Any, At, Total - At - size + 1>::template yes<size> ? 1 : size;
  }
}

template <class T, class Any, std::size_t Total, std::size_t At = 0>
consteval std::size_t joined_count() {
  if constexpr (At >= Total) {
    return 0;
  } else {
    constexpr std::size_t width = field_width<T, Any, Total, At>();
    return 1 + joined_count<T, Any, Total, At + width>();
  }
}

/// An aggregate with fields that can be counted, if they are not too many.
template <class T>
concept countable = std::is_aggregate_v<T> && std::is_class_v<T> &&
                    !i_promise_this_owns_everything<T> && !has_base<T>;

inline constexpr std::size_t too_many_fields = ~std::size_t{0};

template <class T, class Any>
consteval std::size_t count_fields() {
  constexpr std::size_t initialisers = largest<takes<T, Any>, 100>();
  if constexpr (initialisers > most_initialisers)
    return too_many_fields;
  else if constexpr (initialisers < 2)
    return initialisers;
  else
    return joined_count<T, Any, initialisers>();
}

/// Returns true if the first fields are references, or can be copied from a reference, and the next
/// field must be made from a value. `I` numbers the first fields.
template <class T, std::size_t... I>
consteval bool one_more_value(std::index_sequence<I...>) {
  return requires { T{repeat<any_place<T>, I>{}..., any_field<T>{}}; };
}

template <class T>
inline constexpr std::size_t place_count = largest<takes<T, any_place<T>>, 100>();

template <class T>
consteval std::size_t count_fields() {
  if constexpr (std::is_empty_v<T>) {
    return 0;
  } else {
    constexpr std::size_t count = count_fields<T, any_field<T>>();
    if constexpr (count != 0)
      return count;
    else if constexpr (one_more_value<T>(std::make_index_sequence<place_count<T>>()))
      return 0;
    else
      return count_fields<T, any_place<T>>();
  }
}

/// Returns true if T has an anonymous union, which a structured binding cannot name. Requires that
/// T is countable. A T with too many fields is not checked.
template <class T>
consteval bool has_anonymous_union() {
  if constexpr (std::is_empty_v<T>) {
    return false;
  } else if constexpr (constexpr std::size_t values = largest<takes<T, any_field<T>>, 100>();
                       values != 0) {
    return values <= most_initialisers && !takes<T, any_named_field<T>>::template yes<values>;
  } else {
    return place_count<T> != 0 && place_count<T> <= most_initialisers &&
           !takes<T, any_named_place<T>>::template yes<place_count<T>>;
  }
}

template <class... Fields>
consteval bool some_reference(bound_fields<Fields...>) {
  return (std::is_reference_v<Fields> || ...);
}

/// Returns true if T has fields that are references.
template <class T>
consteval bool some_reference() {
  constexpr std::size_t count = count_fields<T>();
  if constexpr (std::is_empty_v<T>)
    return false;
  else if constexpr (count == 0)
    return true;  // nothing but a reference stops the count
  else
    return some_reference(bound<T, count>{});
}

template <std::size_t I, class Field>
struct numbered_field {
  using type = Field;
};
template <class Sequence, class... Fields>
struct numbered_fields;
template <std::size_t... I, class... Fields>
struct numbered_fields<std::index_sequence<I...>, Fields...> : numbered_field<I, Fields>... {};
template <std::size_t I, class Field>
numbered_field<I, Field> pick_field(const numbered_field<I, Field>*);
template <std::size_t I, class... Fields>
auto field_of(bound_fields<Fields...>) -> decltype(pick_field<I>(
    static_cast<numbered_fields<std::index_sequence_for<Fields...>, Fields...>*>(nullptr)));

/// The declared type of field I of T.
template <class T, std::size_t I>
using declared_type = typename decltype(field_of<I>(bound<T, count_fields<T>()>{}))::type;

template <class T, std::size_t I>
consteval bool nth_is_reference() {
  if constexpr (I < count_fields<T>())
    return std::is_reference_v<declared_type<T, I>>;
  else
    return false;
}

template <template <class...> class List, class... Fields>
List<Fields...> as_list(bound_fields<Fields...>);

/// `List` of the declared types of T's fields.
template <template <class...> class List, class T>
using declared_types = decltype(as_list<List>(bound<T, count_fields<T>()>{}));

}  // namespace detail

/// An aggregate with fields that can be looked at: no base classes, no bit-fields, no anonymous
/// unions, at most 100 fields.
template <class T>
concept inspectable =
    detail::countable<T> && detail::count_fields<T>() <= 100 && !detail::has_anonymous_union<T>() &&
    !detail::has_bit_field<T, detail::count_fields<T>()>();

/// The number of fields of T. Zero for empty aggregates, and for aggregates with fields that cannot
/// be counted (a reference beside a field that cannot be copied).
template <inspectable T>
inline constexpr std::size_t field_count = detail::count_fields<T>();

/// True if T has a field that is a reference: `T&`, `const T&` or `T&&`.
template <inspectable T>
inline constexpr bool has_reference_field = detail::some_reference<T>();

/// True if field I of T is a reference. False if the fields cannot be counted.
template <inspectable T, std::size_t I>
inline constexpr bool is_reference_field = detail::nth_is_reference<T, I>();

/// Calls `f(field)` with a reference to each field of `x`, in order of declaration.
template <class T, class F>
  requires inspectable<std::remove_const_t<T>>
constexpr void for_each_field([[maybe_unused]] T& x, [[maybe_unused]] F&& f) {
  constexpr std::size_t count = field_count<std::remove_const_t<T>>;
  if constexpr (count != 0) detail::visit_fields(x, f, detail::field_number<count>{});
}

/// The type of field I of T, as declared but without a reference.
template <inspectable T, std::size_t I>
using field_type = std::remove_reference_t<detail::declared_type<T, I>>;

}  // namespace garrick::base
