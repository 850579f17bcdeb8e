// The fields of aggregates: their number, their types, visits, and the limits of inspection.
#include "garrick/base/types/fields.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

namespace fields_test {

using garrick::base::field_count;
using garrick::base::field_type;
using garrick::base::for_each_field;
using garrick::base::inspectable;

namespace {

struct empty {};
struct one {
  int x;
};
struct point {
  int x, y;
};
struct no_default {
  explicit no_default(int i) : value(i) {}
  int value;
};
struct from_two {
  from_two(int, int) {}
};
struct key {
  char bytes[16];
  long generation;
};
struct one_array {
  short values[3];
};
struct matrix {
  int before;
  double cells[2][3];
  point corners[4];
  std::string names[2];
  int after;
};
struct owner {
  std::unique_ptr<int> p;
  std::optional<std::string> o;
  std::vector<point> v;
  std::variant<int, std::string> w;
};
struct nested {
  point a;
  empty e;
  no_default n;
  from_two f;
  point b[2];
  const int c;
};
struct derived : point {
  int z;
};
struct referring {
  int& r;
  int* p;
};
struct referring_array {
  int& r;
  char a[4];
};
struct uncountable {
  int& r;
  std::unique_ptr<int> p;
};
struct constant_reference {
  int number;
  const std::string& text;
};
struct rvalue_reference {
  std::unique_ptr<int>&& p;
  char a[4];
};
struct function_and_array_references {
  int (&f)(int);
  const int (&a)[3];
};
struct crossed_references {
  int&& a;
  int& b;
};
struct no_references {
  volatile int a;
  const std::string s;
  mutable int m;
  int* const p[2];
};
struct tagged {
  union {
    int i;
    float f;
  };
  char tag[20];
};
struct tagged_inside {
  tagged t;
  int n;
};
struct big {
  char bytes[1000];
};
class closed {
  [[maybe_unused]] int x = 0;
};

}  // namespace

static_assert(field_count<empty> == 0);
static_assert(field_count<one> == 1);
static_assert(field_count<point> == 2);
static_assert(field_count<key> == 2);
static_assert(field_count<one_array> == 1);
static_assert(field_count<matrix> == 5);
static_assert(field_count<owner> == 4);
static_assert(field_count<nested> == 6);
static_assert(field_count<big> == 1);
static_assert(std::is_same_v<field_type<key, 0>, char[16]>);
static_assert(std::is_same_v<field_type<matrix, 1>, double[2][3]>);
static_assert(std::is_same_v<field_type<matrix, 4>, int>);
static_assert(std::is_same_v<field_type<nested, 5>, const int>);
static_assert(std::is_same_v<field_type<owner, 0>, std::unique_ptr<int>>);
static_assert(std::is_same_v<field_type<referring, 1>, int*>);
static_assert(field_count<referring_array> == 2 && field_count<uncountable> == 0);
using garrick::base::has_reference_field;
using garrick::base::is_reference_field;
static_assert(has_reference_field<referring> && is_reference_field<referring, 0> &&
              !is_reference_field<referring, 1>);
static_assert(has_reference_field<uncountable> && !has_reference_field<owner> &&
              !has_reference_field<nested> && !has_reference_field<empty>);
static_assert(is_reference_field<constant_reference, 1> &&
              !is_reference_field<constant_reference, 0>);
static_assert(is_reference_field<rvalue_reference, 0> && !is_reference_field<rvalue_reference, 1>);
static_assert(is_reference_field<function_and_array_references, 0> &&
              has_reference_field<crossed_references> && !has_reference_field<no_references>);
static_assert(is_reference_field<referring_array, 0> && !is_reference_field<referring_array, 1>);
static_assert(!inspectable<tagged> && inspectable<tagged_inside>);
static_assert(inspectable<point> && !inspectable<derived> && !inspectable<closed> &&
              !inspectable<int>);

struct flags {
  unsigned a : 3;
  std::uint8_t b : 5;
  int c;
};
struct quarter_page {
  char text[508];
  int a, b, c, d;
};
struct page {
  char text[4096];
};
static_assert(!inspectable<flags>);
static_assert(inspectable<quarter_page> && field_count<quarter_page> == 5);
static_assert(!inspectable<page>);

TEST_CASE("fields are visited in order and by reference") {
  point p{1, 2};
  int sum = 0;
  for_each_field(p, [&](int& f) {
    f *= 10;
    sum = sum * 100 + f;
  });
  CHECK(sum == 1020);
  CHECK(p.y == 20);
  int visits = 0;
  const empty nothing{};
  for_each_field(nothing, [&](const auto&) { ++visits; });
  CHECK(visits == 0);
}

TEST_CASE("array fields are one field") {
  const key k{{'a', 'b'}, 7};
  std::size_t bytes = 0;
  for_each_field(k, [&](const auto& f) { bytes += sizeof(f); });
  CHECK(bytes == 16 + sizeof(long));
}

}  // namespace fields_test
