// The declared types of an aggregate's fields, and visits of all fields.
//
// Problem: no reference can bind to a bit-field, so a visit of all fields would fail with an error
// deep inside. So the fields are bound first, and a binding tells whether one of them is a
// bit-field. `decltype` of a name that is bound to a field is the field's declared type: it tells
// references from values.
//
// A structured binding needs as many names in the source as there are fields. So there is a
// function for each number of fields, up to 100.
//
// Thread safety: compile time only.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace garrick::base::detail {

/// The declared types of an aggregate's fields.
template <class... Fields>
struct bound_fields {
  static constexpr bool all = true;
};
/// Represents fields that cannot be bound, because one of them is a bit-field.
struct none_bound {
  static constexpr bool all = false;
};

template <class... Fields>
void refer_to(Fields&...);

/// Calls f with each of the fields.
template <class F, class... Fields>
constexpr void call_for_each(F& f, Fields&... fields) {
  (static_cast<void>(f(fields)), ...);
}

template <std::size_t Count>
struct field_number {};

#define GARRICK_NAMES(p) p##0, p##1, p##2, p##3, p##4, p##5, p##6, p##7, p##8, p##9
#define GARRICK_TYPES_3(p) decltype(p##0), decltype(p##1), decltype(p##2)
#define GARRICK_TYPES_6(p) GARRICK_TYPES_3(p), decltype(p##3), decltype(p##4), decltype(p##5)
#define GARRICK_TYPES_9(p) GARRICK_TYPES_6(p), decltype(p##6), decltype(p##7), decltype(p##8)
#define GARRICK_TYPES(p) GARRICK_TYPES_9(p), decltype(p##9)
#define GARRICK_AS_THEY_ARE(...) __VA_ARGS__
#define GARRICK_ASK(count, types, ...)                             \
  template <class T>                                               \
  auto bind_fields(T& x, field_number<(count)>) {                  \
    auto& [__VA_ARGS__] = x;                                       \
    if constexpr (requires { refer_to(__VA_ARGS__); })             \
      return bound_fields<GARRICK_AS_THEY_ARE types>{};            \
    else                                                           \
      return none_bound{};                                         \
  }                                                                \
  template <class T, class F>                                      \
  constexpr void visit_fields(T& x, F& f, field_number<(count)>) { \
    auto& [__VA_ARGS__] = x;                                       \
    call_for_each(f, __VA_ARGS__);                                 \
  }
#define GARRICK_ASK_TEN(tens, names, types, p)                                                     \
  GARRICK_ASK(tens * 10 + 1, (types decltype(p##0)), names p##0)                                   \
  GARRICK_ASK(tens * 10 + 2, (types decltype(p##0), decltype(p##1)), names p##0, p##1)             \
  GARRICK_ASK(tens * 10 + 3, (types GARRICK_TYPES_3(p)), names p##0, p##1, p##2)                   \
  GARRICK_ASK(tens * 10 + 4, (types GARRICK_TYPES_3(p), decltype(p##3)), names p##0, p##1, p##2,   \
              p##3)                                                                                \
  GARRICK_ASK(tens * 10 + 5, (types GARRICK_TYPES_3(p), decltype(p##3), decltype(p##4)),           \
              names p##0, p##1, p##2, p##3, p##4)                                                  \
  GARRICK_ASK(tens * 10 + 6, (types GARRICK_TYPES_6(p)), names p##0, p##1, p##2, p##3, p##4, p##5) \
  GARRICK_ASK(tens * 10 + 7, (types GARRICK_TYPES_6(p), decltype(p##6)), names p##0, p##1, p##2,   \
              p##3, p##4, p##5, p##6)                                                              \
  GARRICK_ASK(tens * 10 + 8, (types GARRICK_TYPES_6(p), decltype(p##6), decltype(p##7)),           \
              names p##0, p##1, p##2, p##3, p##4, p##5, p##6, p##7)                                \
  GARRICK_ASK(tens * 10 + 9, (types GARRICK_TYPES_9(p)), names p##0, p##1, p##2, p##3, p##4, p##5, \
              p##6, p##7, p##8)                                                                    \
  GARRICK_ASK(tens * 10 + 10, (types GARRICK_TYPES(p)), names GARRICK_NAMES(p))

#define GARRICK_NONE
#define GARRICK_A GARRICK_NAMES(a),
#define GARRICK_A_TYPES GARRICK_TYPES(a),
#define GARRICK_B GARRICK_A GARRICK_NAMES(b),
#define GARRICK_B_TYPES GARRICK_A_TYPES GARRICK_TYPES(b),
#define GARRICK_C GARRICK_B GARRICK_NAMES(c),
#define GARRICK_C_TYPES GARRICK_B_TYPES GARRICK_TYPES(c),
#define GARRICK_D GARRICK_C GARRICK_NAMES(d),
#define GARRICK_D_TYPES GARRICK_C_TYPES GARRICK_TYPES(d),
#define GARRICK_E GARRICK_D GARRICK_NAMES(e),
#define GARRICK_E_TYPES GARRICK_D_TYPES GARRICK_TYPES(e),
#define GARRICK_F GARRICK_E GARRICK_NAMES(f),
#define GARRICK_F_TYPES GARRICK_E_TYPES GARRICK_TYPES(f),
#define GARRICK_G GARRICK_F GARRICK_NAMES(g),
#define GARRICK_G_TYPES GARRICK_F_TYPES GARRICK_TYPES(g),
#define GARRICK_H GARRICK_G GARRICK_NAMES(h),
#define GARRICK_H_TYPES GARRICK_G_TYPES GARRICK_TYPES(h),
#define GARRICK_I GARRICK_H GARRICK_NAMES(i),
#define GARRICK_I_TYPES GARRICK_H_TYPES GARRICK_TYPES(i),

GARRICK_ASK_TEN(0, GARRICK_NONE, GARRICK_NONE, a)
GARRICK_ASK_TEN(1, GARRICK_A, GARRICK_A_TYPES, b)
GARRICK_ASK_TEN(2, GARRICK_B, GARRICK_B_TYPES, c)
GARRICK_ASK_TEN(3, GARRICK_C, GARRICK_C_TYPES, d)
GARRICK_ASK_TEN(4, GARRICK_D, GARRICK_D_TYPES, e)
GARRICK_ASK_TEN(5, GARRICK_E, GARRICK_E_TYPES, f)
GARRICK_ASK_TEN(6, GARRICK_F, GARRICK_F_TYPES, g)
GARRICK_ASK_TEN(7, GARRICK_G, GARRICK_G_TYPES, h)
GARRICK_ASK_TEN(8, GARRICK_H, GARRICK_H_TYPES, i)
GARRICK_ASK_TEN(9, GARRICK_I, GARRICK_I_TYPES, j)

#undef GARRICK_NAMES
#undef GARRICK_TYPES_3
#undef GARRICK_TYPES_6
#undef GARRICK_TYPES_9
#undef GARRICK_TYPES
#undef GARRICK_AS_THEY_ARE
#undef GARRICK_ASK
#undef GARRICK_ASK_TEN
#undef GARRICK_NONE
#undef GARRICK_A
#undef GARRICK_A_TYPES
#undef GARRICK_B
#undef GARRICK_B_TYPES
#undef GARRICK_C
#undef GARRICK_C_TYPES
#undef GARRICK_D
#undef GARRICK_D_TYPES
#undef GARRICK_E
#undef GARRICK_E_TYPES
#undef GARRICK_F
#undef GARRICK_F_TYPES
#undef GARRICK_G
#undef GARRICK_G_TYPES
#undef GARRICK_H
#undef GARRICK_H_TYPES
#undef GARRICK_I
#undef GARRICK_I_TYPES

template <class T>
bound_fields<> bind_fields(T&, field_number<0>);

template <class T, std::size_t Count>
using bound = decltype(bind_fields(std::declval<T&>(), field_number<Count>{}));

/// Returns true if T has a bit-field. Requires that T is an aggregate with `Count` fields, none of
/// them an anonymous union. Returns false, without a check, if there are more than 100 fields.
template <class T, std::size_t Count>
consteval bool has_bit_field() {
  if constexpr (Count == 0 || Count > 100)
    return false;
  else
    return !bound<T, Count>::all;
}

}  // namespace garrick::base::detail
