// Does an aggregate have bit-fields? Nothing can refer to a bit-field, so Boost.PFR, which makes
// references to all fields, would fail with an error deep inside. So we ask first.
//
// A structured binding needs as many names in the source as there are fields. So there is a
// function for each number of fields, as in PFR, up to PFR's limit of 100.
//
// Thread safety: compile time only.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace garrick::base::detail {

template <class... Fields>
void refer_to(Fields&...);

#define GARRICK_NAMES(p) p##0, p##1, p##2, p##3, p##4, p##5, p##6, p##7, p##8, p##9
#define GARRICK_ASK(count, ...)                                                  \
  template <class T>                                                             \
  auto can_refer_to_fields(T& x, std::integral_constant<std::size_t, (count)>) { \
    auto& [__VA_ARGS__] = x;                                                     \
    return std::bool_constant<requires { refer_to(__VA_ARGS__); }>{};            \
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

/// Whether T has a bit-field. Requires that T is an aggregate with `Count` fields. Above 100 fields
/// the answer is false, unchecked.
template <class T, std::size_t Count>
consteval bool has_bit_field() {
  if constexpr (Count == 0 || Count > 100)
    return false;
  else
    return !decltype(can_refer_to_fields(std::declval<T&>(),
                                         std::integral_constant<std::size_t, Count>{}))::value;
}

}  // namespace garrick::base::detail
