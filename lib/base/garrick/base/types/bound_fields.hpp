// What the fields of an aggregate are bound to, which tells two things that nothing else does.
//
// Nothing can refer to a bit-field, so Boost.PFR, which makes references to all fields, would fail
// with an error deep inside. So we ask first.
//
// And what a reference refers to is not part of the object: it does not become volatile with it. So
// a field is a reference if it has the same type in a volatile object as in a plain one.
//
// A structured binding needs as many names in the source as there are fields. So there is a
// function for each number of fields, as in PFR, up to PFR's limit of 100.
//
// Thread safety: compile time only.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace garrick::base::detail {

/// The types that names are bound to.
template <class... Fields>
struct bound_fields {
  static constexpr bool all = true;
};
/// One of them is a bit-field.
struct none_bound {
  static constexpr bool all = false;
};

template <class... Fields>
bound_fields<Fields...> refer_to(Fields&...);

#define GARRICK_NAMES(p) p##0, p##1, p##2, p##3, p##4, p##5, p##6, p##7, p##8, p##9
#define GARRICK_ASK(count, ...)                                          \
  template <class T>                                                     \
  auto bind_fields(T& x, std::integral_constant<std::size_t, (count)>) { \
    auto& [__VA_ARGS__] = x;                                             \
    if constexpr (requires { refer_to(__VA_ARGS__); })                   \
      return decltype(refer_to(__VA_ARGS__)){};                          \
    else                                                                 \
      return none_bound{};                                               \
  }
#define GARRICK_ASK_TEN(tens, before, p)                                                  \
  GARRICK_ASK(tens * 10 + 1, before p##0)                                                 \
  GARRICK_ASK(tens * 10 + 2, before p##0, p##1)                                           \
  GARRICK_ASK(tens * 10 + 3, before p##0, p##1, p##2)                                     \
  GARRICK_ASK(tens * 10 + 4, before p##0, p##1, p##2, p##3)                               \
  GARRICK_ASK(tens * 10 + 5, before p##0, p##1, p##2, p##3, p##4)                         \
  GARRICK_ASK(tens * 10 + 6, before p##0, p##1, p##2, p##3, p##4, p##5)                   \
  GARRICK_ASK(tens * 10 + 7, before p##0, p##1, p##2, p##3, p##4, p##5, p##6)             \
  GARRICK_ASK(tens * 10 + 8, before p##0, p##1, p##2, p##3, p##4, p##5, p##6, p##7)       \
  GARRICK_ASK(tens * 10 + 9, before p##0, p##1, p##2, p##3, p##4, p##5, p##6, p##7, p##8) \
  GARRICK_ASK(tens * 10 + 10, before GARRICK_NAMES(p))

#define GARRICK_NONE
#define GARRICK_A GARRICK_NAMES(a),
#define GARRICK_B GARRICK_A GARRICK_NAMES(b),
#define GARRICK_C GARRICK_B GARRICK_NAMES(c),
#define GARRICK_D GARRICK_C GARRICK_NAMES(d),
#define GARRICK_E GARRICK_D GARRICK_NAMES(e),
#define GARRICK_F GARRICK_E GARRICK_NAMES(f),
#define GARRICK_G GARRICK_F GARRICK_NAMES(g),
#define GARRICK_H GARRICK_G GARRICK_NAMES(h),
#define GARRICK_I GARRICK_H GARRICK_NAMES(i),

GARRICK_ASK_TEN(0, GARRICK_NONE, a)
GARRICK_ASK_TEN(1, GARRICK_A, b)
GARRICK_ASK_TEN(2, GARRICK_B, c)
GARRICK_ASK_TEN(3, GARRICK_C, d)
GARRICK_ASK_TEN(4, GARRICK_D, e)
GARRICK_ASK_TEN(5, GARRICK_E, f)
GARRICK_ASK_TEN(6, GARRICK_F, g)
GARRICK_ASK_TEN(7, GARRICK_G, h)
GARRICK_ASK_TEN(8, GARRICK_H, i)
GARRICK_ASK_TEN(9, GARRICK_I, j)

#undef GARRICK_NAMES
#undef GARRICK_ASK
#undef GARRICK_ASK_TEN
#undef GARRICK_NONE
#undef GARRICK_A
#undef GARRICK_B
#undef GARRICK_C
#undef GARRICK_D
#undef GARRICK_E
#undef GARRICK_F
#undef GARRICK_G
#undef GARRICK_H
#undef GARRICK_I

template <class T, std::size_t Count>
using bound =
    decltype(bind_fields(std::declval<T&>(), std::integral_constant<std::size_t, Count>{}));

/// Whether T has a bit-field. Requires that T is an aggregate with `Count` fields, none of them an
/// anonymous union. Above 100 fields the answer is false, unchecked.
template <class T, std::size_t Count>
consteval bool has_bit_field() {
  if constexpr (Count == 0 || Count > 100)
    return false;
  else
    return !bound<T, Count>::all;
}

/// Whether each field is a reference. `Const` is asked, too, since a field may be volatile by
/// itself.
template <class... Plain, class... Volatile, class... Const>
consteval auto same_in_all(bound_fields<Plain...>, bound_fields<Volatile...>,
                           bound_fields<Const...>) {
  return std::array<bool, sizeof...(Plain)>{
      (std::is_same_v<Plain, Volatile> && std::is_same_v<Plain, Const>)...};
}

/// Whether each of the fields of T is a reference. Requires that T is an aggregate with `Count`
/// fields, at least one and at most 100, without bit-fields and anonymous unions.
template <class T, std::size_t Count>
inline constexpr auto reference_fields =
    same_in_all(bound<T, Count>{}, bound<volatile T, Count>{}, bound<const volatile T, Count>{});

}  // namespace garrick::base::detail
