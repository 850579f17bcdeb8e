// The types that the codec can encode, their shapes, and the reasons why it refuses others.
//
// A type is examined in the way of the isolation check (base/types/sendable.hpp): standard
// templates are known by their names, aggregates are looked into, and any other class needs a
// `codec<T>`. A refusal names the place in the message, the type and the reason.
//
// Thread safety: compile time only.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/types/fields.hpp"
#include "garrick/base/types/first_failure.hpp"
#include "garrick/base/types/sendable.hpp"
#include "garrick/base/types/type_name.hpp"
#include "garrick/base/types/wire_name.hpp"
#include "garrick/net/wire/byte_reader.hpp"
#include "garrick/net/wire/byte_writer.hpp"

namespace garrick::net {

/// The encoding of a class that cannot be looked into. Specialise it beside the class:
///
///     template <>
///     struct garrick::net::codec<my::matrix> {
///       static void encode(byte_writer& out, const my::matrix& m);
///       static void decode(byte_reader& in, my::matrix& m);   // m is as default-made
///       using parts = base::type_list<float>;  // optional: further types for a schema
///     };
///
/// `encode` writes at least one byte, or fails with a reason (`byte_writer::fail`). `decode` reads
/// exactly the bytes of `encode`, which may be forged: it asks `allow` before it allocates, and
/// fails (`byte_reader::fail`) on bytes without sense. A codec must be visible wherever its type is
/// encoded or decoded.
template <class T>
struct codec;

/// A type with a `codec` of its own.
template <class T>
concept has_codec = requires(byte_writer& out, byte_reader& in, const T& from, T& to) {
  codec<T>::encode(out, from);
  codec<T>::decode(in, to);
};

/// True for types with values that mean nothing to another process. Specialise it for your own
/// types; a class of a part that does not include this header has the member `using
/// garrick_only_here = void;` instead.
template <class T>
inline constexpr bool is_only_meaningful_here = requires { typename T::garrick_only_here; };
template <>
inline constexpr bool is_only_meaningful_here<base::instant> = true;
template <>
inline constexpr bool is_only_meaningful_here<base::timer_id> = true;

// Reasons for error messages.

struct means_nothing_elsewhere;  ///< An instant of this machine's clock, a handle of its system.
struct needs_a_codec;            ///< The type cannot be looked into: specialise `codec` for it.
struct has_a_width_that_varies;  ///< long double, wchar_t: use a number of known width.
/// `enum x {…}`: compilers choose its width. Write `enum x : int` or `enum class`.
struct is_an_enum_without_a_width;
struct cannot_be_made_by_default;    ///< A decoder begins with a default-made value.
struct is_const;                     ///< A decoder cannot assign to it.
struct has_elements_without_a_byte;  ///< A count of them could not be checked against the bytes.

namespace detail {

/// The form of a type's values on the wire.
enum class wire_shape : std::uint8_t {
  none,
  opaque,
  boolean,
  fixed,    ///< a number as wide as in memory
  varying,  ///< an integer of eight bytes: `long` and `size_t` are among them
  enumeration,
  array,  ///< of the language, or std::array
  sequence,
  set,
  map,
  product,  ///< pair, tuple
  optional,
  pointer,
  variant,
  duration,  ///< of std::chrono
  aggregate,
};

template <class T>
consteval wire_shape standard_shape() {
  using enum wire_shape;
  constexpr std::string_view name = base::detail::standard_name<T>();
  if (name == "array") return array;
  if (base::detail::is_one_of(name, "basic_string vector deque list")) return sequence;
  if (base::detail::is_one_of(name, "set multiset unordered_set")) return set;
  if (base::detail::is_one_of(name, "map multimap unordered_map")) return map;
  if (name == "pair" || name == "tuple") return product;
  if (name == "optional") return optional;
  if (name == "variant") return variant;
  if (name == "monostate") return aggregate;
  if (name == "chrono::duration") return duration;
  return none;
}

template <class T>
inline constexpr bool is_owning_pointer = false;
template <class T>
  requires(!std::is_array_v<T>)
inline constexpr bool is_owning_pointer<std::unique_ptr<T>> = true;
template <class T>
  requires(!std::is_array_v<T>)
inline constexpr bool is_owning_pointer<std::shared_ptr<const T>> = true;

template <class T>
consteval wire_shape class_shape() {
  if constexpr (is_only_meaningful_here<T>)
    return wire_shape::none;
  else if constexpr (is_owning_pointer<T>)
    return wire_shape::pointer;
  else if constexpr (!base::detail::standard_name<T>().empty())
    return standard_shape<T>();
  else if constexpr (base::inspectable<T>)
    return base::has_reference_field<T> ? wire_shape::none : wire_shape::aggregate;
  else
    return wire_shape::none;
}

/// Of all enumerations, only `enum x {…}`, without a width, cannot be made from a number in braces.
template <class T>
concept enum_with_width = std::is_enum_v<T> && requires { T{std::underlying_type_t<T>{0}}; };

template <class T>
consteval wire_shape shape_of() {
  using enum wire_shape;
  if constexpr (has_codec<T>)
    return opaque;
  else if constexpr (std::is_same_v<T, bool>)
    return boolean;
  else if constexpr (std::is_arithmetic_v<T>)
    return base::detail::arithmetic_name<T>().empty() ? none
           : std::is_integral_v<T> && sizeof(T) == 8  ? varying
                                                      : fixed;
  else if constexpr (std::is_enum_v<T>)
    return enum_with_width<T> ? enumeration : none;
  else if constexpr (std::is_array_v<T>)
    return std::extent_v<T> == 0 ? none : array;
  else if constexpr (std::is_class_v<T>)
    return class_shape<T>();
  else
    return none;
}

/// The types inside T that the wire shows.
template <class T, wire_shape Shape = shape_of<T>()>
struct wire_parts {
  using type = base::type_list<>;
};
template <class T>
  requires requires { typename codec<T>::parts; }
struct wire_parts<T, wire_shape::opaque> {
  using type = typename codec<T>::parts;
};
template <class T>
struct wire_parts<T, wire_shape::enumeration> {
  using type = base::type_list<std::underlying_type_t<T>>;
};
template <class T>
struct wire_parts<T, wire_shape::array> {
  using type = base::type_list<typename T::value_type>;
};
template <class T, std::size_t N>
struct wire_parts<T[N], wire_shape::array> {
  using type = base::type_list<T>;
};
template <class T>
  requires requires { typename T::value_type; }
struct wire_parts<T, wire_shape::sequence> {
  using type = base::type_list<typename T::value_type>;
};
template <class T>
struct wire_parts<T, wire_shape::set> {
  using type = base::type_list<typename T::value_type>;
};
template <class T>
struct wire_parts<T, wire_shape::map> {
  using type = base::type_list<typename T::key_type, typename T::mapped_type>;
};
template <template <class...> class C, class... Ts>
struct wire_parts<C<Ts...>, wire_shape::product> {
  using type = base::type_list<Ts...>;
};
template <template <class...> class C, class... Ts>
struct wire_parts<C<Ts...>, wire_shape::variant> {
  using type = base::type_list<Ts...>;
};
template <class T>
struct wire_parts<T, wire_shape::optional> {
  using type = base::type_list<typename T::value_type>;
};
template <class T>
struct wire_parts<T, wire_shape::pointer> {
  using type = base::type_list<std::remove_const_t<typename T::element_type>>;
};
template <class T>
struct wire_parts<T, wire_shape::duration> {
  using type = base::type_list<typename T::rep>;
};
template <class T>
struct wire_parts<T, wire_shape::aggregate> {
  using type = base::detail::declared_types<base::type_list, T>;
};

template <class T>
using parts_of = typename wire_parts<T>::type;

/// Returns the least number of bytes of a T.
template <class T>
consteval std::size_t least_size();

template <class... Ts>
consteval std::size_t least_of(base::type_list<Ts...>) {
  return (std::size_t{0} + ... + least_size<Ts>());
}
template <class T>
inline constexpr std::size_t array_extent = std::tuple_size_v<T>;
template <class T, std::size_t N>
inline constexpr std::size_t array_extent<T[N]> = N;

template <class T>
consteval std::size_t least_size() {
  constexpr wire_shape shape = shape_of<T>();
  if constexpr (shape == wire_shape::fixed)
    return sizeof(T);
  else if constexpr (shape == wire_shape::array)
    return array_extent<T> * least_of(parts_of<T>{});
  else if constexpr (shape == wire_shape::product || shape == wire_shape::duration ||
                     shape == wire_shape::enumeration)
    return least_of(parts_of<T>{});
  else
    return 1;
}

// --- the search for parts that cannot be encoded, as in sendable.hpp ---

template <class T>
consteval auto class_refusal() {
  if constexpr (is_only_meaningful_here<T> ||
                base::detail::standard_name<T>() == "chrono::time_point")
    return std::type_identity<means_nothing_elsewhere>{};
  else if constexpr (std::is_aggregate_v<T> && base::detail::standard_name<T>().empty() &&
                     !base::i_promise_this_owns_everything<T>) {
    if constexpr (base::detail::has_base<T>)
      return std::type_identity<base::has_a_base_class>{};
    else if constexpr (base::detail::count_fields<T>() > 100)
      return std::type_identity<base::has_over_100_fields_or_a_long_c_array>{};
    else if constexpr (base::detail::has_anonymous_union<T>())
      return std::type_identity<base::has_an_anonymous_union>{};
    else if constexpr (!base::inspectable<T>)
      return std::type_identity<base::has_a_bit_field>{};
    else
      return std::type_identity<base::has_a_reference_field>{};
  } else {
    return std::type_identity<needs_a_codec>{};
  }
}

/// Returns the reason why a T without a shape is refused.
template <class T>
consteval auto refusal() {
  if constexpr (std::is_reference_v<T>)
    return std::type_identity<base::is_a_reference>{};
  else if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T> ||
                     std::is_null_pointer_v<T>)
    return std::type_identity<base::is_a_pointer>{};
  else if constexpr (std::is_arithmetic_v<T>)
    return std::type_identity<has_a_width_that_varies>{};
  else if constexpr (std::is_enum_v<T>)
    return std::type_identity<is_an_enum_without_a_width>{};
  else if constexpr (std::is_union_v<T>)
    return std::type_identity<base::is_a_union>{};
  else if constexpr (std::is_class_v<T>)
    return class_refusal<T>();
  else
    return std::type_identity<needs_a_codec>{};
}

/// `Open` are the aggregates around the searched type: an aggregate may contain itself through a
/// container.
template <class T, class... Open>
struct wire_search;

/// True if a T contains no other types. Such a type is examined once, and not again in each
/// aggregate.
template <class T>
inline constexpr bool stands_alone = std::is_scalar_v<T> || std::is_same_v<T, std::string>;

template <class Part, class... Open>
struct wire_search_part : wire_search<Part, Open...> {};
template <class Part, class... Open>
  requires(stands_alone<Part>)
struct wire_search_part<Part, Open...> : wire_search<Part> {};

template <class Part, class... Open>
concept sayable_part =
    std::is_same_v<typename wire_search_part<Part, Open...>::type, base::detail::nothing_found>;

template <std::size_t I, class Parts, class... Open>
struct wire_search_parts {
  using type = base::detail::nothing_found;
};
template <std::size_t I, class Part, class... Rest, class... Open>
  requires(!(sayable_part<Part, Open...> && ... && sayable_part<Rest, Open...>))
struct wire_search_parts<I, base::type_list<Part, Rest...>, Open...> {
  using here = typename wire_search_part<Part, Open...>::type;
  using type =
      typename std::conditional_t<std::is_same_v<here, base::detail::nothing_found>,
                                  wire_search_parts<I + 1, base::type_list<Rest...>, Open...>,
                                  base::detail::one_level_up<here, I>>::type;
};

template <class T>
consteval bool has_countless_elements() {
  constexpr wire_shape shape = shape_of<T>();
  if constexpr (shape == wire_shape::sequence || shape == wire_shape::set ||
                shape == wire_shape::map)
    return least_of(parts_of<T>{}) == 0;
  else
    return false;
}

template <class T, class... Open>
consteval auto search_wire() {
  constexpr wire_shape shape = shape_of<T>();
  using base::detail::found;
  if constexpr (std::is_const_v<T>) {
    return std::type_identity<found<T, is_const>>{};
  } else if constexpr (shape == wire_shape::none) {
    return std::type_identity<found<T, typename decltype(refusal<T>())::type>>{};
  } else if constexpr (!std::is_array_v<T> && !std::is_default_constructible_v<T>) {
    return std::type_identity<found<T, cannot_be_made_by_default>>{};
  } else if constexpr (shape == wire_shape::opaque) {
    return std::type_identity<base::detail::nothing_found>{};
  } else if constexpr (shape == wire_shape::aggregate) {
    return wire_search_parts<0, parts_of<T>, T, Open...>{};
  } else {
    using inside = typename wire_search_parts<0, parts_of<T>, Open...>::type;
    if constexpr (!std::is_same_v<inside, base::detail::nothing_found>)
      return std::type_identity<inside>{};
    else if constexpr (has_countless_elements<T>())
      return std::type_identity<found<T, has_elements_without_a_byte>>{};
    else
      return std::type_identity<inside>{};
  }
}

template <class T, class... Open>
struct wire_search {
  using type = typename decltype(search_wire<T, Open...>())::type;
};
template <class T, class... Open>
  requires(std::is_same_v<T, Open> || ...)
struct wire_search<T, Open...> {
  using type = base::detail::nothing_found;
};

template <class T>
using found_by_wire_search = typename wire_search<T>::type;

template <class T>
inline constexpr bool means_the_same_elsewhere = false;

/// Instantiated only to fail: the compiler prints the path, the type and the reason, and the
/// signature around the type if it is known.
template <auto Path, class Type, class Reason, class... Signature>
struct cannot_be_encoded : base::detail::failed_check {
  static_assert(
      means_the_same_elsewhere<Type>,
      "a message to another process must have a meaning there: "
      "cannot_be_encoded<path, type, reason> names the part that has none. A class that cannot "
      "be looked into needs a codec (net/wire/encodable.hpp)");
};

template <class... In>
std::type_identity<base::detail::passed_check> wire_report_of(base::detail::nothing_found);
template <class... In, class T, class Reason, std::size_t... Path>
std::type_identity<
    cannot_be_encoded<base::detail::path_of<base::detail::in_message, Path...>(), T, Reason, In...>>
    wire_report_of(base::detail::found<T, Reason, Path...>);

/// `wire_report<T>::reported` is an error unless T is encodable. An alias, so that the compiler's
/// backtrace is a step shorter.
template <class T, class... In>
using wire_report = typename decltype(wire_report_of<In...>(found_by_wire_search<T>{}))::type;

}  // namespace detail

/// True if values of T can be encoded, and decoded by another process.
///
///     static_assert(is_encodable<std::map<std::string, std::vector<double>>>);
///     static_assert(!is_encodable<base::instant>);
template <class T>
inline constexpr bool is_encodable =
    std::is_same_v<detail::found_by_wire_search<T>, base::detail::nothing_found>;

/// A type with values that can be encoded, and decoded by another process.
template <class T>
concept encodable = is_encodable<T>;

}  // namespace garrick::net
